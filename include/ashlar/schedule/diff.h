// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What two schedules do differently: their steps side by side, as the C++ of Schedule::to_cpp.
//
//   std::puts(diff(before, after).text.c_str());
//
//       auto [io, ii] = s[C].split(i, 32);
//     - auto [jo, ji] = s[C].split(j, 8);
//     + auto [jo, ji] = s[C].split(j, 16);
//       s[C].vectorize(ji);
//
// Steps are the same where they do the same to what has the same name and comes from the same axis; ids and the lines that
// asked for them are nothing to it. So the schedules may be of one algorithm or of two, with other shapes or stages in between;
// a loop stays what it is where an earlier split got another factor. Steps that only changed places stand as taken away and put
// in.
#include <string>

#include <ashlar/schedule/schedule.h>

namespace ashlar {

struct ScheduleDiff {
  bool equal = true;
  std::string text;  // a line a statement, "  ", "- " (of the first) or "+ " (of the second) before it; empty where equal
};
ScheduleDiff diff(const Schedule&, const Schedule&);

}  // namespace ashlar
