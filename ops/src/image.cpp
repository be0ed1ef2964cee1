// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/image.h>

namespace ashlar::ops {

namespace detail {

Type pixel_type(Type t) { return t.is_float() ? accumulator(t) : f32; }
Expr to_pixel(Type type, const Expr& e) { return type.is_float() ? type(e) : saturate(type, e); }

}  // namespace detail

Tensor rgb_to_grey(const Tensor& x, int axis, Where where) {
  const int d = detail::dimension("rgb_to_grey", axis, x.rank(where), where);
  detail::expect_extent("rgb_to_grey", "x", x, d, ir::index(3), "three colors", where);
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
Tensor rgb_to_ycbcr(const Tensor& x, int axis, Where where) {
  const Type type = x.type(where);
  const double half = type.is_float() ? 0.5 : static_cast<double>(std::uint64_t{1} << (type.bits - 1));
  return detail::recolored("rgb_to_ycbcr", x, axis, where, [&](const std::array<Expr, 3>& c) {
    const Expr y = c[0] * 0.299 + c[1] * 0.587 + c[2] * 0.114;
    return std::array<Expr, 3>{y, (c[2] - y) * (0.5 / 0.886) + half, (c[0] - y) * (0.5 / 0.701) + half};
  });
}
Tensor ycbcr_to_rgb(const Tensor& x, int axis, Where where) {
  const Type type = x.type(where);
  const double half = type.is_float() ? 0.5 : static_cast<double>(std::uint64_t{1} << (type.bits - 1));
  return detail::recolored("ycbcr_to_rgb", x, axis, where, [&](const std::array<Expr, 3>& c) {
    const Expr r = c[0] + (c[2] - half) * 1.402, b = c[0] + (c[1] - half) * 1.772;
    return std::array<Expr, 3>{r, (c[0] - r * 0.299 - b * 0.114) * (1 / 0.587), b};
  });
}
Tensor rgb_to_hsv(const Tensor& x, int axis, Where where) {
  detail::expect_float("rgb_to_hsv", "x", x, where);
  return detail::recolored("rgb_to_hsv", x, axis, where, [](const std::array<Expr, 3>& c) {
    const Expr top = max(max(c[0], c[1]), c[2]), span = top - min(min(c[0], c[1]), c[2]), zero = span * 0;
    const Expr turn = select(
        span == 0, zero,
        select(top == c[0], (c[1] - c[2]) / span, select(top == c[1], (c[2] - c[0]) / span + 2, (c[0] - c[1]) / span + 4)) *
            (1.0 / 6));
    return std::array<Expr, 3>{select(turn < 0, turn + 1, turn), select(top == 0, zero, span / top), top};
  });
}
Tensor hsv_to_rgb(const Tensor& x, int axis, Where where) {
  detail::expect_float("hsv_to_rgb", "x", x, where);
  return detail::recolored("hsv_to_rgb", x, axis, where, [](const std::array<Expr, 3>& c) {
    const auto ramp = [&](double from) {  // 1 - s (1 - clamp(|...| - 1)), v times that
      const Expr h = c[0] * 6 + from, k = h - ashlar::floor(h * (1.0 / 6)) * 6;
      return c[2] - c[2] * c[1] * ashlar::clamp(min(k, 4 - k), 0, 1);
    };
    return std::array<Expr, 3>{ramp(5), ramp(3), ramp(1)};
  });
}

namespace {

using namespace detail;

Tensor bordered(const Tensor& x, int d, PadMode border, Where where) {
  return border == PadMode::constant  ? boundary::constant(x, 0, {d})
         : border == PadMode::edge    ? boundary::repeat(x, {d}, where)
         : border == PadMode::reflect ? boundary::reflect(x, {d}, where)
         : border == PadMode::wrap    ? boundary::wrap(x, {d}, where)
                                      : boundary::mirror(x, {d}, where);
}
std::array<int, 2> image_axes(const char* op, const Tensor& x, const std::array<int, 2>& axes, Where where) {
  const std::array<int, 2> d{dimension(op, axes[0], x.rank(where), where), dimension(op, axes[1], x.rank(where), where)};
  expect(d[0] != d[1], op, "two axes", "one twice", where);
  return d;
}
// Weights of an odd number of neighbors along each axis: across first, then down.
Filtered separable(const char* op, const Tensor& x, const std::vector<double>& down, const std::vector<double>& across,
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

}  // namespace

Filtered separable_filter(const Tensor& x, const std::vector<double>& down, const std::vector<double>& across,
                          const FilterOptions& o, Where where) {
  detail::expect(down.size() % 2 == 1 && across.size() % 2 == 1, "separable_filter", "odd numbers of weights",
                 std::to_string(down.size()) + " and " + std::to_string(across.size()), where);
  return separable("separable_filter", x, down, across, o, where);
}
Filtered gaussian_blur(const Tensor& x, double sigma, int radius, const FilterOptions& o, Where where) {
  detail::expect(sigma > 0 && sigma < 1e3, "gaussian_blur", "a sigma above 0 and below 1000", std::to_string(sigma), where);
  detail::expect(radius >= 0, "gaussian_blur", "a radius of at least 0", std::to_string(radius), where);
  const int r = radius > 0 ? radius : static_cast<int>(3 * sigma) + (static_cast<int>(3 * sigma) < 3 * sigma);
  const std::vector<double> taps = detail::gaussian_taps(r, sigma);
  return separable("gaussian_blur", x, taps, taps, o, where);
}
Filtered box_blur(const Tensor& x, int ry, int rx, const FilterOptions& o, Where where) {
  detail::expect(ry >= 0 && rx >= 0, "box_blur", "radii of at least 0", std::to_string(std::min(ry, rx)), where);
  return separable("box_blur", x, std::vector<double>(static_cast<std::size_t>(2 * ry + 1), 1.0 / (2 * ry + 1)),
                   std::vector<double>(static_cast<std::size_t>(2 * rx + 1), 1.0 / (2 * rx + 1)), o, where);
}
Sobel sobel(const Tensor& x, const FilterOptions& o, Where where) {
  detail::expect_float("sobel", "x", x, where);
  return {separable("sobel_across", x, {1, 2, 1}, {-1, 0, 1}, o, where),
          separable("sobel_down", x, {-1, 0, 1}, {1, 2, 1}, o, where)};
}

Median median3x3(const Tensor& x, const FilterOptions& o, Where where) {
  detail::expect_numbers("median3x3", "x", x, where);
  const auto axes = image_axes("median3x3", x, o.axes, where);
  const Tensor taller = bordered(x, axes[0], o.border, where);
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
          return bordered(t, axes[1], o.border, where)(i.with(axes[1], i[axes[1]] + k), where);
        };
        return middle(max(max(at(m.low, -1), at(m.low, 0)), at(m.low, 1)),
                      middle(at(m.middle, -1), at(m.middle, 0), at(m.middle, 1)),
                      min(min(at(m.high, -1), at(m.high, 0)), at(m.high, 1)));
      },
      where);
  return m;
}

namespace {

Filtered extremes(const char* op, const Tensor& x, int ry, int rx, bool largest, const std::array<int, 2>& axes_, Where where) {
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
}  // namespace

Filtered dilate(const Tensor& x, int ry, int rx, const std::array<int, 2>& axes, Where where) {
  return extremes("dilate", x, ry, rx, true, axes, where);
}
Filtered erode(const Tensor& x, int ry, int rx, const std::array<int, 2>& axes, Where where) {
  return extremes("erode", x, ry, rx, false, axes, where);
}
Morphology morphology_open(const Tensor& x, int ry, int rx, const std::array<int, 2>& axes, Where where) {
  Morphology m{erode(x, ry, rx, axes, where), {}, {}};
  m.second = dilate(m.first.result, ry, rx, axes, where);
  m.result = m.second.result;
  return m;
}
Morphology morphology_close(const Tensor& x, int ry, int rx, const std::array<int, 2>& axes, Where where) {
  Morphology m{dilate(x, ry, rx, axes, where), {}, {}};
  m.second = erode(m.first.result, ry, rx, axes, where);
  m.result = m.second.result;
  return m;
}

}  // namespace ashlar::ops
