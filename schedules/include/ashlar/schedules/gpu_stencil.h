// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Windows over the last two dimensions on a device, y(.., i, j) of x(.., i + r, j + c): filters, poolings, morphology. The
// stages are named in the order in which they are computed, the last one is the result; then what of their sources is copied.
//
//   schedules::gpu_stencil(s, {s[y]}, {x});
//   schedules::gpu_stencil(s, {s[blur_x], s[blur_y]}, {x});       // blur_x of a tile in shared memory
//
//   for b                                 block_z: the other dimensions, where there are any
//     for io, for jo (32 x 32)            block_y, block_x
//       x: the tile and what its windows reach, in shared memory        copied by 32 x 8 threads
//       stages before the result: what the tile needs, in shared memory
//       for iu in 4, for it in 8, for ji in 32                          thread_y, thread_x
//         terms of a window one after the other, in registers
//
// Without sources every thread reads its window from memory, which a cache serves as well while tiles of neighbouring blocks
// are in it. The terms keep their order. Right for every extent. Refused: a processor, no stage, a result of fewer than two
// dimensions, a scatter or recurrence, more threads than a block has; what a tile reads, where that is no constant number
// of elements (data choose the place, borders are mirrored); a stage before the result that others read too.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuStencilOptions {
  int threads_i = 8, threads_j = 32;  // of a block
  int rows = 4;                       // of a thread, threads_i apart
};

void gpu_stencil(Schedule& s, const std::vector<Stage>& stages, const std::vector<Tensor>& sources = {},
                 const GpuStencilOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
