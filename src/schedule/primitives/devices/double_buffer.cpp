// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// double_buffer(stage): a pipeline of two stages around the loop at which the stage is computed, with the stage among its
// loads.
//
//   for ko                         A[0] = tile 0
//     A = tile ko          ->      for ko
//     acc += A ...                   barrier
//                                    if ko + 1 < K: A[(ko + 1) % 2] = tile ko + 1
//                                    acc += A[ko % 2] ...
//
// Several stages of one loop share its pipeline: each call adds one load. Legality: as pipeline's; a pipeline that has more
// stages, or copies asynchronously, takes its loads itself.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/devices/pipeline.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_double_buffer(Context& c) {
  // match
  const ir::Stage& stage = c.stage(0);
  if (!c.target.is_gpu())
    c.refuse("a target with shared memory, such as vulkan (prefetch asks for what a processor reads later)",
             std::string(c.target.text()));
  const Stmt& nest = only_nest(c, stage);
  Stmt* loop = nullptr;
  for (const Stmt* s : ir::path_to(c.p, nest.id))
    if (s->id != nest.id) loop = s->is<LoopStmt>() ? ir::find(c.p, s->id) : nullptr;
  if (!loop) c.refuse("a stage that is computed at a loop (compute_at)", stage.name + ", which is computed elsewhere");
  std::optional<ir::Pipeline>& pipeline = loop->get<LoopStmt>().pipeline;
  if (!pipeline) {
    require_serial(c, *loop), require_whole(c, *loop);
    pipeline = ir::Pipeline{.stages = 2, .where = c.step.where};
  }
  ir::Pipeline& p = *pipeline;
  if (p.stages != 2 || p.async_copy) {
    c.refuse("a loop without another pipeline (name " + stage.name + " among its loads)",
             name_of(c.p, *loop) + ", pipelined at " + location(p.where));
  }
  if (std::find(p.loads.begin(), p.loads.end(), stage.id) != p.loads.end()) c.refuse("each load once", stage.name + " twice");
  // rewrite; handles stay
  p.loads.push_back(stage.id);
  // prove
  prove_pipeline(c, *loop);
}

bool draw_double_buffer(Draw& d) {
  const auto load = draw_load(d);
  return load && d.step("double_buffer", {Arg::stage(load->stage)});
}

}  // namespace

extern constexpr Primitive double_buffer_primitive{
    .name = "double_buffer",
    .spelling = "double_buffer",
    .parameters = {takes::stage()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_double_buffer,
    .cpp = of_stage,
    .draw = Drawing{.in_launches = 1, .draw = draw_double_buffer},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::double_buffer(Where w) const { return done(schedule::double_buffer_primitive, {Arg::stage(id_)}, w); }

}  // namespace ashlar
