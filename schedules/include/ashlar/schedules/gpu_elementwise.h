// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_elementwise: schedules a stage that computes each point by itself on a CUDA device, with accesses of 16 bytes and several
// elements for each thread. For a stage y[.., j] of f32 (4 elements fill 16 bytes):
//
//   for ro in (rows + 7) / 8                block_y: all dimensions but the last, fused
//     for jo in (N + 511) / 512             block_x
//       for ri in 8                         thread_y
//         for jt in 32                      thread_x
//           for ju in 4                     unrolled
//             for jv in 4                   vectorized, where the rows of a call begin and end at multiples of 16 bytes
//
//   schedules::gpu_elementwise(s, s[y]);
//
// Other calls take a second kernel, in which neighboring threads access neighboring elements one by one. A thread finds its
// place without a division if there are at most two dimensions. Correct for every extent; a row that is shorter than 32 vectors
// leaves threads idle, so the number of threads along a row follows its length if that is a number. Refused: other devices, a
// stage without dimensions, a reduction, a scatter, a recurrence, rows whose length is a number but not a multiple of a vector,
// more threads than a block of the target has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuElementwiseOptions {
  int threads = 0;  // in a block; 0: 256, or as many as the device has
  int vectors =
      0;          // of one thread, as far apart as the threads along a row reach; 0: 4, or fewer for bytes and costly elements
  int lanes = 0;  // of a vector; 0: as many elements as 16 bytes have of the widest type that is loaded or stored
};

void gpu_elementwise(Schedule& s, const Stage& stage, const GpuElementwiseOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
