// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// reduction: schedules one reduction of a large tensor.
//
// Over the last dimension (total = sum of x), neighbors in memory are terms of one sum:
//
//   for ko in (N + 65535) / 65536            parallel: one partial result for each part
//     for ki in 65536 / W, in 8 registers    vectorized, then a tree of halves (detail::reduce_in_lanes)
//   total = the partial results, one after the other
//
// Over other dimensions (column[j] = sum over k of x[k, j]), neighbors belong to different results, which stay in registers:
//
//   for jo in J / (4 lanes)                  parallel
//     for k in K
//       for ji in 4, for lane in lanes       unrolled, vectorized
//
//   schedules::reduction(s, s[total]);
//
// Sums are regrouped. A reducer that forbids this (strict_sum) keeps its order, and only its columns run in lanes. Correct for
// every extent. Refused: a stage that is not a reduction, a scatter, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct ReductionOptions {
  int lanes = 0;                // a power of two; 0: as many as a register holds of the stage's widest type
  int accumulators = 8;         // registers of partial results, a power of two; at most 4 for column sums
  std::int64_t part = 1 << 16;  // terms of one part
  bool parallel = true;
};

void reduction(Schedule& s, const Stage& stage, const ReductionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
