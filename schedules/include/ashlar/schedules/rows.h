// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// rows: schedules row operators such as softmax, norms and argmax: reductions over the last dimension, and the elementwise
// stages that use them. List the stages in the order of computation; the last one is the result.
//
//   auto y = ops::softmax(x);
//   schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
//
//   for row in rows, four at a time          parallel; all dimensions but the last, fused
//     maximum: for ko, 4 rows, 2 registers   partial maxima in lanes, then a tree of halves
//     exp:     4 rows, for jo, for ji in 16  vectorized; the rows stay in the cache
//     sum:     like the maximum
//     result:  4 rows, for jo, for ji in 16  vectorized
//
// A reduction ends in a tree of dependent additions, which takes as long as a short row. Rows that run side by side overlap
// these trees.
//
// A result without the last dimension (argmax, a norm) only has loops over rows. Sums are regrouped, so floats round
// differently than without a schedule. A reduction that must not be regrouped (strict_sum) keeps its serial loop. Correct for
// every extent. Refused: an empty list, `dims` beyond those of the result, a scatter, a recurrence, a
// GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct RowsOptions {
  int dims = -1;         // how many leading dimensions enumerate the rows; -1: those of the reductions
  int lanes = 0;         // a power of two; 0: as many as a register holds of the widest type of each stage
  int accumulators = 4;  // registers of partial results of a reduction, a power of two
  int unroll = 1;        // vectors in each iteration of stages along a row
  int together = 0;      // rows whose reductions are interleaved; 0: 4 with 32 registers, 2 with 16
  bool parallel = true;
  bool stream = false;  // non-temporal stores of the result
};

void rows(Schedule& s, const std::vector<Stage>& stages, const RowsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
