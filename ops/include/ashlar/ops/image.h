// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Images: colours, filters over windows, morphology. Values are floats or integers; integers are computed in f32 and come back
// rounded to nearest and clamped, unless said otherwise.
//
//   Tensor grey = ops::rgb_to_grey(photo);                                           [H, W, 3] -> [H, W]
//   auto soft = ops::gaussian_blur(grey, 1.5);                                       s[soft.stages[0]]...
//
// Filters go over two dimensions, the last two unless `axes` says others, and do the same for all others. What is outside of
// the image is what PadMode says (reflect, as OpenCV's default); an image that is filtered has extents of at least 1: numbers,
// or {.min = 1}.
#include <array>
#include <ashlar/ops/shape.h>

namespace ashlar::ops {

namespace detail {

Type pixel_type(Type t);
Expr to_pixel(Type type, const Expr& e);
// Values of an image whose `axis` has three colours: f gets them and gives three.
template <class F>
Tensor recoloured(const char* op, const Tensor& x, int axis, Where where, F f) {
  const int d = dimension(op, axis, x.rank(where), where);
  expect_extent(op, "x", x, d, ir::index(3), "three colours", where);
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

// ---- colours; the axis of the three is the last one, or as given -----------------------------------------------------------
// 0.299 R + 0.587 G + 0.114 B (BT.601); without the axis.
Tensor rgb_to_grey(const Tensor& x, int axis = -1, Where where = Where::current());
// Y, Cb, Cr of the full range, as JPEG has them (BT.601); chroma about half of the range: 1/2, or 128 of u8. Floats and
// unsigned integers.
Tensor rgb_to_ycbcr(const Tensor& x, int axis = -1, Where where = Where::current());
// And back: R = Y + 1.402 Cr, B = Y + 1.772 Cb, chroma without the half, and G what Y leaves.
Tensor ycbcr_to_rgb(const Tensor& x, int axis = -1, Where where = Where::current());
// Hue, saturation and value of floats in [0, 1], hue in turns; of grey the hue is 0.
Tensor rgb_to_hsv(const Tensor& x, int axis = -1, Where where = Where::current());
// And back, of any hue: whole turns count nothing.
Tensor hsv_to_rgb(const Tensor& x, int axis = -1, Where where = Where::current());

// ---- filters ---------------------------------------------------------------------------------------------------------------

struct FilterOptions {
  PadMode border = PadMode::reflect;  // PadMode::constant: 0
  std::array<int, 2> axes = {-2, -1};
};
struct Filtered {
  std::vector<Tensor> stages;  // one an axis, in the wide type
  Tensor result;
  operator Tensor() const { return result; }
};

// A sum over neighbours with given weights, an odd number along each axis.
Filtered separable_filter(const Tensor& x, const std::vector<double>& down, const std::vector<double>& across,
                          const FilterOptions& o = {}, Where where = Where::current());
// exp(-d^2 / 2 sigma^2) of a distance d up to the radius (0: three sigma), normalised.
Filtered gaussian_blur(const Tensor& x, double sigma, int radius = 0, const FilterOptions& o = {},
                       Where where = Where::current());
// The mean over (2 ry + 1) (2 rx + 1) neighbours. For windows of any size at one cost see box_filter.
Filtered box_blur(const Tensor& x, int ry, int rx, const FilterOptions& o = {}, Where where = Where::current());
// Derivatives across and down, by 1 2 1 along the other axis (Sobel), of floats.
struct Sobel {
  Filtered across, down;
};
Sobel sobel(const Tensor& x, const FilterOptions& o = {}, Where where = Where::current());

// The middle one of 3x3 elements: columns of three are sorted, and of them the largest low, the middle middle and the smallest
// high one compared (Paeth, Median finding on a 3x3 grid, 1990). Of the type of x.
struct Median {
  Tensor low, middle, high;
  Tensor result;
  operator Tensor() const { return result; }
};
Median median3x3(const Tensor& x, const FilterOptions& o = {}, Where where = Where::current());

// ---- morphology: the largest and the smallest element of a window of (2 ry + 1) (2 rx + 1), what is outside takes no part

Filtered dilate(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                Where where = Where::current());
Filtered erode(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
               Where where = Where::current());
struct Morphology {
  Filtered first, second;
  Tensor result;
  operator Tensor() const { return result; }
};
// dilate of erode: what is brighter than its surroundings and smaller than the window is gone.
Morphology morphology_open(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                           Where where = Where::current());
// erode of dilate: what is darker and smaller is.
Morphology morphology_close(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                            Where where = Where::current());

}  // namespace ashlar::ops
