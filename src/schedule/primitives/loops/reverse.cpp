// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reverse(loop): the loop over a variable goes from its last value to its first.
//
//   for i in N                         for i in N
//     y[i] = f(i)            ->          y[N - 1 - i] = f(N - 1 - i)
//
// The iteration variable descends (its value is the last of the nest's box minus the axis), so whatever is done to the loop
// afterwards (splits, parts, kinds) goes along with it.
//
// Legality: ORDER. Points of a stage are independent; the terms of a reduction are met in another order, which needs REASSOC.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_reverse(Context& c) {
  // match: the one loop over an iteration variable, as the definition made it
  Stmt& loop = c.loop(0);
  LoopStmt& l = loop.get<LoopStmt>();
  require_serial(c, loop);
  require_whole(c, loop);
  require_no_slide(c, loop);
  const ir::Axis& axis = c.p.axis(l.axis);
  ir::Stage& stage = c.p.stages.at(stage_around(c.p, loop.id).id);
  const Stmt& nest = only_nest(c, stage);
  require_no_recurrence(c, stage, ", whose steps have an order");
  if (axis.origin != ir::Axis::Origin::root)
    c.refuse("a loop over a whole variable (move this call before splits and fusions of it)", name_of(c.p, loop));
  int over = 0;
  ir::walk(c.p.body, [&](const Stmt& s) { over += ir::runs_over(s, l.axis); });
  if (over != 1) c.refuse("a loop that stands at one place", name_of(c.p, loop) + copied_by(c.p, loop, "reverse"));
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const BlockStmt* block = s.as<BlockStmt>(); block && block->stage == stage.id && block->first_stores && axis.reduce)
      c.refuse("a sum whose init is stored in advance (move this call before rfactor)",
               stage.name + ", whose first step stores");
    if (const PrefetchStmt* prefetch = s.as<PrefetchStmt>(); prefetch && prefetch->loop == loop.id)
      c.refuse("a loop along which nothing is prefetched (move this call before the prefetch)",
               name_of(c.p, loop) + ", along which " + c.p.buffer(prefetch->buffer).name + " is");
  });
  // prove
  if (axis.reduce)
    prove_reassociation(c, stage, "this turns the order of its terms around",
                        axis.name + " = 0 comes before " + axis.name + " = 1 in the definition, and after it in the schedule");
  // rewrite; handles stay
  for (ir::IterVar& v : stage.iters)
    if (v.id == axis.iter) v.descending = !v.descending;
  loop.where = c.step.where;
}

bool draw_reverse(Draw& d) {
  const Id stage = d.stage();
  const std::vector<const Stmt*> loops = loops_of(d.p, stage);
  d.reassociates = order_matters(d.p, d.p.stage(stage));
  return !loops.empty() && d.step("reverse", {Arg::loop(d.any(loops)->id)});
}

}  // namespace

extern constexpr Primitive reverse_primitive{
    .name = "reverse",
    .spelling = "reverse",
    .parameters = {takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_reverse,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = draw_reverse},
};

}  // namespace ashlar::schedule

namespace ashlar {

Stage Stage::reverse(Loop l, Where w) const { return of_own(schedule::reverse_primitive, l, w); }

}  // namespace ashlar
