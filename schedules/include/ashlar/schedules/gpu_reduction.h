// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_reduction: schedules a reduction of many terms to one or a few results on a device, as two launches:
//
//   for part in (N + 8191) / 8192           block_x, fused with the results if there are several
//     for ko, for ki in 256                 thread_x: each thread of a block reduces a part, and all get the total
//   the partial results, by the threads of one block for each result
//
//   schedules::gpu_reduction(s, s[total]);
//
// If neighbors in memory belong to neighboring results (column sums), each thread sums 512 terms of one result in their
// order, and the second launch sums the parts.
//
// A reduction over several dimensions is divided along the longest one. Up to 8192 terms need only one launch. Sums are
// regrouped into parts and by the shape of a block. A reduction that forbids this (strict_sum) is also one launch, which
// combines the terms one after the other. Correct for every extent. Refused: a CPU target, a stage that is not a reduction, a
// scatter, more threads than a block may have.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuReductionOptions {
  int threads = 0;           // threads of a block; 0: 256, or the device's limit if that is lower
  std::int64_t part = 8192;  // terms for a block; in column sums, a thread takes 1/16 of that
};

void gpu_reduction(Schedule& s, const Stage& stage, const GpuReductionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
