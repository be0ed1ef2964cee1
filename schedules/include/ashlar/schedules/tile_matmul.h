// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// tile_matmul: schedules a sum of products for a target with tiles, as the mma of a block, with any batch, transposed factors,
// a factor that is a formula, and what is computed of each result: products of matrices and convolutions.
//
//   schedules::tile_matmul(s, s[product], s[result]);          result(i, j) is computed of product(i, j)
//
//   for b, io                                  block_x: batches and rows, as one loop
//     for jo                                   block_y
//       product: for ko                        serial: the sums of the tile are carried
//                  ii 128, ji 256, ki 64       one mma: f16, bf16, 8-bit floats, bytes; f32 and f64 by fma
//       result: ii 128, ji 256
//
//   y(n, o, h, w) = sum over c, r, s of x(n, c, h + r, w + s) K(o, c, r, s)
//
//   for n, oo, ho                              block_x
//     for wo                                   block_y
//       for co, r, s                           serial
//         oi 64 x (hi 8, wi 16)                one mma, whose columns are pixels; x is gathered
//
// The dimensions of one factor alone are the rows, those of the other the columns of the matrix; what both have is a batch. The
// extents of tiles follow the type, the target, and extents that are numbers. An mma adds floats in an order of its own
// (docs/tiles.md), and never rounds f32 to tf32. Correct for every extent. Refused: another target, a stage that is no sum of
// products of two factors with dimensions of their own, types that no mma multiplies, a result with other dimensions.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct TileMatmulOptions {
  int rows = 0, columns = 0;  // of a tile of results; 0: by type and target
  int terms = 0;              // of a step
};

void tile_matmul(Schedule& s, const Stage& product, const TileMatmulOptions& o = {}, Where where = Where::current());
void tile_matmul(Schedule& s, const Stage& product, const Stage& result, const TileMatmulOptions& o = {},
                 Where where = Where::current());

}  // namespace ashlar::schedules
