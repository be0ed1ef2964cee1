// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// peel(loop, first | last | both): an iteration at one or both ends is taken out of the loop, with a copy of the body.
//
//   for ko in K / 256            for ko in all but the last of K / 256
//     body               ->        body
//                                for ko in last of K / 256
//                                  body (copy)
//
// The two loops share their axis: conditions on it, such as "ko is the last", are decided in each of them.
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

void apply_peel(Context& c) {
  // match
  Stmt& loop = c.loop(0);
  require_serial(c, loop);
  require_whole(c, loop);
  const std::string& which = c.word(1);
  if (which != "first" && which != "last" && which != "both") c.refuse("first, last or both", "\"" + which + "\"");
  require_no_slide(c, loop);
  // rewrite: the iterations stay in their order, so there is nothing to prove
  Stmt copy = copy_subtree(c.p, loop);
  copy.where = loop.where = c.step.where;
  loop.part = which == "last" ? ir::Part::but_last : which == "first" ? ir::Part::but_first : ir::Part::middle;
  copy.part = which == "last" ? ir::Part::last : ir::Part::first;
  c.results = {copy.id};
  if (which == "both") {
    Stmt tail = copy_subtree(c.p, loop);
    tail.part = ir::Part::end;
    c.results.push_back(tail.id);
    insert_beside(c.p, loop.id, std::move(tail), true);
  }
  insert_beside(c.p, c.step.args[0].id, std::move(copy), which == "last");
  // remap: the loop keeps its id; the copies know what they are copies of
}

}  // namespace ashlar::schedule
