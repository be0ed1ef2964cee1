// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_stencil: schedules windows over the last two dimensions on a device, where y(.., i, j) reads x(.., i + r, j + c):
// filters, pooling, morphology. List the stages in the order of computation, ending with the result; then the sources to copy.
//
//   schedules::gpu_stencil(s, {s[y]}, {x});
//   schedules::gpu_stencil(s, {s[blur_x], s[blur_y]}, {x});       // a tile of blur_x lies in shared memory
//
//   for b                                 block_z: the other dimensions, if any
//     for io, for jo (32 x 32)            block_y, block_x
//       x: the tile and the halo of its windows, in shared memory       copied by 32 x 8 threads
//       stages before the result: as much as the tile needs, in shared memory
//       for iu in 4, for it in 8, for ji in 32                          thread_y, thread_x
//         the terms of a window in their order, in registers
//
// Without sources, every thread reads its window from global memory. That is as fast while the cache holds the tiles of
// neighboring blocks. Sums keep their order. Correct for every extent. Refused: a CPU target, an empty list, a result with
// fewer than two dimensions, a scatter, a recurrence, more threads than a block may have, a tile that reads a variable number
// of elements (indices from data, mirrored borders), a stage before the result that has other readers.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuStencilOptions {
  int threads_i = 0, threads_j = 0;  // threads of a block; 0: 8 x 32, or 4 x 32 if blocks have at most 128
  int rows = 4;                      // rows of one thread, threads_i apart
};

void gpu_stencil(Schedule& s, const std::vector<Stage>& stages, const std::vector<Tensor>& sources = {},
                 const GpuStencilOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
