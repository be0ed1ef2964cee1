// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vthread(loop): the iterations are virtual threads. One thread computes them all, statement by statement: it does the first
// statement of each before the second of any, and what is loaded for the block is loaded once.
//
//   for v in 2        vthread                    for ko
//     for ko                                       A_shared = ...            once, for both
//       A_shared = ...                   ->        acc[0] += ...
//       acc += ...                                 acc[1] += ...             registers of its own for each
//
// Legality: DISJOINT, as for bind; CAPACITY, a constant extent of at most 64.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_vthread(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop), require_whole(c, loop);
  if (!c.target.is_gpu())
    c.refuse("a target with blocks and threads, such as vulkan (unroll repeats statements on a processor)",
             std::string(c.target.text()));
  // rewrite; handles stay
  loop.get<LoopStmt>().kind = ir::LoopKind::vthread;
  loop.where = c.step.where;
  // prove
  prove_virtual(c, loop);
}

bool draw_vthread(Draw& d) {
  const auto launch = draw_root(d);
  const Stmt* loop = !launch ? nullptr : launch->loop_where(d, [&](const Stmt& l) {
    const LoopStmt& l_loop = l.get<LoopStmt>();
    return l_loop.kind == ir::LoopKind::serial && is_constant(d.p, l) && !d.p.axis(l_loop.axis).reduce;
  });
  return loop && d.step("vthread", {Arg::loop(loop->id)});
}

}  // namespace

extern constexpr Primitive vthread_primitive{
    .name = "vthread",
    .spelling = "vthread",
    .parameters = {takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_vthread,
    .cpp = of_loop,
    .draw = Drawing{.in_launches = 1, .draw = draw_vthread},
};

}  // namespace ashlar::schedule

namespace ashlar {

Stage Stage::vthread(Loop l, Where w) const { return of_own(schedule::vthread_primitive, l, w); }

}  // namespace ashlar
