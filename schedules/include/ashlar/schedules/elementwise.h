// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// elementwise: schedules a stage without a reduction, whose elements read elements at their own place. For a stage y[a, b, c]:
//
//   for ab in A * B                        parallel
//     for co in (C + n - 1) / n            n lanes of the widest type that the stage computes with
//       for ci in n                        vectorized, masked at the end of the row
//
//   schedules::elementwise(s, s[y]);
//   schedules::elementwise(s, s[y], {.inlined = {s[scaled]}, .stream = true});
//
// A stage of one dimension is split, and the loop over its vectors is parallel. Correct for every extent. Refused: a reduction
// (see rows and reduction), a scatter, a recurrence, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct ElementwiseOptions {
  std::vector<Stage> inlined = {};  // computed in each read
  // Producers that are computed for a row before it, vectorized. Readers come before the stages that they read.
  std::vector<Stage> at_row = {};
  int lanes = 0;   // 0: as many as a register holds
  int unroll = 1;  // vectors in each iteration
  bool parallel = true;
  bool stream = false;  // stores past the caches, for results that exceed them and are not read soon
};

void elementwise(Schedule& s, const Stage& stage, const ElementwiseOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
