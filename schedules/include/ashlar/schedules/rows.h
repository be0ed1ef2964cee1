// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Operators on rows: reductions over the last dimension and what is computed of them for each element, softmax, norms, argmax.
// The stages are named in the order in which they are computed; the last one is the result.
//
//   auto y = ops::softmax(x);
//   schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
//
//   for row in rows, four at a time          parallel; all dimensions but the last as one loop
//     maximum: for ko, 4 rows, 2 registers   partial maxima in lanes, then a tree of halves
//     exp:     4 rows, for jo, for ji in 16  vectorized; rows that stay in the cache
//     sum:     as the maximum
//     result:  4 rows, for jo, for ji in 16  vectorized
//
// The end of a reduction, halves of a register added one after the other, takes as long as a short row; rows beside each other
// wait for it together.
//
// A result without the last dimension (argmax, a norm) has its loops over rows alone. A reduction that may not be regrouped
// (strict_sum) keeps its serial loop. Right for every extent. Refused: no stage, more dimensions of rows than the result has, a
// scatter or recurrence, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct RowsOptions {
  int dims = -1;         // dimensions of the result that count rows; -1: those of the reductions
  int lanes = 0;         // a power of two; 0: what a register holds of the widest type of each stage
  int accumulators = 4;  // registers of partial results of a reduction, a power of two
  int unroll = 1;        // vectors of one iteration of stages along a row
  int together = 0;      // rows whose reductions run beside each other; 0: 4 with 32 registers, 2 with 16
  bool parallel = true;
  bool stream = false;  // the result goes past the caches
};

void rows(Schedule& s, const std::vector<Stage>& stages, const RowsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
