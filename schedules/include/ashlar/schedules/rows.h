// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// rows: schedules operators on rows, such as softmax, norms and argmax: reductions over the last dimension, and what is
// computed from them for each element. List the stages in the order of computation; the last one is the result.
//
//   auto y = ops::softmax(x);
//   schedules::rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
//
//   for row in rows, four at a time          parallel; all dimensions but the last, fused
//     maximum: for ko, 4 rows, 2 registers   partial maxima in lanes, then a tree of halves
//     exp:     4 rows, for jo, for ji in 16  vectorized; the rows stay in the cache
//     sum:     as the maximum
//     result:  4 rows, for jo, for ji in 16  vectorized
//
// The end of a reduction, a tree of dependent additions, takes as long as a short row. Rows side by side overlap theirs.
//
// A result without the last dimension (argmax, a norm) has loops over rows only. A reduction that must not be regrouped
// (strict_sum) keeps its serial loop. Correct for every extent. Refused: an empty list, more dimensions of rows than the result
// has, a scatter, a recurrence, a GPU.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct RowsOptions {
  int dims = -1;         // the leading dimensions of the result that count rows; -1: those of the reductions
  int lanes = 0;         // a power of two; 0: as many as a register holds of the widest type of each stage
  int accumulators = 4;  // registers of partial results of a reduction, a power of two
  int unroll = 1;        // vectors in each iteration of stages along a row
  int together = 0;      // rows whose reductions are interleaved; 0: 4 with 32 registers, 2 with 16
  bool parallel = true;
  bool stream = false;  // stores the result past the caches
};

void rows(Schedule& s, const std::vector<Stage>& stages, const RowsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
