// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_transpose: schedules a transposition on a device, y[.., i, .., j] = x[.., j, .., i], whose neighbours in x lie apart in
// y.
//
//   for b                                  block_z: the other dimensions, if any
//     for io, for jo in 32                 block_y, block_x
//       tile of x, 32 x 33 in shared memory
//         for r in 8, for c in 32          thread_y, thread_x: rows of x
//       for it in 8, for ji in 32          thread_y, thread_x: rows of y
//
//   schedules::gpu_transpose(s, s[y], x);
//
// On CUDA a thread reads and writes 16 bytes of a row where the rows of a call begin and end at multiples of 16 bytes: 8
// threads for each of 32 rows of f32.
//
// Reads and writes are whole lines. The rows of the tile have a gap that moves them to different banks, so a column is read
// without bank conflicts (Ruetsch and Micikevicius, Optimizing matrix transpose in CUDA, 2009). Correct for every extent.
// Refused: a processor, a stage that does not copy elements of the tensor or that reads neighbours as neighbours, more threads
// than a block of the target has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuTransposeOptions {
  int tile = 0;  // rows and columns; 0: 32, on CUDA 64 for types of fewer than 4 bytes
  // Rows of a tile that are copied at a time; a block has so many threads for each element of a row, on CUDA for each 16 bytes.
  // 0: 8, or fewer on small devices; on CUDA as many as 256 threads copy
  int rows = 0;
};

void gpu_transpose(Schedule& s, const Stage& stage, const StageRef& source, const GpuTransposeOptions& o = {},
                   Where where = Where::current());

}  // namespace ashlar::schedules
