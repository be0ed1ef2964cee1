// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomic(stage): steps of a reduction or scatter that run at once combine into memory by read-modify-writes that are
// indivisible, so that two of them may choose one element.
//
//   for y            parallel                          for y            parallel
//     for x                                      ->      for x
//       counts[in[y, x]] += 1     (refused)                counts[in[y, x]] atomic+= 1
//
// The steps of one element are taken in any order. Where no reduction loop runs at once nothing changes.
//
// Legality: REASSOC and commutation, exactly; a combiner and a type that the target's memory has; the init stands before all
// steps, and readers behind them (legality/atomic.cpp).
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_atomic(Context& c) {
  // match
  ir::Stage& stage = c.stage(0);
  if (stage.atomic) c.refuse("a stage that is not atomic yet", stage.name);
  // prove
  prove_memory_combines(c, stage);
  // rewrite; handles stay
  stage.atomic = true;
  ir::walk(c.p.body, [&](Stmt& s) {  // no step knows that it is the first: the init is stored in advance
    if (BlockStmt* block = s.as<BlockStmt>(); block && block->stage == stage.id) block->first_stores = false;
  });
}

// In a launch: a loop of its steps over blocks or threads, once it is atomic.
bool draw_atomic_launch(Draw& d) {
  static constexpr const char* axes[] = {"block_x", "block_y", "thread_x", "thread_x", "threads", "lane"};
  const auto launch = draw_root(d);
  const Stmt* loop = !launch ? nullptr : launch->loop_where(d, [&](const Stmt& l) {
    const LoopStmt& l_loop = l.get<LoopStmt>();
    return l_loop.kind == ir::LoopKind::serial && d.p.axis(l_loop.axis).reduce;
  });
  if (!loop) return false;
  const ir::Stage& stage = stage_around(d.p, loop->id);
  d.reassociates = true;
  if (!stage.atomic) d.step("atomic", {Arg::stage(stage.id)});
  return d.step("bind", {Arg::loop(loop->id), Arg::text(d.any(axes))});
}

// And a loop of its steps at once.
bool draw_atomic(Draw& d) {
  if (d.launch) return draw_atomic_launch(d);
  std::vector<Id> reductions;
  for (const Id id : d.stages())
    if (d.p.stage(id).is_reduction() || d.one_in(12)) reductions.push_back(id);
  if (reductions.empty()) return false;
  const Id stage = d.any(reductions);
  d.reassociates = order_matters(d.p, d.p.stage(stage));
  d.step("atomic", {Arg::stage(stage)});
  std::vector<const Stmt*> steps;
  for (const Stmt* l : loops_of(d.p, stage))
    if (d.p.axis(l->get<LoopStmt>().axis).reduce) steps.push_back(l);
  return steps.empty() || d.step("parallel", {Arg::loop(d.any(steps)->id)});
}

}  // namespace

extern constexpr Primitive atomic_primitive{
    .name = "atomic",
    .spelling = "atomic",
    .parameters = {takes::stage()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_atomic,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .in_launches = 2, .draw = draw_atomic},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::atomic(Where w) const { return done(schedule::atomic_primitive, {Arg::stage(id_)}, w); }

}  // namespace ashlar
