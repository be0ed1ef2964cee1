// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Image statistics: histograms and histogram equalization, sums over windows of any size, corners, the bilateral grid.
#include <ashlar/ops/image.h>

namespace ashlar::ops {

// The number of pixels of each value. x: u8, of rank 1 to 4. The result is [256], i32.
Tensor histogram(const Tensor& x, Where where = Where::current());
// Histogram equalization, like OpenCV's equalizeHist: v becomes round(255 (below(v) - first) / (n - first)), where n is the
// number of pixels, below(v) the number with values up to v, and first the number with the smallest value that occurs. An image
// with only one value does not change. The image must have fewer than 2^31 pixels.
struct Equalized {
  Tensor counts, below, first, table, result;
  operator Tensor() const { return result; }
};
Equalized equalise_histogram(const Tensor& x, Where where = Where::current());

// A summed-area table: entry (y, x) is the sum of all elements above row y and left of column x (Crow, Summed-area tables for
// texture mapping, 1984). x: [H, W], with extents of at least 1. The result is [H + 1, W + 1], in the accumulator's type, or in
// u32 for u8 and u16.
struct IntegralImage {
  Tensor down, result;
  operator Tensor() const { return result; }
};
IntegralImage integral_image(const Tensor& x, Where where = Where::current());
// The mean over a square window of 2 radius + 1, cropped at the edges of the image. The cost does not depend on the radius, a
// number or a Scalar of i32. x: [H, W], u8. The extents must be known to lie in 1 to 4096, as numbers or by facts of Symbols,
// so that all sums fit 32 bits.
struct BoxFilter {
  Tensor down, table, result;
  operator Tensor() const { return result; }
};
BoxFilter box_filter(const Tensor& x, Operand radius, Where where = Where::current());

// The Harris corner response: det - k trace^2 of the products of gradients, summed over 3x3 windows (Harris and Stephens, A
// combined corner and edge detector, 1988). Gradients are Sobel's, divided by 8. x: [H, W], floats. The result is [H - 4, W -
// 4].
struct Harris {
  Tensor gx, gy, result;
  operator Tensor() const { return result; }
};
Harris harris(const Tensor& x, double k = 0.04, Where where = Where::current());

// A bilateral filter, which smooths similar pixels and keeps edges, by a grid (Chen, Paris and Durand, Real-time edge-aware
// image processing with the bilateral grid, 2007). Each pixel is added to the cell of its position and value. The grid, a small
// volume, is blurred along each axis by 1 4 6 4 1. Each pixel then reads the grid at its own position and value, interpolating
// between cells. x: [H, W], u8, with extents of at least 1. The result is f32.
//
// A cell is one integer: the number of its pixels in the upper half, the sum of their values in the lower. The sum of 256
// pixels of value 255 fits 16 bits, so a cell may be at most 16 pixels wide. This lets all rows add to one grid with atomic
// integer additions, whose order does not matter.
struct BilateralGrid {
  Tensor grid;                                      // [rows, columns, levels], u32
  std::array<Tensor, 2> along_z, along_x, along_y;  // sums and counts, f32
  Tensor result;
  operator Tensor() const { return result; }
};
BilateralGrid bilateral_grid(const Tensor& x, int cell = 8, int step = 32, Where where = Where::current());

}  // namespace ashlar::ops
