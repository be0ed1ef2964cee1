// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll(loop): the iterations stand one after another. The loop stays where it is; lowering rewrites it.
//
// Legality: CAPACITY, a constant extent of at most 1024.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

extern const Primitive split_primitive;

namespace {

void apply_unroll(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  // prove
  prove_constant_extent(c, loop, 1024);
  // rewrite; handles stay
  loop.get<LoopStmt>().kind = ir::LoopKind::unrolled;
  loop.where = c.step.where;
}

}  // namespace

extern constexpr Primitive unroll_primitive{
    .name = "unroll",
    .spelling = "unroll",
    .parameters = {takes::loop()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_unroll,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = [](Draw& d) { return draw_loop(d, "unroll"); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::unroll(Loop l, Where w) const { return of_own(schedule::unroll_primitive, l, w); }
Stage Stage::unroll(Loop l, Factor by, Where w) const {
  detail::Transaction transaction(*state_, "unroll");
  const schedule::Primitive& split = schedule::split_primitive;
  const ir::Id inner = apply(split, {own(l, split, w), Arg::integer(by.value()), Arg::text("guard"), Arg::text("keep")}, w)[1];
  apply(schedule::unroll_primitive, {Arg::loop(inner)}, w);
  transaction.keep();
  return *this;
}

}  // namespace ashlar
