// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Images by what is in them: histograms and their equalisation, sums over windows of any size, corners, the bilateral grid.
#include <ashlar/ops/image.h>

namespace ashlar::ops {

// How many pixels have each value: x of u8, any shape of rank 1 to 4; [256] of i32.
Tensor histogram(const Tensor& x, Where where = Where::current());
// Values spread so that as many pixels have each: v becomes round(255 (below(v) - first) / (n - first)), below(v) the pixels up
// to v, first those of the smallest value there is, as OpenCV's equalizeHist. An image of one value stays. Fewer than 2^31
// pixels.
struct Equalised {
  Tensor counts, below, first, table, result;
  operator Tensor() const { return result; }
};
Equalised equalise_histogram(const Tensor& x, Where where = Where::current());

// Entry (y, x) is the sum of all elements before row y and column x (Crow, Summed-area tables for texture mapping, 1984). x:
// [H, W]; [H + 1, W + 1] in the accumulator, in u32 of unsigned bytes. Extents of at least 1.
struct IntegralImage {
  Tensor down, result;
  operator Tensor() const { return result; }
};
IntegralImage integral_image(const Tensor& x, Where where = Where::current());
// The mean over a square window of 2 radius + 1, cut at the edges of the image, at one cost for any radius. x: [H, W] of u8,
// extents from 1 to 4096 as the facts of its Symbols say, so that 32 bits hold all sums; the radius a number or a Scalar of
// i32.
struct BoxFilter {
  Tensor down, table, result;
  operator Tensor() const { return result; }
};
BoxFilter box_filter(const Tensor& x, Operand radius, Where where = Where::current());

// det - k trace^2 of the gradients' products summed over 3x3 windows (Harris and Stephens, A combined corner and edge detector,
// 1988), gradients by Sobel's filter / 8. x: [H, W] of floats, [H - 4, W - 4].
struct Harris {
  Tensor gx, gy, result;
  operator Tensor() const { return result; }
};
Harris harris(const Tensor& x, double k = 0.04, Where where = Where::current());

// A bilateral filter by a grid (Chen, Paris and Durand, Real-time edge-aware image processing with the bilateral grid, 2007):
// smooths what is alike and keeps edges. Every pixel goes into the cell of its place and its value; the cells, a small volume,
// are blurred along each of their axes by 1 4 6 4 1; each pixel reads the volume at its own place and value, between the cells.
// x: [H, W] of u8, extents of at least 1; f32.
//
// What falls into a cell is one number, how many in its upper half and the sum of their values in the lower: 256 pixels of 255
// fit 16 bits, which is what bounds the edge of a cell to 16. So all rows may add to one grid by indivisible additions of
// integers, the same in any order.
struct BilateralGrid {
  Tensor grid;                                      // [rows, columns, levels], u32
  std::array<Tensor, 2> along_z, along_x, along_y;  // sums and counts, f32
  Tensor result;
  operator Tensor() const { return result; }
};
BilateralGrid bilateral_grid(const Tensor& x, int cell = 8, int step = 32, Where where = Where::current());

}  // namespace ashlar::ops
