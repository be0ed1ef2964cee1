// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bind(loop, axis): the iterations are the blocks of a grid or the threads of a block (gpu::block_x, gpu::thread_x, ...).
//
// Legality: DISJOINT, as for parallel; blocks stand outside of threads, and nothing but blocks outside of a block. What the
// launch needs as a whole (one shape, the device's limits) is checked when the schedule is complete, at the line of this call.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_bind(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  ThreadAxis axis;
  if (!ir::parse(c.word(1).c_str(), axis)) throw InternalError("an axis of a launch that is none: " + c.word(1));
  require_serial(c, loop, true);  // threads of a reduction may be these
  if (!c.target.is_gpu())
    c.refuse("a target with blocks and threads, such as vulkan (parallel spreads over the cores of a processor)",
             std::string(c.target.text()));
  // rewrite; handles stay
  loop.loop_kind = ir::LoopKind::bound;
  loop.bound_to = axis;
  loop.where = c.step.where;
  // prove
  prove_bound(c, loop);
}

}  // namespace

extern constexpr Primitive bind_primitive{
    .name = "bind",
    .spelling = "bind",
    .parameters =
        {takes::loop(),
         takes::word("axis", "block_x block_y block_z cluster_x thread_x thread_y thread_z warp lane threads").as("gpu::")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_bind,
    .cpp = of_loop,
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::bind(Loop l, ThreadAxis a, Where w) const {
  return done(schedule::bind_primitive, {own(l, schedule::bind_primitive, w), Arg::text(ir::text(a))}, w);
}

}  // namespace ashlar
