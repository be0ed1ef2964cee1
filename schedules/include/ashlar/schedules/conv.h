// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// conv2d: schedules convolutions in the layout channels_blocked: x [N, C/c, H, W, c], w [O/o, C/c, R, S, c, o],
// y [N, O/o, OH, OW, o]. o is a multiple of the lanes in a register. Any stride and dilation will do. A stage called the rim
// holds the image with its padding, so that every window lies inside it.
//
//   const auto y = ops::conv2d(x, w, {}, {.padding = {1, 1}, .layout = ops::Layout::channels_blocked, .leave_out_rows = true});
//   schedules::rim(s, s[y.rim], 1, 1);
//   schedules::conv2d(s, s[y.sum], w);
//
//   for n, b                       a block of outputs: its weights stay in the second-level cache
//     for h, wo                    tile_h x tile_w pixels                              n, b, h and wo in parallel, as one loop
//       sums, tile_h x tile_w x o in registers: for c, r, s, ci one row of weights times a broadcast channel of the pixels
//       y = sums
//
// The register tile follows Georganas et al., Anatomy of high-performance deep learning convolutions on SIMD architectures,
// 2018.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct ConvOptions {
  // Pixels of a row in a register tile, limited by the number of registers. 0: the width that needs the least time per row.
  int tile_w = 0;
  int tile_h = 1;  // rows of pixels in a register tile; 1 with `leave_out_rows`
  int ahead = 0;   // prefetch distance in rows of weights; 0: none
  bool parallel = true;
};
struct RimOptions {
  bool parallel = true;  // over all rows of pixels
};

// Schedules the stage that pads an image with `before` and `after` columns. It copies row by row, in vectors, and tests nothing
// in the interior.
void rim(Schedule& s, const Stage& stage, int before, int after, const RimOptions& o = {}, Where where = Where::current());

// `stage` is the sum of an ops::conv2d in channels_blocked and has no schedule yet; `w` holds its weights, an input or a stage.
// If the width is a Symbol, narrow images get variants with narrower tiles. Other forms and GPUs are refused.
void conv2d(Schedule& s, const Stage& stage, const Tensor& w, const ConvOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
