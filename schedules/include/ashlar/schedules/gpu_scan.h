// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_scan: schedules a scan along the last dimension on a device, as three launches, or five for long rows. They compute the
// totals of parts of 2048 steps, a scan of the totals, and each part from its start value. For t[i] = t[i - 1] + x[i]:
//
//   total[p] = sum of part p                a block of threads for each part
//   carry[p] = carry[p - 1] + total[p - 1]  one thread for each row; with more than 256 parts, or an unknown number of them,
//                                           the same again with parts of 256
//   for p in (N + 2047) / 2048              block_x; rows: block_y
//     each thread sums 8 steps, one scans these sums, each thread scans its 8 steps: shared memory
//     t[i] = carry + sum before the 8 steps + their scan           thread_x
//
//   schedules::gpu_scan(s, s[t]);
//
// The method is that of Blelloch, Prefix sums and their applications, 1990. Terms keep their order but are regrouped, so floats
// round differently. Correct for every extent. Refused: a CPU target, a stage that is not a scan along its last dimension, a
// reducer that may not be regrouped.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuScanOptions {
  int part = 0;  // steps for a block; 0: 2048, or fewer for short rows and small blocks
  int each = 8;  // steps for a thread
};

void gpu_scan(Schedule& s, const Stage& stage, const GpuScanOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
