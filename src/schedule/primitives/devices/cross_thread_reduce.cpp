// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cross_thread_reduce(loop): the iterations of a reduction loop may be threads. Each accumulates a part of its own, and every
// thread gets what the parts give together. bind says which threads, after this call.
//
//   for ko                                        part = 0                           in every thread
//     for ki       thread_x                ->     for ko
//       total += x[ko * 128 + ki]                   part += x[ko * 128 + thread_x]
//                                                 total = init + all threads' parts, combined in a tree
//
// Legality: REASSOC, and a reducer whose identity is known; the rest (uniform loops around, constant extents inside) follows
// from where the loop stands, and is proved again after every step. The tree is in analysis/thread_tree.h.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_cross_thread_reduce(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop), require_whole(c, loop);
  if (!c.target.is_gpu())
    c.refuse("a target with threads, such as vulkan (rfactor makes lanes of a reduction)", std::string(c.target.text()));
  if (const ir::Stage& stage = stage_around(c.p, loop.id); stage.scatters())
    c.refuse("a reduction whose steps combine into one element",
             name_of(c.p, loop) + ", steps of a scatter (rfactor makes private results)");
  // rewrite; handles stay
  loop.get<LoopStmt>().combines = true;
  loop.where = c.step.where;
  // prove
  prove_combined(c, loop);
}

bool draw_cross_thread_reduce(Draw& d) {
  const auto launch = draw_root(d);
  const Stmt* loop = !launch ? nullptr : launch->loop_where(d, [&](const Stmt& l) {
    const LoopStmt& l_loop = l.get<LoopStmt>();
    return l_loop.kind == ir::LoopKind::serial && d.p.axis(l_loop.axis).reduce && (is_constant(d.p, l) || d.one_in(8));
  });
  d.reassociates = true;
  return loop && d.step("cross_thread_reduce", {Arg::loop(loop->id)});
}

}  // namespace

extern constexpr Primitive cross_thread_reduce_primitive{
    .name = "cross_thread_reduce",
    .spelling = "cross_thread_reduce",
    .parameters = {takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_cross_thread_reduce,
    .cpp = of_loop,
    .draw = Drawing{.in_launches = 2, .draw = draw_cross_thread_reduce},
};

}  // namespace ashlar::schedule

namespace ashlar {

Stage Stage::cross_thread_reduce(Loop l, Where w) const { return of_own(schedule::cross_thread_reduce_primitive, l, w); }

}  // namespace ashlar
