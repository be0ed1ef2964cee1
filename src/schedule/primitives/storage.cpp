// set_layout(stage, map), align(stage, dim, n), set_scope(stage, scope), pack_argument(input, map): how and where the
// storage of a tensor lies. Bodies keep their logical indices; addresses follow when the program is lowered.
//
//   set_layout(B_cache, (k, n) -> (n / 16, k, n % 16))      panels of 16 columns
#include <algorithm>

#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {
namespace {

ir::Buffer& storage_of(Context& c, const ir::Stage& stage, std::size_t k) {
  ir::Buffer& b = c.p.buffers.at(stage.buffers.at(k));
  if (b.role != ir::Role::temporary) c.refuse("a stage with storage of its own (cache_write gives an output one)", stage.name + ", an output");
  return b;
}

void set_map(Context& c, ir::Buffer& b, const Arg& map) {
  if (map.kind != Arg::Kind::exprs || map.vars.size() != static_cast<std::size_t>(b.rank))
    c.refuse("an index map of " + std::to_string(b.rank) + " variables for " + b.name, std::to_string(map.vars.size()));
  if (!b.layout.map.empty()) c.refuse("a tensor whose layout was not set yet", b.name);
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
    for (Id v : ir::free_vars(exprs.back()))
      if (std::find(vars.begin(), vars.end(), v) == vars.end()) c.refuse("a map over its own variables alone", ir::text(exprs.back()));
  }
  prove_bijective(c, b, vars, exprs);
  b.layout.vars = std::move(vars);
  b.layout.map = std::move(exprs);
  b.where = c.step.where;
}

}  // namespace

void apply_set_layout(Context& c) {
  const ir::Stage& stage = c.stage(0);
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) set_map(c, storage_of(c, stage, k), c.arg(1));
}

void apply_pack_argument(Context& c) {
  const Arg& a = c.arg(0);
  if (a.kind != Arg::Kind::buffer || !c.p.buffers.count(a.id)) c.refuse("an input of this program", "another tensor");
  ir::Buffer& b = c.p.buffers.at(a.id);
  if (b.role != ir::Role::input) c.refuse("an input", b.name);
  set_map(c, b, c.arg(1));
  b.packed_by_caller = true;
}

void apply_align(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const std::int64_t dim = c.integer(1), to = c.integer(2);
  if (to < 1) c.refuse("a multiple of at least 1", std::to_string(to));
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    ir::Buffer& b = storage_of(c, stage, k);
    const std::int64_t rank = b.layout.map.empty() ? b.rank : static_cast<std::int64_t>(b.layout.map.size());
    if (dim < 0 || dim >= rank) c.refuse("a stored dimension of " + b.name + " below " + std::to_string(rank), std::to_string(dim));
    b.layout.align_dim = dim;
    b.layout.pad_to = to;
    b.where = c.step.where;
  }
}

void apply_set_scope(Context& c) {
  const ir::Stage& stage = c.stage(0);
  c.word(1);
  const Scope scope = c.arg(1).scope;
  for (const Scope& s : {Scope::shared, Scope::fragment, Scope::tile})
    if (scope == s) c.refuse("a scope of this target: global, stack or registers", s.name);
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    ir::Buffer& b = storage_of(c, stage, k);
    b.scope = scope;
    b.where = c.step.where;
  }
}

}  // namespace ashlar::schedule
