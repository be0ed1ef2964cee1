// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_conv: schedules a convolution on a device (ashlar/ops/conv.h), of two image dimensions and one group, as one launch: the
// sum over channels and a window of x[n, c, h stride + r dilation, w stride + s dilation] w[o, c, r, s], with channels first or
// last. Tensor cores take others too, see below.
//
//   const auto y = ops::conv2d(x, w, bias, {.padding = {1, 1}});
//   schedules::gpu_conv(s, s[y.sum], s[y.result]);          // pass the same stage twice if the sum is the result
//
//   for n, for bo (64 channels)                 block_z, block_y
//     for bh (8 rows), for bw (32 columns)      block_x
//       for to in 8, for tw in 32               thread_y, thread_x
//         sums, 8 channels x 8 rows in registers:
//           for co (4 at a time)
//             x tile, w tile                    shared memory, copied by all threads; zeros past the end
//             for ci in 4, for r, for s         unrolled up to 9 taps; elements under several taps are read once
//               8 x 8 sums
//         8 x 8 results
//
// Padding is applied while a tile of x is copied; the padded image is never stored. Neighboring threads compute neighboring
// columns, so they read neighbors of the tile. All threads of a warp compute the same channels, so one access loads their
// weights. Sums keep the order of the library's definition: channels, then rows and columns of the window. Correct for every
// extent.
//
// On CUDA devices from sm_80 on, convolutions of f16 and bf16 with sums in f32 are products on tensor cores, one for each tap
// of the window, if no block is given: with one to three image dimensions, any strides and dilations, channels first or last,
// and groups. The channels of a group of x are a constant multiple of 16. With channels last, those of the result are a
// constant multiple of 8; of several groups, those of each are a multiple of 16. The window has at most 27 taps, whose tiles
// fit into shared memory. With channels first, tiles are copied by single elements. Tensor cores add floats in an unspecified
// order (docs/ir.md, "Tensor cores"); `tensor_cores = false` keeps the order.
//
// Refused: a CPU target, a stage that is not such a sum, more threads or shared memory than a block may have; and without
// tensor cores, groups and one or three image dimensions.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuConvOptions {
  // Channels, rows and columns that a block computes. 0: 64, 8 and 32, or less if that covers a small result or if the device
  // has smaller blocks.
  int block_o = 0, block_h = 0, block_w = 0;
  int thread_o = 8;          // channels of a thread, which computes all rows of its column
  int block_c = 0;           // channels of x to copy at a time; 0: 4, or fewer if the tiles of a large window would not fit
  bool tensor_cores = true;  // if they can compute it and no block is given; floats are added in another order
};

// `result` is an elementwise stage that reads the sum, or the sum itself.
void gpu_conv(Schedule& s, const Stage& sum, const Stage& result, const GpuConvOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
