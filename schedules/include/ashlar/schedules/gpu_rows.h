// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_rows: schedules row operators on a device as one launch: reductions over the last dimensions, and the elementwise stages
// that use them. List the stages in the order of computation; the last one is the result.
//
//   auto y = ops::softmax(x);
//   schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
//
//   for row in rows                        block_x; all dimensions but those of a row, fused
//     maximum: for ko, for ki in 256       thread_x: each thread of a block reduces a part, and all get the total
//     sum:     the same, with exp inlined
//     result:  for jo, for ji in 256       thread_x, with exp inlined
//
// On CUDA devices, a reduction over rows of an argument loads 16 bytes at a time, so each thread has neighboring terms. This
// needs rows that begin and end at multiples of 16 bytes; calls with other rows run a second kernel.
//
// A block handles several short rows, side by side along thread_y. Elementwise stages between two reductions are inlined,
// because recomputing them in each reader costs less than storing rows of any length. Every thread computes a value that
// belongs to the whole row (1 / sqrt of a variance) once. The shape of the block alone decides how sums are regrouped. If a
// reduction forbids regrouping (strict_sum), every thread of the row computes all of it. Correct for every extent. Refused: a
// CPU target, an empty list, `dims` beyond those of the result, a scatter, a recurrence, an output before the result, more
// threads than a block may have.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuRowsOptions {
  int dims = -1;    // the leading dimensions of the result that count rows; -1: those of the reductions
  int threads = 0;  // along a row; 0: a quarter of its length if that is known, from 32 to 256 (or the device's limit)
  int rows = 0;     // rows of a block; 0: as many as give it 256 threads, or the device's limit
};

void gpu_rows(Schedule& s, const std::vector<Stage>& stages, const GpuRowsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
