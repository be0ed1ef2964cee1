// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Stages on a device, a point a thread. For a stage y of dimensions a, b:
//
//   for abo in (A B + 255) / 256            block_x
//     for abi in 256                        thread_x, masked at the end
//       the terms of a reduction, one after the other, in registers
//
//   schedules::gpu_points(s, s[y]);
//
// Neighbouring threads have neighbours of the last dimension, so that they read and write whole lines. Right for every extent;
// no sum is regrouped. Refused: a processor, a stage without dimensions, a scatter or recurrence, more threads than a block
// has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuPointsOptions {
  int threads = 256;      // of a block
  bool registers = true;  // sums of one value are in registers, of several in memory; false: all in memory
};

void gpu_points(Schedule& s, const Stage& stage, const GpuPointsOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
