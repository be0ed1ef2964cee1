// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_and_jam(loop): the iterations of the loop stand one after another inside of the serial loops in it.
//
//   for i in 4                     for k in K
//     for k in K            ->       for i in 4            unrolled
//       block C                        block C
//
// It is a reorder, which puts the loop behind the last serial loop in it, and an unroll; what those must prove is what it must.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

extern const Primitive reorder_primitive, unroll_primitive;

namespace {

void apply_unroll_and_jam(Context& c) {
  // match: the loops between this one and the block
  const Stmt& loop = c.loop(0);
  require_serial(c, loop);
  std::vector<const Stmt*> inside;
  for (const Stmt* b : ir::blocks_of(c.p, stage_around(c.p, loop.id).id)) {
    if (!encloses(c.p, loop.id, b->id)) continue;
    bool below = false;
    for (const Stmt* s : ir::path_to(c.p, b->id)) {
      if (below && s->is<LoopStmt>()) inside.push_back(s);
      below = below || s->id == loop.id;
    }
    break;
  }
  while (!inside.empty() && !ir::is_loop(*inside.back(), ir::LoopKind::serial)) inside.pop_back();
  if (inside.empty())
    c.refuse("a loop with a serial loop inside, into which its iterations go (unroll alone puts them one after another)",
             name_of(c.p, loop));
  // prove and rewrite
  const auto as = [&](const Primitive& primitive, std::vector<Arg> args) {
    Step step = c.step;
    step.args = std::move(args);
    Context one{c.state, c.p, c.target, step, {}, c.unproved_obligations};
    primitive.apply(one);
  };
  const Arg itself = Arg::loop(loop.id);
  std::vector<Arg> order;
  for (const Stmt* s : inside) order.push_back(Arg::loop(s->id));
  order.push_back(itself);
  as(reorder_primitive, std::move(order));
  as(unroll_primitive, {itself});
  // remap: every loop keeps its id
}

bool draw_unroll_and_jam(Draw& d) {
  const Id stage = d.stage();
  const std::vector<const Stmt*> loops = loops_of(d.p, stage);
  d.reassociates = order_matters(d.p, d.p.stage(stage));
  return !loops.empty() && d.step("unroll_and_jam", {Arg::loop(d.any(loops)->id)});
}

}  // namespace

extern constexpr Primitive unroll_and_jam_primitive{
    .name = "unroll_and_jam",
    .spelling = "unroll_and_jam",
    .parameters = {takes::loop()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_unroll_and_jam,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = draw_unroll_and_jam},
};

}  // namespace ashlar::schedule

namespace ashlar {

Stage Stage::unroll_and_jam(Loop l, Where w) const { return of_own(schedule::unroll_and_jam_primitive, l, w); }

}  // namespace ashlar
