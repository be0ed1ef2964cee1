// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_transpose: schedules a transposition on a device, y[.., i, .., j] = x[.., j, .., i], where neighbors in x are far apart
// in y.
//
//   for b                                  block_z: the other dimensions, if any
//     for io, for jo in 32                 block_y, block_x
//       tile of x, 32 x 33 in shared memory
//         for r in 8, for c in 32          thread_y, thread_x: rows of x
//       for it in 8, for ji in 32          thread_y, thread_x: rows of y
//
//   schedules::gpu_transpose(s, s[y], x);
//
// On CUDA, a thread reads and writes 16 bytes of a row if the rows of a call begin and end at multiples of 16 bytes: 8 threads
// for each of 32 rows of f32.
//
// Reads and writes cover whole cache lines. Padding moves the rows of the tile to different banks, so reading a column causes
// no bank conflicts (Ruetsch and Micikevicius, Optimizing matrix transpose in CUDA, 2009). Correct for every extent. Refused: a
// CPU target, a stage that does not copy elements of the tensor or in which neighbors stay neighbors, more threads than a
// block may have.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuTransposeOptions {
  int tile = 0;  // rows and columns; 0: 32, on CUDA 64 for types of fewer than 4 bytes
  // Rows of a tile to copy at a time. A block has this many threads for each element of a row, or on CUDA for each 16 bytes. 0:
  // 8, or fewer on small devices; on CUDA, as many as 256 threads copy.
  int rows = 0;
};

void gpu_transpose(Schedule& s, const Stage& stage, const StageRef& source, const GpuTransposeOptions& o = {},
                   Where where = Where::current());

}  // namespace ashlar::schedules
