// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parallel(loop): the iterations run on the threads of the pool, in any order.
//
// Legality: DISJOINT, independent iterations, with storage of their own for what is computed inside; or IDEMPOTENT, tiles that
// overlap by Tail::shift and write the same values.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_parallel(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  if (c.target.is_gpu())
    c.refuse("a target with a pool of threads, such as x86-64 (bind spreads over blocks and threads)",
             std::string(c.target.text()));
  // prove
  prove_parallel(c, loop);
  // rewrite; handles stay
  loop.get<LoopStmt>().kind = ir::LoopKind::parallel;
  loop.where = c.step.where;
}

}  // namespace

extern constexpr Primitive parallel_primitive{
    .name = "parallel",
    .spelling = "parallel",
    .parameters = {takes::loop()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_parallel,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = [](Draw& d) { return draw_loop(d, "parallel"); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

Stage Stage::parallel(Loop l, Where w) const { return of_own(schedule::parallel_primitive, l, w); }

}  // namespace ashlar
