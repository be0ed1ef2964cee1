// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split(loop, Parts{n}, tail): into n parts, as many as there are workers, whatever the extent.
//
//   for i in M                   for io in min(M, 4)
//     block C            ->        for ii in max((M + 3) / 4, 1)
//                                    block C              where io * max((M + 3) / 4, 1) + ii < M
#include "schedule/primitives/loops/split.h"

#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_split_parts(Context& c) {
  Stmt& loop = splittable(c);
  const std::int64_t parts = c.integer(1);
  const ir::Tail tail = tail_of(c.word(2));
  if (parts < 1) c.refuse("at least 1 part", std::to_string(parts));
  require_small(c, parts, "a number of parts");
  if (tail != ir::Tail::guard && tail != ir::Tail::predicate)
    c.refuse("Tail::guard where a loop is split into parts", c.word(2));
  const Expr factor = ir::max(ir::index(1), ir::ceil_div(c.p.axis(loop.get<LoopStmt>().axis).extent, ir::index(parts)));
  split_loop(c, loop, factor, parts, tail, false);
}

bool draw_split_parts(Draw& d) {
  static constexpr const char* others[] = {"peel", "shift", "pad", "exact", "predicate"};
  const std::vector<const Stmt*> loops = loops_of(d.p, d.stage());
  if (loops.empty()) return false;
  const Arg loop = Arg::loop(d.any(loops)->id);
  return d.step("split_parts", {loop, Arg::integer(d.factor()), Arg::text(d.one_in(8) ? d.any(others) : "guard")});
}

}  // namespace

extern constexpr Primitive split_parts_primitive{
    .name = "split_parts",
    .spelling = "split",
    .parameters = {takes::loop(), takes::number("parts").as("Parts{"), takes::tail()},
    .traits = Traits{Reads::moved, Places::moved, Boxes::of_one_nest, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_split_parts,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = draw_split_parts},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Split Stage::split(Loop l, Parts parts, Tail tail, Where w) const {
  const schedule::Primitive& split = schedule::split_parts_primitive;
  const auto& made = apply(split, {own(l, split, w), Arg::integer(parts.count.value()), Arg::text(schedule::word(tail))}, w);
  return {Loop(made[0], state_), Loop(made[1], state_)};
}

}  // namespace ashlar
