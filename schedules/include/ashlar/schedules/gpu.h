// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_points: schedules a stage on a device, one point for each thread. For a stage y[a, b]:
//
//   for abo in (A B + 255) / 256            block_x
//     for abi in 256                        thread_x, masked at the end
//       the terms of a reduction, in their order, in registers
//
//   schedules::gpu_points(s, s[y]);
//
// Neighbouring threads compute neighbours of the last dimension, so their accesses coalesce. Correct for every extent. Sums
// keep their order. Refused: a processor, a stage without dimensions, a scatter, a recurrence, more threads than a block of the
// target has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuPointsOptions {
  int threads = 0;        // in a block; 0: 256, or as many as the device has
  bool registers = true;  // a reduction of one value accumulates in registers, one of several in memory; false: all in memory
};

void gpu_points(Schedule& s, const Stage& stage, const GpuPointsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
