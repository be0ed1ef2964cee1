// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Stages without a reduction: each element from elements at its own place. For a stage y of dimensions a, b, c:
//
//   for ab in A * B                        parallel
//     for co in (C + n - 1) / n            n lanes of the widest type that it computes with
//       for ci in n                        vectorized, masked at the end of the row
//
//   schedules::elementwise(s, s[y]);
//   schedules::elementwise(s, s[y], {.inlined = {s[scaled]}, .stream = true});
//
// One dimension alone is split, and its vectors are parallel. Right for every extent. Refused: a reduction (rows, reduction), a
// scatter or recurrence, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct ElementwiseOptions {
  std::vector<Stage> inlined = {};  // computed again at each of their readers
  std::vector<Stage> at_row = {};   // producers computed for a row before it, in vectors; readers before what they read
  int lanes = 0;                    // 0: what a register holds
  int unroll = 1;                   // vectors of one iteration
  bool parallel = true;
  bool stream = false;  // past the caches: results larger than they are, that nobody reads soon
};

void elementwise(Schedule& s, const Stage& stage, const ElementwiseOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
