// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// tile_matmul: schedules a sum of products for a target with tiles (docs/tiles.md): each block computes a tile of results by
// mma. It takes products of matrices and convolutions, with any batch, with transposed factors, with factors that are formulas,
// and with a stage that is computed from each result.
//
//   schedules::tile_matmul(s, s[product], s[result]);          result(i, j) is computed from product(i, j)
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
// The dimensions that only one factor has are the rows of the matrix, those that only the other has are its columns, and those
// of both are a batch. The type, the target and constant extents determine the extents of tiles. An mma adds floats in any
// order (docs/tiles.md, "mma"), but never rounds f32 to tf32. The schedule is correct for every extent.
//
// If the extents are numbers, the blocks would occupy at most half of the multiprocessors, and the sum has at least 1024 terms,
// the sum is split into parts of at least 512 terms ("split k"):
//
//   for p, b, io; for jo                       a launch: parts(p, ..) = the product of a part of the terms
//   for b, io / 8; for jo / 128                a second one: product = the sum of the parts, in their order; result
//
// Repeated runs give the same bits. `part_k` asks for parts of other products. If extents are Symbols, the default schedule
// makes a variant for calls with few blocks. A product with several sums, such as a convolution, has no parts.
//
// Refused: a target without tiles; a stage that is not a sum of products of two factors with dimensions of their own; types
// without an mma; a result whose dimensions differ from those of the product.
#include <cstdint>

#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct TileMatmulOptions {
  int rows = 0, columns = 0;  // of a tile of results; 0: by type and target
  int terms = 0;              // in one step along the sum; 0: by type and target
  // Terms of a result that one block adds, rounded up to whole steps. 0: as described above. all_k: all of them.
  std::int64_t part_k = 0;
  static constexpr std::int64_t all_k = INT64_MAX;
};

void tile_matmul(Schedule& s, const Stage& product, const TileMatmulOptions& o = {}, Where where = Where::current());
void tile_matmul(Schedule& s, const Stage& product, const Stage& result, const TileMatmulOptions& o = {},
                 Where where = Where::current());

}  // namespace ashlar::schedules
