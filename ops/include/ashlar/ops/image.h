// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Images: colors, window filters, morphology. Pixels are floats or integers. Operators on integers compute in f32, then round
// to nearest and clamp, unless their comment says otherwise.
//
//   Tensor gray = ops::rgb_to_grey(photo);                                           [H, W, 3] -> [H, W]
//   auto soft = ops::gaussian_blur(gray, 1.5);                                       s[soft.stages[0]]...
//
// Filters work on two dimensions, by default the last two, and treat the others as a batch. PadMode says which elements they
// see outside the image; the default is reflect, as in OpenCV. Extents of filtered dimensions must be at least 1: numbers, or
// Symbols with {.min = 1}.
#include <array>
#include <ashlar/ops/shape.h>

namespace ashlar::ops {

namespace detail {

Type pixel_type(Type t);
Expr to_pixel(Type type, const Expr& e);
// A stage that maps the three colors along `axis` to three others, f(colors).
template <class F>
Tensor recolored(const char* op, const Tensor& x, int axis, Where where, F f) {
  const int d = dimension(op, axis, x.rank(where), where);
  expect_extent(op, "x", x, d, ir::index(3), "three colors", where);
  const Type type = x.type(where), wide = pixel_type(type);
  return compute(
      op, x.shape(where),
      [&](Indices i) {
        const auto channel = [&](int c) { return wide(x(i.with(d, c), where)); };
        const std::array<Expr, 3> to = f(std::array<Expr, 3>{channel(0), channel(1), channel(2)});
        return to_pixel(type, select(i[d] == 0, to[0], select(i[d] == 1, to[1], to[2])));
      },
      where);
}

}  // namespace detail

// ---- colors: three channels along the given axis, by default the last -----------------------------------------------------
// 0.299 R + 0.587 G + 0.114 B (BT.601). The result lacks the axis.
Tensor rgb_to_grey(const Tensor& x, int axis = -1, Where where = Where::current());
// Y, Cb, Cr in full range, as in JPEG (BT.601). Chroma is centered in the range: at 1/2, or 128 for u8. Takes floats and
// unsigned integers.
Tensor rgb_to_ycbcr(const Tensor& x, int axis = -1, Where where = Where::current());
// The inverse: with centered chroma, R = Y + 1.402 Cr, B = Y + 1.772 Cb, and G follows from Y.
Tensor ycbcr_to_rgb(const Tensor& x, int axis = -1, Where where = Where::current());
// Hue, saturation and value, for floats in [0, 1]. Hue is in turns; it is 0 for gray.
Tensor rgb_to_hsv(const Tensor& x, int axis = -1, Where where = Where::current());
// The inverse. Hue may be any number of turns.
Tensor hsv_to_rgb(const Tensor& x, int axis = -1, Where where = Where::current());

// ---- filters ---------------------------------------------------------------------------------------------------------------

struct FilterOptions {
  PadMode border = PadMode::reflect;  // PadMode::constant sees 0
  std::array<int, 2> axes = {-2, -1};
};
struct Filtered {
  std::vector<Tensor> stages;  // one for each axis, in the wide type
  Tensor result;
  operator Tensor() const { return result; }
};

// A weighted sum over neighbors. Each axis has an odd number of weights.
Filtered separable_filter(const Tensor& x, const std::vector<double>& down, const std::vector<double>& across,
                          const FilterOptions& o = {}, Where where = Where::current());
// A Gaussian filter: weights exp(-d^2 / (2 sigma^2)) for distances d up to the radius (0: three sigma), normalized.
Filtered gaussian_blur(const Tensor& x, double sigma, int radius = 0, const FilterOptions& o = {},
                       Where where = Where::current());
// The mean of (2 ry + 1) (2 rx + 1) neighbors. box_filter has the same cost for every window size.
Filtered box_blur(const Tensor& x, int ry, int rx, const FilterOptions& o = {}, Where where = Where::current());
// Sobel's derivatives across and down, smoothed by 1 2 1 along the other axis. Floats.
struct Sobel {
  Filtered across, down;
};
Sobel sobel(const Tensor& x, const FilterOptions& o = {}, Where where = Where::current());

// The median of 3x3 elements: sorts each column of three, then takes the median of the largest low, the median middle and the
// smallest high element (Paeth, Median finding on a 3x3 grid, 1990). The result has the type of x.
struct Median {
  Tensor low, middle, high;
  Tensor result;
  operator Tensor() const { return result; }
};
Median median3x3(const Tensor& x, const FilterOptions& o = {}, Where where = Where::current());

// ---- morphology: the largest or smallest element of (2 ry + 1) (2 rx + 1) neighbors inside of the image

Filtered dilate(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                Where where = Where::current());
Filtered erode(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
               Where where = Where::current());
struct Morphology {
  Filtered first, second;
  Tensor result;
  operator Tensor() const { return result; }
};
// dilate of erode: removes bright details that are smaller than the window.
Morphology morphology_open(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                           Where where = Where::current());
// erode of dilate: removes dark details that are smaller than the window.
Morphology morphology_close(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                            Where where = Where::current());

}  // namespace ashlar::ops
