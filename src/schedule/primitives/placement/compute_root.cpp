// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute_root(stage): the stage is computed outside of all loops again, each point once.
//
//   for io in M / 32                 alloc P
//     alloc P                ->      nest P
//     nest P                         for io in M / 32
//     ... block C                      ... block C
#include "schedule/primitives/placement/placement.h"

#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_compute_root(Context& c) {
  const ir::Stage& stage = c.stage(0);
  movable(c, stage);
  move_into(c, stage, 0);
}

}  // namespace

extern constexpr Primitive compute_root_primitive{
    .name = "compute_root",
    .spelling = "compute_root",
    .parameters = {takes::stage()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_compute_root,
    .cpp = of_stage,
    .draw = Drawing{.often = 1, .draw = [](Draw& d) { return d.step("compute_root", {Arg::stage(d.temporary())}); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::compute_root(Where w) const { return done(schedule::compute_root_primitive, {Arg::stage(id_)}, w); }

}  // namespace ashlar
