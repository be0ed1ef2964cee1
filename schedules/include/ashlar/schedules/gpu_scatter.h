// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_scatter: schedules a scatter of integers into few elements on a device, as a histogram, in two launches. Each block has a
// result of its own in shared memory, which its threads update atomically:
//
//   for part in (N + 32767) / 32768         block_x
//     own result = init                     shared memory
//     for ko, for ki in 256                 thread_x: steps of the part, atomic
//     a row of the parts = own result
//   the sum of the parts, by 32 threads for each element
//
//   schedules::gpu_scatter(s, s[counts]);
//
// Integers have the same sums in any order, so every result is exact. Steps over several dimensions are divided along the
// first. Correct for every extent. Refused: a processor, a stage that is not a scatter, a result whose size is not constant or
// more than shared memory holds, a combiner or type that shared memory has no atomic instruction for.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuScatterOptions {
  int threads = 0;            // in a block; 0: 256, or as many as the device has
  std::int64_t part = 32768;  // steps for a block
};

void gpu_scatter(Schedule& s, const Stage& stage, const GpuScatterOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
