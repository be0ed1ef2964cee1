// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_scatter: schedules a scatter of integers into a few elements (a histogram) on a device, as two launches. Each block has
// its own result in shared memory, which its threads update atomically:
//
//   for part in (N + 32767) / 32768         block_x
//     own result = init                     shared memory
//     for ko, for ki in 256                 thread_x: steps of the part, atomic
//     a row of the parts = own result
//   the sum of the parts, by 32 threads for each element
//
//   schedules::gpu_scatter(s, s[counts]);
//
// Integer sums do not depend on their order, so results are exact. Steps over several dimensions are divided along the first.
// Correct for every extent. Refused: a CPU target, a stage that is not a scatter, a result whose size is not constant or
// exceeds shared memory, a combiner or type without an atomic instruction for shared memory.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuScatterOptions {
  int threads = 0;            // threads of a block; 0: 256, or the device's limit if that is lower
  std::int64_t part = 32768;  // steps for a block
};

void gpu_scatter(Schedule& s, const Stage& stage, const GpuScatterOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
