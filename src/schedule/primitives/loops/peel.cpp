// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// peel(loop, first | last | both): an iteration at one or both ends is taken out of the loop, with a copy of the body.
//
//   for ko in K / 256            for ko in all but the last of K / 256
//     body               ->        body
//                                for ko in last of K / 256
//                                  body (copy)
//
// The two loops share their axis: conditions on it, such as "ko is the last", are decided in each of them.
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

void apply_peel(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  require_whole(c, loop);
  const std::string& which = c.word(1);
  require_no_slide(c, loop);
  // rewrite: the iterations stay in their order, so there is nothing to prove
  Stmt copy = copy_subtree(c.p, loop);
  copy.where = loop.where = c.step.where;
  loop.get<LoopStmt>().part = which == "last" ? ir::Part::but_last : which == "first" ? ir::Part::but_first : ir::Part::middle;
  copy.get<LoopStmt>().part = which == "last" ? ir::Part::last : ir::Part::first;
  c.results = {copy.id};
  if (which == "both") {
    Stmt tail = copy_subtree(c.p, loop);
    tail.get<LoopStmt>().part = ir::Part::end;
    c.results.push_back(tail.id);
    insert_beside(c.p, loop.id, std::move(tail), true);
  }
  insert_beside(c.p, c.step.args[0].id, std::move(copy), which == "last");
  // remap: the loop keeps its id; the copies know what they are copies of
}

const char* handle_of_peel(const Step& s, std::size_t result) {
  return s.args[1].word == "both" ? result == 0 ? "first" : "last" : s.args[1].word.c_str();
}

bool draw_peel(Draw& d) {
  static constexpr const char* ends[] = {"first", "last", "both"};
  const std::vector<const Stmt*> loops = loops_of(d.p, d.stage());
  return !loops.empty() && d.step("peel", {Arg::loop(d.any(loops)->id), Arg::text(d.any(ends))});
}

}  // namespace

extern constexpr Primitive peel_primitive{
    .name = "peel",
    .spelling = "peel",
    .parameters = {takes::loop(), takes::word("end", "first last both").as("Peel::").unsaid("both")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_peel,
    .cpp = of_loop,
    .draw = Drawing{.often = 1, .draw = draw_peel},
    .handle = handle_of_peel,
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Loop Stage::peel(Loop l, Peel which, Where w) const {
  const schedule::Primitive& peel = schedule::peel_primitive;
  return Loop(apply(peel, {own(l, peel, w), Arg::text(which == Peel::first ? "first" : "last")}, w)[0], state_);
}
Ends Stage::peel(Loop l, Where w) const {
  const auto& made = apply(schedule::peel_primitive, {own(l, schedule::peel_primitive, w), Arg::text("both")}, w);
  return {Loop(made[0], state_), Loop(made[1], state_)};
}

}  // namespace ashlar
