// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// elementwise: schedules a stage without a reduction whose elements read other tensors at their own indices. For a stage y[a,
// b, c]:
//
//   for ab in A * B                        parallel
//     for co in (C + n - 1) / n            n lanes of the widest type that the stage computes with
//       for ci in n                        vectorized, masked at the end of the row
//
//   schedules::elementwise(s, s[y]);
//   schedules::elementwise(s, s[y], {.inlined = {s[scaled]}, .stream = true});
//
// A stage with one dimension is split, and the loop over its vectors runs in parallel. Correct for every extent. Refused: a
// reduction (use rows or reduction), a scatter, a recurrence, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct ElementwiseOptions {
  std::vector<Stage> inlined = {};  // computed again at each read
  // Producers to compute row by row, vectorized, just before the stage. List readers before the stages that they read.
  std::vector<Stage> at_row = {};
  int lanes = 0;   // 0: as many as a register holds
  int unroll = 1;  // vectors in each iteration
  bool parallel = true;
  bool stream = false;  // non-temporal stores, for results that exceed the caches and are not read soon
};

void elementwise(Schedule& s, const Stage& stage, const ElementwiseOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
