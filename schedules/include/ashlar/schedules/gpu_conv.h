// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_conv: schedules a convolution of two image dimensions on a device (ashlar/ops/conv.h, one group), as one launch: a sum
// over channels and a window of x[n, c, h stride + r dilation, w stride + s dilation] times w[o, c, r, s], in either layout.
//
//   const auto y = ops::conv2d(x, w, bias, {.padding = {1, 1}});
//   schedules::gpu_conv(s, s[y.sum], s[y.result]);          // the same stage twice, where the sum is the result
//
//   for n, for bo (64 channels)                 block_z, block_y
//     for bh (8 rows), for bw (32 columns)      block_x
//       for to in 8, for tw in 32               thread_y, thread_x
//         sums, 8 channels x 8 rows in registers:
//           for co (4 at a time)
//             x tile, w tile                    shared memory, copied by all threads; zeros past the end
//             for ci in 4, for r, for s         unrolled up to 9 taps: what several of them meet is read once
//               8 x 8 sums
//         8 x 8 results
//
// The padded image is computed where a tile of x is copied, and is not stored. Neighbouring threads have neighbouring columns,
// so that they read neighbours of the tile; the channels of a warp are the same, so that its weights are one access. The sums
// of the library's convolutions keep their order, which is that of channels, rows and columns of the window. Correct for every
// extent.
//
// On CUDA devices from sm_80 on, convolutions of f16 and bf16 in channels_last with sums in f32 are products on tensor cores,
// one for each tap of the window (gpu_conv_tensor.cpp), if strides are 1, the channels of x are a number that 16 divides, those
// of the result a number that 8 divides, the window has at most 25 taps, and no block is given. They add floats in an order of
// their own (docs/ir.md, "Tensor cores"); `tensor_cores = false` keeps the order.
//
// Refused: a processor; a stage that is no such sum; groups; more threads or shared memory than a block of the target has.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuConvOptions {
  // Channels, rows and columns of a block's results. 0: 64, 8 and 32; fewer where that covers a small result, or where a block
  // of the device has fewer threads.
  int block_o = 0, block_h = 0, block_w = 0;
  int thread_o = 8;          // channels of a thread; it has all rows of its column
  int block_c = 0;           // channels of x between two copies; 0: 4, or fewer if the tiles of a large window need it
  bool tensor_cores = true;  // where they can take it and no block is given: sums of floats are rounded otherwise
};

// `result`: what is computed of each sum, at its own point, or the sum itself.
void gpu_conv(Schedule& s, const Stage& sum, const Stage& result, const GpuConvOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
