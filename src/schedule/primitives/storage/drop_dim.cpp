// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// drop_dim(stage, component, dim): the storage of a component has no dimension `dim`, along which its value is the same.
//
//   (m, l, o)[i, c] = online over b of ...      drop_dim(0, 1), drop_dim(1, 1): m and l are stored for each i alone
//
// Legality: the value, its init and its part of the combiner do not use the dimension; and each step of the reduction reads
// what the step before stored, whatever loops run over the dimension (prove_dropped; analysis/dropped.h says how it is run).
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"
#include "schedule/primitives/storage/storage.h"

namespace ashlar::schedule {

namespace {

void apply_drop_dim(Context& c) {
  const ir::Stage& stage = c.stage(0);
  require_no_recurrence(c, stage, "");
  const std::int64_t component = c.integer(1), dim = c.integer(2);
  if (component < 0 || component >= static_cast<std::int64_t>(stage.buffers.size()))
    c.refuse("a component of " + stage.name + " below " + std::to_string(stage.buffers.size()), std::to_string(component));
  if (dim < 0 || dim >= stage.spatial_rank())
    c.refuse("a dimension of " + stage.name + " below " + std::to_string(stage.spatial_rank()), std::to_string(dim));
  if (stage.scatters()) c.refuse("a stage whose points do not depend on data", stage.name + ", a scatter");
  ir::Buffer& b = storage_of(c, stage, static_cast<std::size_t>(component));
  ir::Layout& l = b.layout;
  if (std::find(l.dropped.begin(), l.dropped.end(), dim) != l.dropped.end())
    c.refuse("a dimension that " + b.name + " has", std::to_string(dim) + ", which was dropped");
  if (l.dropped.empty() && !l.map.empty()) c.refuse("a tensor whose layout was not set yet (move this call before it)", b.name);
  if (l.align_dim >= 0) c.refuse("a tensor that was not aligned yet (move this call before it)", b.name);
  l.dropped.push_back(static_cast<int>(dim));
  l.map.clear();
  const bool named = !l.vars.empty();
  for (int d = 0; d < b.rank; ++d) {
    if (!named) l.vars.push_back(c.p.fresh());
    if (std::find(l.dropped.begin(), l.dropped.end(), d) == l.dropped.end())
      l.map.push_back(ir::var(l.vars[static_cast<std::size_t>(d)], "d" + std::to_string(d)));
  }
  if (l.map.empty()) l.map.push_back(ir::index(0));  // a single element
  b.where = c.step.where;
}

bool draw_drop_dim(Draw& d) {
  std::vector<Id> tuples;
  for (const Id id : d.stages()) {
    const ir::Stage& s = d.p.stage(id);
    const bool stored = d.p.buffer(s.buffers.front()).role == ir::Role::temporary;
    if (stored && s.buffers.size() > 1 && s.spatial_rank() > 0) tuples.push_back(id);
  }
  if (tuples.empty() && !d.one_in(12)) return false;
  const ir::Stage& stage = d.p.stage(tuples.empty() ? d.stage() : d.any(tuples));
  const int rank = stage.spatial_rank();
  const std::int64_t component = d.pick(4) < 3 ? 0 : d.pick(static_cast<std::uint32_t>(stage.buffers.size()));
  const std::int64_t dim = rank > 0 && d.pick(4) < 3 ? rank - 1 : d.pick(static_cast<std::uint32_t>(std::max(rank, 1)));
  return d.step("drop_dim", {Arg::stage(stage.id), Arg::integer(component), Arg::integer(dim)});
}

}  // namespace

extern constexpr Primitive drop_dim_primitive{
    .name = "drop_dim",
    .spelling = "drop_dim",
    .parameters = {takes::stage(), takes::number("component"), takes::number("dim")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::kept, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_drop_dim,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .draw = draw_drop_dim},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::drop_dim(int component, int dim, Where w) const {
  return done(schedule::drop_dim_primitive, {Arg::stage(id_), Arg::integer(component), Arg::integer(dim)}, w);
}

}  // namespace ashlar
