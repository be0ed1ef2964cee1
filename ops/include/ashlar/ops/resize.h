// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Resizing along any dimensions, one after the other: nearest, linear (bilinear over two dimensions), cubic (bicubic).
//
//   auto y = ops::resize(x, {{2, OH}, {3, OW}}, {.mode = ops::ResizeMode::linear});           x: [N, C, H, W]
//
// Where result i stands in x, of n elements, when there are m:
//   half_pixel       (i + 1/2) n / m - 1/2          centres aligned (PyTorch's align_corners = false, OpenCV)
//   align_corners    i (n - 1) / (m - 1)            first and last elements stay; 0 where m = 1
//   asymmetric       i n / m
// Elements outside repeat the edge. Extents of resized dimensions are at least 1: numbers, or {.min = 1}.
//
// nearest takes the floor of the place for asymmetric (PyTorch's nearest), else the nearest element, of two the lower one, in
// exact arithmetic. It is one stage and takes any type. linear and cubic have one stage a dimension, computed in
// accumulator(type), f32 of integers, their places too; cubic has another one for the weights of each place. Integers are
// rounded to nearest and clamped at the end.
#include <array>
#include <ashlar/ops/common.h>

namespace ashlar::ops {

enum class ResizeMode { nearest, linear, cubic };
enum class ResizePlaces { half_pixel, align_corners, asymmetric };
struct ResizeOptions {
  ResizeMode mode = ResizeMode::linear;
  ResizePlaces places = ResizePlaces::half_pixel;
  double a = -0.75;  // of cubic: -3/4 as PyTorch and OpenCV, -1/2 as Keys
};
struct ResizeTo {
  int axis;
  Expr extent;
  ResizeTo(int d, const Expr& e) : axis(d), extent(e) {}
  ResizeTo(int d, int e) : axis(d), extent(ir::index(e)) {}
};
struct Resized {
  std::vector<Tensor> stages;  // in the order of the dimensions given; the last one is the result, but for its type
  Tensor result;
  operator Tensor() const { return result; }
};

namespace detail {

// Of every place along a dimension of m: sample 0, and the weights of samples -1 to 2.
struct CubicPlaces {
  Tensor base;  // i32
  std::array<Tensor, 4> weights;
};
// The element of x that lies `behind` sample 0 along d; elements outside repeat the edge.
Expr sample(const Tensor& x, const Indices& i, int d, const Expr& n, const Expr& base, int behind, Type wide, Where where);
Expr cubic(const Tensor& x, const Indices& i, int d, const Expr& n, const CubicPlaces& p, Type wide, Where where);
Expr linear(const Tensor& x, const Indices& i, int d, const Expr& n, const Expr& m, const ResizeOptions& o, Type wide,
            Where where);

}  // namespace detail

Resized resize(const Tensor& x, const std::vector<ResizeTo>& to, const ResizeOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::ops
