// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Convolutions in the layout channels_blocked: x [N, C/c, H, W, c], w [O/o, C/c, R, S, c, o], y [N, O/o, OH, OW, o], o a
// multiple of a register. Stride and dilation as they come; the image has a rim, so that no window hangs over.
//
//   const auto y = ops::conv2d(x, w, {}, {.padding = {1, 1}, .layout = ops::Layout::channels_blocked, .leave_out_rows = true});
//   schedules::rim(s, s[y.rim], 1, 1);
//   schedules::conv2d(s, s[y.sum], w);
//
//   for n, b                       a block of outputs: its weights stay in the second-level cache
//     for h, wo                    tile_h x tile_w pixels                              n, b, h and wo in parallel, as one loop
//       sums, tile_h x tile_w x o in registers: for c, r, s, ci one row of weights, the pixels' channel broadcast
//       y = sums
//
// Georganas et al., Anatomy of high-performance deep learning convolutions on SIMD architectures, 2018, describe the tile.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct ConvOptions {
  int tile_w = 0;  // pixels of a row in a register tile, as many as the file holds at most; 0: what takes a row least time
  int tile_h = 1;  // rows of pixels in it, 1 where rows outside of the image are left out
  int ahead = 0;   // rows of weights that are asked for before they are needed; 0: they are not
  bool parallel = true;
};
struct RimOptions {
  bool parallel = true;  // all rows of pixels
};

// The image with so many columns around it: copied row by row, a register at a time, those inside without conditions.
void rim(Schedule& s, const Stage& stage, int before, int after, const RimOptions& o = {}, Where where = Where::current());

// The stage is of ops::conv2d in channels_blocked, as it was defined; w its weights, an input or stage. Where the width is a
// Symbol, narrow images have variants with narrower tiles. Refused: another form; a GPU.
void conv2d(Schedule& s, const Stage& stage, const Tensor& w, const ConvOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
