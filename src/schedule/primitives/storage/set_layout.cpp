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
#include "schedule/calls.h"
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

namespace {

void apply_set_layout(Context& c) {
  const ir::Stage& stage = c.stage(0);
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) set_map(c, storage_of(c, stage, k), c.arg(1));
}

bool draw_set_layout(Draw& d) {
  const Id stage = d.temporary();
  const int rank = d.p.stage(stage).spatial_rank();
  return rank > 0 && d.step("set_layout", {Arg::stage(stage), d.layout(rank)});
}

}  // namespace

extern constexpr Primitive set_layout_primitive{
    .name = "set_layout",
    .spelling = "transform_layout",
    .parameters = {takes::stage(), takes::map()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::kept, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_set_layout,
    .cpp = of_stage,
    .draw = Drawing{.often = 1, .draw = draw_set_layout},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::set_layout_(const std::vector<Expr>& vars, const std::vector<Expr>& map, Where w) const {
  return done(schedule::set_layout_primitive, {Arg::stage(id_), schedule::index_map(vars, map)}, w);
}
Stage Stage::pad(int dim, Factor by, Where w) const {
  const ir::Program& p = state_->scheduled.program;
  const ir::Stage& stage = detail::current_stage(*state_, id_, "pad", w);
  if (dim < 1 || dim >= stage.spatial_rank())
    refuse("pad", "a dimension of " + stage.name + " with one outside of it, 1 to " + std::to_string(stage.spatial_rank() - 1),
           std::to_string(dim), w);
  if (by.value() < 1) refuse("pad", "at least 1 element", std::to_string(by.value()), w);
  const ir::Stmt* alloc = ir::alloc_of(p, stage.buffers.front());
  if (!alloc) refuse("pad", "a stage with storage of its own (cache_write gives an output one)", stage.name, w);
  const Expr extent = analysis::storage_extents(p, alloc->id).at(static_cast<std::size_t>(dim));
  std::int64_t row = 0;
  if (extent.empty() || !ir::is_int(extent, &row))
    refuse("pad", "a constant extent of dimension " + std::to_string(dim) + " of " + stage.name,
           extent.empty() ? "one without bound" : ir::text(extent), w);
  std::vector<Expr> vars, map;
  for (int d = 0; d < stage.spatial_rank(); ++d) {
    vars.push_back(ir::var(static_cast<ir::Id>(d) + 1, "d" + std::to_string(d)));
    if (d == dim)
      map.back() = ir::add(ir::mul(map.back(), ir::index(row + by.value())), vars.back());
    else
      map.push_back(vars.back());
  }
  detail::Transaction transaction(*state_, "pad");
  set_layout_(vars, map, w);
  transaction.keep();
  return *this;
}

}  // namespace ashlar
