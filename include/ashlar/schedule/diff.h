// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The differences between two schedules: their steps, in the C++ form of Schedule::to_cpp, as a diff.
//
//   std::puts(diff(before, after).text.c_str());
//
//       auto [io, ii] = s[C].split(i, 32);
//     - auto [jo, ji] = s[C].split(j, 8);
//     + auto [jo, ji] = s[C].split(j, 16);
//       s[C].vectorize(ji);
//
// Two steps are equal if they do the same to loops or stages of the same name and axis; ids and source lines do not matter. So
// the schedules may belong to the same algorithm or to two algorithms with different shapes or additional stages, and a loop
// counts as the same even if an earlier split has another factor. A step that moved is shown as removed and added.
#include <string>

#include <ashlar/schedule/schedule.h>

namespace ashlar {

struct ScheduleDiff {
  bool equal = true;
  std::string text;  // one line for each statement, after "  ", "- " (only in the first) or "+ " (only in the second)
};
ScheduleDiff diff(const Schedule&, const Schedule&);

}  // namespace ashlar
