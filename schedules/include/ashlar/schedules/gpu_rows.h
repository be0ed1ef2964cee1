// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_rows: schedules operators on rows on a device, in one launch: reductions over the last dimensions, and what is computed
// from them for each element. List the stages in the order of computation; the last one is the result.
//
//   auto y = ops::softmax(x);
//   schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
//
//   for row in rows                        block_x; all dimensions but those of a row, fused
//     maximum: for ko, for ki in 256       thread_x: each thread of a block reduces a part, and all get the total
//     sum:     the same, with exp inlined
//     result:  for jo, for ji in 256       thread_x, with exp inlined
//
// On CUDA devices, a reduction of rows of arguments loads 16 bytes at a time, so that a thread has neighbouring terms, where the
// rows of a call begin and end at multiples of 16 bytes. Other calls take a second kernel.
//
// A block has several short rows, side by side along thread_y. What is computed for each element between two reductions is
// inlined: recomputing it in each reader costs less than storing rows of any length. One value of a row (1 / sqrt of a
// variance) is computed once by every thread. Sums are regrouped, by the shape of the block alone. A reduction that forbids
// this (strict_sum) is computed completely by every thread of its row. Correct for every extent. Refused: a processor, an empty
// list, more dimensions of rows than the result has, a scatter, a recurrence, an output before the result, more threads than a
// block of the target has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuRowsOptions {
  int dims = -1;  // the leading dimensions of the result that count rows; -1: those of the reductions
  int threads = 0;  // along a row; 0: a quarter of its length if that is known, between 32 and 256 (or as the device has)
  int rows = 0;     // in a block; 0: as many as 256 threads have, or as a block of the device has
};

void gpu_rows(Schedule& s, const std::vector<Stage>& stages, const GpuRowsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
