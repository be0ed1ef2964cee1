// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_reduction: schedules a reduction of many terms to one or a few results on a device, in two launches:
//
//   for part in (N + 8191) / 8192           block_x, fused with the results if there are several
//     for ko, for ki in 256                 thread_x: each thread of a block reduces a part, and all get the total
//   the partial results, by the threads of one block for each result
//
//   schedules::gpu_reduction(s, s[total]);
//
// If neighbours in memory belong to neighbouring results (sums of columns), a thread sums 512 terms of one result, in their
// order, and the second launch sums the parts.
//
// Terms over several dimensions are divided along the longest one. For at most 8192 terms there is one launch. Sums are
// regrouped, by parts and by the shape of a block. A reduction that forbids this (strict_sum) is also one launch, in which its
// terms are combined one after the other. Correct for every extent. Refused: a processor, a stage that is not a reduction, a
// scatter, more threads than a block of the target has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuReductionOptions {
  int threads = 0;           // in a block; 0: 256, or as many as the device has
  std::int64_t part = 8192;  // terms for a block; for sums of columns, a thread has 1/16 of them
};

void gpu_reduction(Schedule& s, const Stage& stage, const GpuReductionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
