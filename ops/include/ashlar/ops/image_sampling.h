// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Sampling an image between its elements, by a map or a matrix, and demosaicing.
//
//   Tensor y = ops::warp_affine(x, matrix, H, W);          matrix: [2, 3], from positions in y to positions in x
#include <ashlar/ops/image.h>

namespace ashlar::ops {

enum class Sampling { nearest, linear };
struct WarpOptions {
  Sampling sampling = Sampling::linear;
  bool repeat = false;  // outside x, repeat the nearest edge instead of using `outside`
  double outside = 0;
};

namespace detail {

// x, [..., H, W], at a row and a column of f32. `i` has the other indices.
Expr sample(const Tensor& image, const Indices& i, const Expr& row, const Expr& column, const WarpOptions& o, Type wide,
            Where where);
template <class F>
Tensor warped(const char* op, const Tensor& x, const Expr& height, const Expr& width, const WarpOptions& o, Where where,
              F place) {
  expect_numbers(op, "x", x, where);
  expect_rank_from(op, "x", x, 2, where);
  const int r = x.rank(where) - 2;
  const Type type = x.type(where), wide = pixel_type(type);
  return compute(
      op, x.shape(where).with(r, height, where).with(r + 1, width, where),
      [&](Indices i) {
        const std::array<Expr, 2> at = place(i[r], i[r + 1]);
        return to_pixel(type, sample(x, i, at[0], at[1], o, wide, where));
      },
      where);
}

}  // namespace detail

// y(..., r, c) = x at row rows(r, c) and column columns(r, c). rows, columns: [height, width], f32. x: [..., H, W], with
// extents of at least 1. A NaN position counts as outside.
Tensor remap(const Tensor& x, const Tensor& rows, const Tensor& columns, const WarpOptions& o = {},
             Where where = Where::current());
// y at row r and column c is x at row m10 c + m11 r + m12 and column m00 c + m01 r + m02. The matrix, f32 [2, 3], is applied to
// (column, row, 1), as by OpenCV's warpAffine with WARP_INVERSE_MAP.
Tensor warp_affine(const Tensor& x, const Tensor& matrix, const Extent& height, const Extent& width, const WarpOptions& o = {},
                   Where where = Where::current());
// The same with a matrix [3, 3] and a division by the third coordinate.
Tensor warp_perspective(const Tensor& x, const Tensor& matrix, const Extent& height, const Extent& width,
                        const WarpOptions& o = {}, Where where = Where::current());

// Converts the mosaic of a sensor, [H, W], to [H, W, 3]. A color that a pixel lacks is the mean of the two or four nearest
// pixels that have it (bilinear). Edges are reflected, which continues the pattern, so extents must be at least 2. `pattern`
// names the first two rows: rggb is red, green, green, blue.
enum class Bayer { rggb, bggr, grbg, gbrg };
Tensor demosaic(const Tensor& x, Bayer pattern = Bayer::rggb, Where where = Where::current());

}  // namespace ashlar::ops
