// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// align(stage, dim, n): the extent of a stored dimension is rounded up to a multiple of n.
#include "schedule/primitives/storage/storage.h"

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_align(Context& c) {
  const ir::Stage& stage = c.stage(0);
  const std::int64_t dim = c.integer(1), to = c.integer(2);
  if (to < 1) c.refuse("a multiple of at least 1", std::to_string(to));
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    ir::Buffer& b = storage_of(c, stage, k);
    const std::int64_t rank = b.layout.map.empty() ? b.rank : static_cast<std::int64_t>(b.layout.map.size());
    if (dim < 0 || dim >= rank)
      c.refuse("a stored dimension of " + b.name + " below " + std::to_string(rank), std::to_string(dim));
    if (b.layout.align_dim >= 0 && b.layout.align_dim != dim)
      c.refuse("one aligned dimension of " + b.name,
               "dimension " + std::to_string(dim) + " beside dimension " + std::to_string(b.layout.align_dim));
    b.layout.align_dim = dim;
    b.layout.pad_to = to;
    b.where = c.step.where;
  }
}

bool draw_align(Draw& d) {
  const Id stage = d.temporary();
  const int rank = d.p.stage(stage).spatial_rank();
  if (rank == 0) return false;
  const Arg dim = Arg::integer(d.pick(static_cast<std::uint32_t>(rank)));
  return d.step("align", {Arg::stage(stage), dim, Arg::integer(d.factor())});
}

}  // namespace

extern constexpr Primitive align_primitive{
    .name = "align",
    .spelling = "align",
    .parameters = {takes::stage(), takes::number("dim"), takes::number("multiple")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::kept, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_align,
    .cpp = of_stage,
    .draw = Drawing{.often = 1, .draw = draw_align},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::align(int dim, Factor to, Where w) const {
  return done(schedule::align_primitive, {Arg::stage(id_), Arg::integer(dim), Arg::integer(to.value())}, w);
}

}  // namespace ashlar
