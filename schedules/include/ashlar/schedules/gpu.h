// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_points: schedules a stage on a device, one thread for each point. For a stage y[a, b]:
//
//   for abo in (A B + 255) / 256            block_x
//     for abi in 256                        thread_x, masked at the end
//       the terms of a reduction, in their order, in registers
//
//   schedules::gpu_points(s, s[y]);
//
// Neighboring threads compute neighbors along the last dimension, so their accesses coalesce. Sums keep their order. Correct
// for every extent. Refused: a CPU target, a stage without dimensions, a scatter, a recurrence, more threads than a block may
// have.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuPointsOptions {
  int threads = 0;        // threads of a block; 0: 256, or the device's limit if that is lower
  bool registers = true;  // accumulate reductions of one value in registers; those of several values always use memory
};

void gpu_points(Schedule& s, const Stage& stage, const GpuPointsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
