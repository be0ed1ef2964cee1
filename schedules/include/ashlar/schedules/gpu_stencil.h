// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_stencil: schedules windows over the last two dimensions on a device, y(.., i, j) of x(.., i + r, j + c): filters,
// pooling, morphology. List the stages in the order of computation, the last one being the result; then the sources to copy.
//
//   schedules::gpu_stencil(s, {s[y]}, {x});
//   schedules::gpu_stencil(s, {s[blur_x], s[blur_y]}, {x});       // a tile of blur_x lies in shared memory
//
//   for b                                 block_z: the other dimensions, if any
//     for io, for jo (32 x 32)            block_y, block_x
//       x: the tile and what its windows reach, in shared memory        copied by 32 x 8 threads
//       stages before the result: what the tile needs, in shared memory
//       for iu in 4, for it in 8, for ji in 32                          thread_y, thread_x
//         the terms of a window in their order, in registers
//
// Without sources, every thread reads its window from global memory; a cache serves these reads too, while it holds the tiles
// of neighbouring blocks. Sums keep their order. Correct for every extent. Refused: a processor, an empty list, a result of
// fewer than two dimensions, a scatter, a recurrence, more threads than a block of the target has, a tile that reads a number
// of elements that is not constant (data choose the place, borders are mirrored), a stage before the result that has
// other readers.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuStencilOptions {
  int threads_i = 0, threads_j = 0;  // in a block; 0: 8 and 32, or 4 and 32 where a block has 128
  int rows = 4;                      // rows of one thread, threads_i apart
};

void gpu_stencil(Schedule& s, const std::vector<Stage>& stages, const std::vector<Tensor>& sources = {},
                 const GpuStencilOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
