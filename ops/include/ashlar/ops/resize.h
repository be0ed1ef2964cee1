// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Resizing along any dimensions, one after the other: nearest, linear (bilinear in two dimensions) and cubic (bicubic).
//
//   auto y = ops::resize(x, {{2, OH}, {3, OW}}, {.mode = ops::ResizeMode::linear});           x: [N, C, H, W]
//
// The position in x (extent n) of element i of the result (extent m):
//   half_pixel       (i + 1/2) n / m - 1/2          aligns centers (PyTorch's align_corners = false, OpenCV)
//   align_corners    i (n - 1) / (m - 1)            keeps the first and last elements in place; 0 if m = 1
//   asymmetric       i n / m
// Positions outside x repeat the edge. Extents of resized dimensions must be at least 1: numbers, or Symbols with {.min = 1}.
//
// With asymmetric, nearest rounds the position down (PyTorch's nearest); otherwise it takes the nearest element, the lower one
// in a tie. Its arithmetic is exact, and it is one stage for any type. linear and cubic have one stage for each dimension.
// Values and positions are computed in accumulator(type), or f32 for integers. cubic has another stage for the weights of each
// position. Integer results are rounded to nearest and clamped at the end.
#include <array>
#include <ashlar/ops/common.h>

namespace ashlar::ops {

enum class ResizeMode { nearest, linear, cubic };
enum class ResizePlaces { half_pixel, align_corners, asymmetric };
struct ResizeOptions {
  ResizeMode mode = ResizeMode::linear;
  ResizePlaces places = ResizePlaces::half_pixel;
  double a = -0.75;  // for cubic: -3/4 as in PyTorch and OpenCV, -1/2 as Keys
};
struct ResizeTo {
  int axis;
  Expr extent;
  ResizeTo(int d, const Expr& e) : axis(d), extent(e) {}
  ResizeTo(int d, int e) : axis(d), extent(ir::index(e)) {}
};
struct Resized {
  std::vector<Tensor> stages;  // one for each given dimension; the last one is the result before its conversion
  Tensor result;
  operator Tensor() const { return result; }
};

namespace detail {

// For each position along a dimension of m elements: the place of sample 0, and the weights of samples -1 to 2.
struct CubicPlaces {
  Tensor base;  // i32
  std::array<Tensor, 4> weights;
};
// The element of x at sample 0 + `behind` along d. Positions outside x repeat the edge.
Expr sample(const Tensor& x, const Indices& i, int d, const Expr& n, const Expr& base, int behind, Type wide, Where where);
Expr cubic(const Tensor& x, const Indices& i, int d, const Expr& n, const CubicPlaces& p, Type wide, Where where);
Expr linear(const Tensor& x, const Indices& i, int d, const Expr& n, const Expr& m, const ResizeOptions& o, Type wide,
            Where where);

}  // namespace detail

Resized resize(const Tensor& x, const std::vector<ResizeTo>& to, const ResizeOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::ops
