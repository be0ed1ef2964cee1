// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline(loop, {stages, loads, async_copy}): what the loads compute for an iteration of the loop is computed stages - 1
// iterations earlier, into a ring of as many buffers.
//
//   for ko                         A[0] = tile 0                                     first: stages - 1 tiles
//     A = tile ko          ->      for ko
//     barrier                        barrier
//     acc += A ...                   if ko + 1 < K: A[(ko + 1) % 2] = tile ko + 1
//     barrier                        acc += A[ko % 2] ...
//
// Legality: ORDER: the loads read nothing that is computed inside the loop, and lie in shared memory inside it; CAPACITY when
// the schedule is complete: the ring fits. With async_copy (1) the loads copy, in pieces that the device's asynchronous copy
// has; with any_alignment (2) a call whose rows do not begin at multiples of the pieces takes ordinary copies.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/devices/pipeline.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

// In a launch, a stage that is computed right inside a loop, in shared memory; or one that is put there first.
std::optional<Load> draw_load(Draw& d) {
  const auto serial = [](const Stmt& l) { return l.get<LoopStmt>().kind == ir::LoopKind::serial; };
  const auto launch = draw_root(d);
  if (!launch) return {};
  std::vector<Load> loads;
  for (const Stmt* l : launch->loops)
    for (const Stmt& inner : l->body())
      if (const NestStmt* nest = inner.as<NestStmt>(); nest && serial(*l))
        if (const ir::Stage& stage = d.p.stage(nest->stage); d.p.buffer(stage.buffers.front()).scope == Scope::shared)
          loads.push_back({l->id, stage.id, {}});
  if (loads.empty() || d.one_in(2)) {
    const Stmt* l = launch->loop_where(d, serial);
    const std::vector<Id> stages = stored_stages(d.p);
    if (!l || stages.empty()) return {};
    const Id stage = d.any(stages);
    d.step("compute_at", {Arg::stage(stage), Arg::loop(l->id)});
    d.step("set_scope", {Arg::stage(stage), Arg::place(Scope::shared)});
    return Load{l->id, stage, {}};
  }
  Load load = d.any(loads);
  for (const Load& other : loads)
    if (other.loop == load.loop && other.stage != load.stage) load.others.push_back(other.stage);
  return load;
}

namespace {

void apply_pipeline(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop), require_whole(c, loop);
  if (!c.target.is_gpu())
    c.refuse("a target with shared memory, such as vulkan (prefetch asks for what a processor reads later)",
             std::string(c.target.text()));
  ir::Pipeline p;
  const std::int64_t stages = c.integer(1);
  if (stages < 2 || stages > 8) c.refuse("2 to 8 stages", std::to_string(stages));
  p.stages = static_cast<int>(stages);
  p.async_copy = c.integer(2) != 0;
  p.any_alignment = c.integer(2) == 2;
  p.where = c.step.where;
  if (c.count() < 4) c.refuse("loads: stages that are computed at " + name_of(c.p, loop), "none");
  for (std::size_t k = 3; k < c.count(); ++k) {
    const Id load = c.stage(k).id;
    if (std::find(p.loads.begin(), p.loads.end(), load) != p.loads.end())
      c.refuse("each load once", c.stage(k).name + " twice");
    p.loads.push_back(load);
  }
  // rewrite; handles stay
  loop.get<LoopStmt>().pipeline = std::move(p);
  // prove
  prove_pipeline(c, loop);
}

std::string line_of_pipeline(CppCall& w, const Step& s) {
  const std::string loads = stages_from(w, s, 3, &CppCall::stage), loop = w.loop(s.args[0]);
  return w.own(s.args[0]) + ".pipeline(" + loop + ", {.stages = " + std::to_string(s.args[1].value) + ", .loads = " + loads +
         (s.args[2].value == 0   ? "})"
          : s.args[2].value == 1 ? ", .async_copy = true})"
                                 : ", .async_copy = true, .any_alignment = true})");
}

// Of all loads of a loop some.
bool draw_pipeline(Draw& d) {
  const auto load = draw_load(d);
  if (!load) return false;
  std::vector<Arg> args{Arg::loop(load->loop), Arg::integer(d.between(2, 4)), Arg::integer(d.between(0, 2)),
                        Arg::stage(load->stage)};
  for (const Id other : load->others)
    if (d.one_in(2)) args.push_back(Arg::stage(other));
  return d.step("pipeline", std::move(args));
}

}  // namespace

extern constexpr Primitive pipeline_primitive{
    .name = "pipeline",
    .spelling = "pipeline",
    .parameters = {takes::loop(), takes::number("stages"), takes::number("async_copy"), takes::stage("load").any_number()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_pipeline,
    .cpp = line_of_pipeline,
    .draw = Drawing{.in_launches = 2, .draw = draw_pipeline},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::pipeline(Loop l, const Async& how, Where w) const {
  const schedule::Primitive& pipeline = schedule::pipeline_primitive;
  if (how.any_alignment && !how.async_copy)
    refuse("pipeline", ".async_copy = true with .any_alignment, which concerns asynchronous copies alone", "none", w);
  const int copies = how.any_alignment ? 2 : how.async_copy ? 1 : 0;
  std::vector<Arg> args{own(l, pipeline, w), Arg::integer(how.stages), Arg::integer(copies)};
  for (const Stage& load : how.loads) {
    if (!detail::serves(load.state_, load.id_, *state_))
      refuse("pipeline", "a stage of this schedule", "one of another schedule", w);
    args.push_back(Arg::stage(detail::current_stage(*state_, load.id_, "pipeline", w).id));
  }
  return done(pipeline, std::move(args), w);
}

}  // namespace ashlar
