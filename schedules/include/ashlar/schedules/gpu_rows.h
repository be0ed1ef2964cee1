// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Operators on rows, on a device: reductions over the last dimensions and what is computed of them for each element, in one
// launch. The stages are named in the order in which they are computed; the last one is the result.
//
//   auto y = ops::softmax(x);
//   schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
//
//   for row in rows                        block_x; all dimensions but those of a row as one loop
//     maximum: for ko, for ki in 256       thread_x: the threads of a block reduce a part each, all of them get the whole
//     sum:     the same, with exp inlined
//     result:  for jo, for ji in 256       thread_x, with exp inlined
//
// Of short rows a block has several, side by side along thread_y. What is computed along a row between two reductions is
// inlined: each reader computes it again, which costs less than memory for rows of any length; one value of a row (1 / sqrt of
// a variance) is computed by every thread, once. Sums are regrouped, by the shape of the block alone; a reduction that forbids
// it (strict_sum) is done whole by every thread of its row. Right for every extent. Refused: a processor, no stage, more
// dimensions of rows than the result has, a scatter or recurrence, an output before the result, more threads than a block has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuRowsOptions {
  int dims = -1;    // dimensions of the result that count rows; -1: those of the reductions
  int threads = 0;  // along a row; 0: a quarter of its length where that is known, between 32 and 256
  int rows = 0;     // of a block; 0: as many as 256 threads have
};

void gpu_rows(Schedule& s, const std::vector<Stage>& stages, const GpuRowsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
