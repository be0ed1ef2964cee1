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
#include <cmath>

#include <ashlar/ops/shape.h>

namespace ashlar::ops {

namespace detail {
inline Type pixel_type(Type t) { return t.is_float() ? accumulator(t) : f32; }
inline Expr to_pixel(Type type, const Expr& e) { return type.is_float() ? type(e) : saturate(type, e); }
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
inline Tensor rgb_to_grey(const Tensor& x, int axis = -1, Where where = Where::current()) {
  const int d = detail::dimension("rgb_to_grey", axis, x.rank(where), where);
  detail::expect_extent("rgb_to_grey", "x", x, d, ir::index(3), "three colours", where);
  const Type type = x.type(where), wide = detail::pixel_type(type);
  return compute(
      "rgb_to_grey", x.shape(where).drop(d, where),
      [&](Indices i) {
        std::vector<Expr> at = detail::list(i);
        at.insert(at.begin() + d, ir::index(0));
        const Indices pixel = detail::point(at);
        const auto channel = [&](int c) { return wide(x(pixel.with(d, c), where)); };
        return detail::to_pixel(type, channel(0) * 0.299 + channel(1) * 0.587 + channel(2) * 0.114);
      },
      where);
}
// Y, Cb, Cr of the full range, as JPEG has them (BT.601); chroma about half of the range: 1/2, or 128 of u8. Floats and
// unsigned integers.
inline Tensor rgb_to_ycbcr(const Tensor& x, int axis = -1, Where where = Where::current()) {
  const Type type = x.type(where);
  const double half = type.is_float() ? 0.5 : std::ldexp(1, type.bits - 1);
  return detail::recoloured("rgb_to_ycbcr", x, axis, where, [&](const std::array<Expr, 3>& c) {
    const Expr y = c[0] * 0.299 + c[1] * 0.587 + c[2] * 0.114;
    return std::array<Expr, 3>{y, (c[2] - y) * (0.5 / 0.886) + half, (c[0] - y) * (0.5 / 0.701) + half};
  });
}
// And back: R = Y + 1.402 Cr, B = Y + 1.772 Cb, chroma without the half, and G what Y leaves.
inline Tensor ycbcr_to_rgb(const Tensor& x, int axis = -1, Where where = Where::current()) {
  const Type type = x.type(where);
  const double half = type.is_float() ? 0.5 : std::ldexp(1, type.bits - 1);
  return detail::recoloured("ycbcr_to_rgb", x, axis, where, [&](const std::array<Expr, 3>& c) {
    const Expr r = c[0] + (c[2] - half) * 1.402, b = c[0] + (c[1] - half) * 1.772;
    return std::array<Expr, 3>{r, (c[0] - r * 0.299 - b * 0.114) * (1 / 0.587), b};
  });
}
// Hue, saturation and value of floats in [0, 1], hue in turns; of grey the hue is 0.
inline Tensor rgb_to_hsv(const Tensor& x, int axis = -1, Where where = Where::current()) {
  detail::expect_float("rgb_to_hsv", "x", x, where);
  return detail::recoloured("rgb_to_hsv", x, axis, where, [](const std::array<Expr, 3>& c) {
    const Expr top = max(max(c[0], c[1]), c[2]), span = top - min(min(c[0], c[1]), c[2]), zero = span * 0;
    const Expr turn = select(
        span == 0, zero,
        select(top == c[0], (c[1] - c[2]) / span, select(top == c[1], (c[2] - c[0]) / span + 2, (c[0] - c[1]) / span + 4)) *
            (1.0 / 6));
    return std::array<Expr, 3>{select(turn < 0, turn + 1, turn), select(top == 0, zero, span / top), top};
  });
}
// And back, of any hue: whole turns count nothing.
inline Tensor hsv_to_rgb(const Tensor& x, int axis = -1, Where where = Where::current()) {
  detail::expect_float("hsv_to_rgb", "x", x, where);
  return detail::recoloured("hsv_to_rgb", x, axis, where, [](const std::array<Expr, 3>& c) {
    const auto ramp = [&](double from) {  // 1 - s (1 - clamp(|...| - 1)), v times that
      const Expr h = c[0] * 6 + from, k = h - ashlar::floor(h * (1.0 / 6)) * 6;
      return c[2] - c[2] * c[1] * ashlar::clamp(min(k, 4 - k), 0, 1);
    };
    return std::array<Expr, 3>{ramp(5), ramp(3), ramp(1)};
  });
}

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
namespace detail {
inline Tensor bordered(const Tensor& x, int d, PadMode border, Where where) {
  return border == PadMode::constant  ? boundary::constant(x, 0, {d})
         : border == PadMode::edge    ? boundary::repeat(x, {d}, where)
         : border == PadMode::reflect ? boundary::reflect(x, {d}, where)
         : border == PadMode::wrap    ? boundary::wrap(x, {d}, where)
                                      : boundary::mirror(x, {d}, where);
}
inline std::array<int, 2> image_axes(const char* op, const Tensor& x, const std::array<int, 2>& axes, Where where) {
  const std::array<int, 2> d{dimension(op, axes[0], x.rank(where), where), dimension(op, axes[1], x.rank(where), where)};
  expect(d[0] != d[1], op, "two axes", "one twice", where);
  return d;
}
// Weights of an odd number of neighbours along each axis: across first, then down.
inline Filtered separable(const char* op, const Tensor& x, const std::vector<double>& down, const std::vector<double>& across,
                          const FilterOptions& o, Where where) {
  expect_numbers(op, "x", x, where);
  const auto axes = image_axes(op, x, o.axes, where);
  const Type type = x.type(where), wide = pixel_type(type);
  Filtered f;
  Tensor t = x;
  for (const auto& [d, taps] : {std::pair{axes[1], &across}, {axes[0], &down}}) {
    const int axis = d, middle = static_cast<int>(taps->size() / 2);
    const Tensor wider = bordered(t, axis, o.border, where);
    const std::vector<double>& weights = *taps;
    t = compute(
        op, x.shape(where),
        [&](Indices i) {
          Expr e;
          for (int k = 0; k < static_cast<int>(weights.size()); ++k) {
            const double w = weights[static_cast<std::size_t>(k)];
            if (w == 0) continue;
            const Expr value = wide(wider(i.with(axis, i[axis] + (k - middle)), where)), term = w == 1 ? value : value * w;
            e = e.empty() ? term : e + term;
          }
          return e.empty() ? wide(0) : e;
        },
        where);
    f.stages.push_back(t);
  }
  f.result = type == wide ? t : compute(op, x.shape(where), [&](Indices i) { return to_pixel(type, t(i, where)); }, where);
  return f;
}
}  // namespace detail

// A sum over neighbours with given weights, an odd number along each axis.
inline Filtered separable_filter(const Tensor& x, const std::vector<double>& down, const std::vector<double>& across,
                                 const FilterOptions& o = {}, Where where = Where::current()) {
  detail::expect(down.size() % 2 == 1 && across.size() % 2 == 1, "separable_filter", "odd numbers of weights",
                 std::to_string(down.size()) + " and " + std::to_string(across.size()), where);
  return detail::separable("separable_filter", x, down, across, o, where);
}
// exp(-d^2 / 2 sigma^2) of a distance d up to the radius (0: three sigma), normalised.
inline Filtered gaussian_blur(const Tensor& x, double sigma, int radius = 0, const FilterOptions& o = {},
                              Where where = Where::current()) {
  detail::expect(sigma > 0 && sigma < 1e3, "gaussian_blur", "a sigma above 0 and below 1000", std::to_string(sigma), where);
  detail::expect(radius >= 0, "gaussian_blur", "a radius of at least 0", std::to_string(radius), where);
  const int r = radius > 0 ? radius : static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> taps;
  double total = 0;
  for (int d = -r; d <= r; ++d) taps.push_back(std::exp(-d * d / (2 * sigma * sigma))), total += taps.back();
  for (double& t : taps) t /= total;
  return detail::separable("gaussian_blur", x, taps, taps, o, where);
}
// The mean over (2 ry + 1) (2 rx + 1) neighbours. For windows of any size at one cost see box_filter.
inline Filtered box_blur(const Tensor& x, int ry, int rx, const FilterOptions& o = {}, Where where = Where::current()) {
  detail::expect(ry >= 0 && rx >= 0, "box_blur", "radii of at least 0", std::to_string(std::min(ry, rx)), where);
  return detail::separable("box_blur", x, std::vector<double>(static_cast<std::size_t>(2 * ry + 1), 1.0 / (2 * ry + 1)),
                           std::vector<double>(static_cast<std::size_t>(2 * rx + 1), 1.0 / (2 * rx + 1)), o, where);
}
// Derivatives across and down, by 1 2 1 along the other axis (Sobel), of floats.
struct Sobel {
  Filtered across, down;
};
inline Sobel sobel(const Tensor& x, const FilterOptions& o = {}, Where where = Where::current()) {
  detail::expect_float("sobel", "x", x, where);
  return {detail::separable("sobel_across", x, {1, 2, 1}, {-1, 0, 1}, o, where),
          detail::separable("sobel_down", x, {-1, 0, 1}, {1, 2, 1}, o, where)};
}

// The middle one of 3x3 elements: columns of three are sorted, and of them the largest low, the middle middle and the smallest
// high one compared (Paeth, Median finding on a 3x3 grid, 1990). Of the type of x.
struct Median {
  Tensor low, middle, high;
  Tensor result;
  operator Tensor() const { return result; }
};
inline Median median3x3(const Tensor& x, const FilterOptions& o = {}, Where where = Where::current()) {
  detail::expect_numbers("median3x3", "x", x, where);
  const auto axes = detail::image_axes("median3x3", x, o.axes, where);
  const Tensor taller = detail::bordered(x, axes[0], o.border, where);
  const auto middle = [](const Expr& a, const Expr& b, const Expr& c) { return max(min(a, b), min(max(a, b), c)); };
  Median m;
  auto [low, mid, high] = compute(
      "median_columns", x.shape(where),
      [&](Indices i) {
        const auto at = [&](int k) { return taller(i.with(axes[0], i[axes[0]] + k), where); };
        const Expr a = at(-1), b = at(0), c = at(1);
        return values(min(min(a, b), c), middle(a, b, c), max(max(a, b), c));
      },
      where);
  m.low = low, m.middle = mid, m.high = high;
  m.result = compute(
      "median3x3", x.shape(where),
      [&](Indices i) {
        const auto at = [&](const Tensor& t, int k) {
          return detail::bordered(t, axes[1], o.border, where)(i.with(axes[1], i[axes[1]] + k), where);
        };
        return middle(max(max(at(m.low, -1), at(m.low, 0)), at(m.low, 1)),
                      middle(at(m.middle, -1), at(m.middle, 0), at(m.middle, 1)),
                      min(min(at(m.high, -1), at(m.high, 0)), at(m.high, 1)));
      },
      where);
  return m;
}

// ---- morphology: the largest and the smallest element of a window of (2 ry + 1) (2 rx + 1), what is outside takes no part

namespace detail {
inline Filtered extremes(const char* op, const Tensor& x, int ry, int rx, bool largest, const std::array<int, 2>& axes_,
                         Where where) {
  expect_numbers(op, "x", x, where);
  expect(ry >= 0 && rx >= 0, op, "radii of at least 0", std::to_string(std::min(ry, rx)), where);
  const auto axes = image_axes(op, x, axes_, where);
  Filtered f;
  Tensor t = x;
  for (const auto& [d, radius] : {std::pair{axes[1], rx}, {axes[0], ry}}) {
    const int axis = d;
    const Type type = x.type(where);
    const Tensor wider = boundary::constant(t, largest ? lowest(type) : highest(type), {axis});
    const Axis k{"k", Operand(-radius, where), Operand(radius + 1, where), where};
    t = compute(
        op, x.shape(where),
        [&](Indices i) {
          const Expr e = wider(i.with(axis, i[axis] + k), where);
          return largest ? maximum(e, k, where) : minimum(e, k, where);
        },
        where);
    f.stages.push_back(t);
  }
  f.result = t;
  return f;
}
}  // namespace detail
inline Filtered dilate(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                       Where where = Where::current()) {
  return detail::extremes("dilate", x, ry, rx, true, axes, where);
}
inline Filtered erode(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                      Where where = Where::current()) {
  return detail::extremes("erode", x, ry, rx, false, axes, where);
}
struct Morphology {
  Filtered first, second;
  Tensor result;
  operator Tensor() const { return result; }
};
// dilate of erode: what is brighter than its surroundings and smaller than the window is gone.
inline Morphology morphology_open(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                                  Where where = Where::current()) {
  Morphology m{erode(x, ry, rx, axes, where), {}, {}};
  m.second = dilate(m.first.result, ry, rx, axes, where);
  m.result = m.second.result;
  return m;
}
// erode of dilate: what is darker and smaller is.
inline Morphology morphology_close(const Tensor& x, int ry = 1, int rx = 1, const std::array<int, 2>& axes = {-2, -1},
                                   Where where = Where::current()) {
  Morphology m{dilate(x, ry, rx, axes, where), {}, {}};
  m.second = erode(m.first.result, ry, rx, axes, where);
  m.result = m.second.result;
  return m;
}

}  // namespace ashlar::ops
