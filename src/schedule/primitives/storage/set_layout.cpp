// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// set_layout(stage, map): the storage of a stage lies by an index map. Bodies keep their logical indices; addresses follow when
// the program is lowered.
//
//   set_layout(B_cache, (k, n) -> (n / 16, k, n % 16))      panels of 16 columns
//
// Legality: BIJECT, different elements lie at different places.
#include "schedule/primitives/storage/storage.h"

#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

ir::Buffer& storage_of(Context& c, const ir::Stage& stage, std::size_t k) {
  ir::Buffer& b = c.p.buffers.at(stage.buffers.at(k));
  if (b.role != ir::Role::temporary)
    c.refuse("a stage with storage of its own (cache_write gives an output one)", stage.name + ", an output");
  return b;
}

void set_map(Context& c, ir::Buffer& b, const Arg& map) {
  if (map.kind != Arg::Kind::exprs || map.vars.size() != static_cast<std::size_t>(b.rank))
    c.refuse("an index map of " + std::to_string(b.rank) + " variables for " + b.name, std::to_string(map.vars.size()));
  if (!b.layout.map.empty()) c.refuse("a tensor whose layout was not set yet", b.name);
  if (b.layout.align_dim >= 0)
    c.refuse("a tensor that was not aligned yet (align counts stored dimensions: move this call before it)", b.name);
  std::vector<Id> vars;
  ir::Substitution own;
  for (int d = 0; d < b.rank; ++d) {
    vars.push_back(c.p.fresh());
    own.emplace_back(map.vars[static_cast<std::size_t>(d)], ir::var(vars.back(), "d" + std::to_string(d)));
  }
  std::vector<Expr> exprs;
  for (const Expr& e : map.exprs) {
    if (!e.type().is_index()) c.refuse("index expressions in the map", ir::text(e) + " of type " + ir::text(e.type()));
    exprs.push_back(ir::substitute(e, own));
    if (analysis::depends_on_data(e)) c.refuse("a map over its own variables alone", ir::text(exprs.back()));
    for (Id v : ir::free_vars(exprs.back()))
      if (std::find(vars.begin(), vars.end(), v) == vars.end())
        c.refuse("a map over its own variables alone", ir::text(exprs.back()));
  }
  prove_bijective(c, b, vars, exprs);
  b.layout.vars = std::move(vars);
  b.layout.map = std::move(exprs);
  b.where = c.step.where;
}

void apply_set_layout(Context& c) {
  const ir::Stage& stage = c.stage(0);
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) set_map(c, storage_of(c, stage, k), c.arg(1));
}

}  // namespace ashlar::schedule
