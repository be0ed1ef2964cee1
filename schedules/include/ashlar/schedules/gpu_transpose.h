// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elements that change places on a device: y[.., i, .., j] = x[.., j, .., i], where neighbours of x lie apart in y.
//
//   for b                                  block_z: the other dimensions, where there are any
//     for io, for jo in 32                 block_y, block_x
//       tile of x, 32 x 33 in shared memory
//         for r in 8, for c in 32          thread_y, thread_x: rows of x
//       for it in 8, for ji in 32          thread_y, thread_x: rows of y
//
//   schedules::gpu_transpose(s, s[y], x);
//
// Both ends are whole lines; rows of the tile begin in other banks, so that a column is read without conflicts (Ruetsch and
// Micikevicius, Optimizing matrix transpose in CUDA, 2009). Right for every extent. Refused: a processor, a stage that does not
// copy elements of the tensor or reads neighbours of it as neighbours, more threads than a block has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuTransposeOptions {
  int tile = 32;  // rows and columns of a tile
  int rows = 8;   // of a tile at a time; tile * rows threads
};

void gpu_transpose(Schedule& s, const Stage& stage, const StageRef& source, const GpuTransposeOptions& o = {},
                   Where where = Where::current());

}  // namespace ashlar::schedules
