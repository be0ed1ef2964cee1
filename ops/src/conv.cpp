// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/conv.h>

namespace ashlar::ops {

namespace detail {

Expr window_count(const Expr& extent, const Expr& window, const Windows& s, std::size_t d, bool ceil) {
  const Expr positions = plain(extent + (s.padding[d].before + s.padding[d].after) - (window - 1) * s.dilation[d]);
  if (s.stride[d] == 1) return positions;
  return plain((positions + (ceil ? 2 * (s.stride[d] - 1) : s.stride[d] - 1)) / s.stride[d]);
}
Expr under(const Expr& o, const Expr& k, const Windows& s, std::size_t d) {
  return o * s.stride[d] + k * s.dilation[d] - s.padding[d].before;
}
Tensor padded(const Tensor& x, const Windows& s, int first, Operand value) {
  std::vector<int> dims;
  for (std::size_t d = 0; d < s.rank(); ++d)
    if (s.padding[d].before > 0 || s.padding[d].after > 0) dims.push_back(first + static_cast<int>(d));
  if (dims.empty()) return x;
  if (dims.size() == 1) return boundary::constant(x, value, {dims[0]});
  if (dims.size() == 2) return boundary::constant(x, value, {dims[0], dims[1]});
  return boundary::constant(x, value, {dims[0], dims[1], dims[2]});
}

Tensor rimmed(const Tensor& x, const Windows& s, int first, Operand value, Where where) {
  const Tensor around = padded(x, s, first, value);
  bool padded_somewhere = false;
  for (const Pad& p : s.padding) padded_somewhere |= p.before != 0 || p.after != 0;
  if (!padded_somewhere) return x;
  std::vector<Extent> shape;
  for (int d = 0; d < x.rank(where); ++d) {
    const int k = d - first;
    const bool image = k >= 0 && k < static_cast<int>(s.rank());
    shape.emplace_back("i", image ? plain(x.extent(d, where) + (s.padding[static_cast<std::size_t>(k)].before +
                                                                s.padding[static_cast<std::size_t>(k)].after))
                                  : x.extent(d, where));
  }
  return compute(
      "rim", Shape::of(std::move(shape), where),
      [&](Indices i) {
        Indices at;
        for (int d = 0; d < i.rank(); ++d) {
          const int k = d - first;
          const bool image = k >= 0 && k < static_cast<int>(s.rank());
          Access::append(at, image ? i[d] - s.padding[static_cast<std::size_t>(k)].before : i[d]);
        }
        return around(at, where);
      },
      where);
}

Shape image_shape(const Placed& p, const Expr& batch, const Expr& channels, const std::vector<Expr>& image, const Expr& block,
                  Where where) {
  const char* const names[] = {"d", "h", "w"};
  std::vector<Extent> s{Extent("n", batch)};
  if (p.layout != Layout::channels_last) s.emplace_back("o", channels);
  for (int d = 0; d < p.n; ++d) s.emplace_back(names[d + 3 - p.n], image[static_cast<std::size_t>(d)]);
  if (p.layout == Layout::channels_last) s.emplace_back("o", channels);
  if (p.blocked()) s.emplace_back("oi", block);
  return Shape::of(std::move(s), where);
}

std::vector<Axis> window_axes(const Placed& p, const Tensor& w, Where where) {
  const char* const names[] = {"q", "r", "s"};
  std::vector<Axis> axes;
  for (int d = 0; d < p.n; ++d) axes.emplace_back(names[d + 3 - p.n], Operand(w.extent(p.window() + d, where), where), where);
  return axes;
}

Axis taps_inside(const Expr& o, const Expr& extent, const Expr& taps, const Windows& s, std::size_t d, Where where) {
  const Expr first = s.padding[d].before - o * s.stride[d];  // tap that lies on the first element
  return Axis("r", max(first, 0), min(extent + first, taps), where);
}

}  // namespace detail

Convolution conv1d(const Tensor& x, const Tensor& w, const Tensor& bias, const Conv1dOptions& o, Where where) {
  return detail::conv("conv1d", x, w, bias, o, where);
}
Convolution conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const Conv2dOptions& o, Where where) {
  return detail::conv("conv2d", x, w, bias, o, where);
}
Convolution conv3d(const Tensor& x, const Tensor& w, const Tensor& bias, const Conv3dOptions& o, Where where) {
  return detail::conv("conv3d", x, w, bias, o, where);
}

Convolution depthwise_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const DepthwiseOptions& o, Where where) {
  detail::expect_numbers("depthwise_conv2d", "x", x, where);
  detail::expect_same_type("depthwise_conv2d", "x", x, "w", w, where);
  const Type type = x.type(where), wide = accumulator(type);
  detail::expect_beside("depthwise_conv2d", "bias", bias, type, where);
  Convolution y;
  y.sum = detail::depthwise("depthwise_conv2d", x, w, bias, o, wide, 0, where,
                            [&](const Expr& a, const Expr& b, const Expr&) { return wide(a) * wide(b); });
  y.result = type.is_float() ? detail::converted("depthwise_conv2d", y.sum, type, where) : y.sum;
  return y;
}

}  // namespace ashlar::ops
