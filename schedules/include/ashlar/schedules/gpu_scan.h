// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_scan: schedules a scan along the last dimension on a device, in three launches, or five for long rows: the totals of
// parts of 2048 steps, a scan of these, and each part from what precedes it. For t[i] = t[i - 1] + x[i]:
//
//   total[p] = sum of part p                a block of threads for each part
//   carry[p] = carry[p - 1] + total[p - 1]  one thread for each row; of more than 256 parts, or of a number that is not known,
//                                           in the same way, by parts of 256
//   for p in (N + 2047) / 2048              block_x; rows: block_y
//     each thread sums 8 steps, one scans these sums, each thread scans its 8 steps: shared memory
//     t[i] = carry + what precedes the 8 steps + their scan        thread_x
//
//   schedules::gpu_scan(s, s[t]);
//
// Totals of blocks, then blocks from their start values: Blelloch, Prefix sums and their applications, 1990. Terms keep their
// order, and are regrouped: floats round otherwise. Correct for every extent. Refused: a processor, a stage that is not a scan
// along its last dimension, a reducer that may not be regrouped.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuScanOptions {
  int part = 0;  // steps of a block; 0: 2048, or fewer for short rows and small blocks
  int each = 8;  // of a thread
};

void gpu_scan(Schedule& s, const Stage& stage, const GpuScanOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
