// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Convolutions of one, two and three dimensions as neural networks define them (cross-correlations), with stride, padding,
// dilation and groups, in three layouts.
//
//   auto y = ops::conv2d(x, w, bias, {.stride = {2, 2}, .padding = {1, 1}});          s[y.sum]...
//
//   Layout            x                   w                        y
//   channels_first    [N, C, H, W]        [O, C/groups, R, S]      [N, O, OH, OW]       NCHW, w as in PyTorch and ONNX
//   channels_last     [N, H, W, C]        [R, S, C/groups, O]      [N, OH, OW, O]       NHWC, w as in TensorFlow
//   channels_blocked  [N, C/c, H, W, c]   [O/o, C/c, R, S, c, o]   [N, O/o, OH, OW, o]  NCHWc, as in oneDNN; one group
//
//   y[n, o, p] = bias[o] + sum over c and r of x[n, c, p stride + r dilation - before] w[o, c, r], and so on for further
//                dimensions of the image; c runs over the channels of the group of o
//   OH = floor((H + before + after - dilation (R - 1) - 1) / stride) + 1
//
// If the padded image is up to `stride` elements too short for one window, OH is 0 and the result is empty. If it is shorter
// still, OH would be negative, which is refused: at once for numbers, at each call for Symbols.
//
// Elements outside x are 0. Sums are in accumulator(type) and start from the bias if there is one ([O], or [O/o, o], in the
// type of x or of the accumulator). Floating-point results are converted to the type of x; sums of integers stay in the
// accumulator.
#include <array>
#include <ashlar/ops/common.h>

namespace ashlar::ops {

enum class Layout { channels_first, channels_last, channels_blocked };

struct Pad {  // the padding of one dimension: one number for both sides, or one for each
  int before = 0, after = 0;
  constexpr Pad() = default;
  constexpr Pad(int both) : before(both), after(both) {}
  constexpr Pad(int b, int a) : before(b), after(a) {}
  // The padding that keeps the extent of x at stride 1. If the total is odd, the larger half goes after the image.
  static constexpr Pad same(int window, int dilation = 1) {
    return {dilation * (window - 1) / 2, dilation * (window - 1) - dilation * (window - 1) / 2};
  }
};

namespace detail {

template <std::size_t N>
constexpr std::array<int, N> ones() {
  std::array<int, N> all{};
  for (int& v : all) v = 1;
  return all;
}

}  // namespace detail

template <std::size_t N>
struct ConvOptions {
  std::array<int, N> stride = detail::ones<N>();
  std::array<Pad, N> padding{};
  std::array<int, N> dilation = detail::ones<N>();
  int groups = 1;  // if more than one, the channels of w must be numbers
  Layout layout = Layout::channels_first;
  // Leave taps outside x in the first image dimension (rows of conv2d) out of the sum, instead of adding 0. This saves work,
  // most of all for small images. Results differ if a weight is infinite or NaN. That dimension must have no dilation.
  bool leave_out_rows = false;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

struct Convolution {
  Tensor sum, result;  // as in Product
  Tensor rim;          // the stage that holds x with its padding; empty if there is none
  operator Tensor() const { return result; }
};

namespace detail {

struct Windows {  // where windows lie on the image: one number for each dimension
  std::vector<int> stride, dilation;
  std::vector<Pad> padding;
  bool leave_out_rows = false;
  std::size_t rank() const { return stride.size(); }
};
template <std::size_t N>
Windows windows(const char* op, const std::array<int, N>& stride, const std::array<Pad, N>& padding,
                const std::array<int, N>& dilation, Where where) {
  for (std::size_t d = 0; d < N; ++d) {
    expect(stride[d] >= 1, op, "strides of at least 1", std::to_string(stride[d]), where);
    expect(dilation[d] >= 1, op, "dilations of at least 1", std::to_string(dilation[d]), where);
    expect(padding[d].before >= 0 && padding[d].after >= 0, op, "paddings of at least 0",
           std::to_string(std::min(padding[d].before, padding[d].after)), where);
  }
  return {{stride.begin(), stride.end()}, {dilation.begin(), dilation.end()}, {padding.begin(), padding.end()}, false};
}
template <std::size_t N>
Windows windows(const char* op, const ConvOptions<N>& o, Where where) {
  expect(!o.leave_out_rows || o.dilation[0] == 1, op, "no dilation along rows that are left out",
         "one of " + std::to_string(o.dilation[0]), where);
  Windows w = windows(op, o.stride, o.padding, o.dilation, where);
  w.leave_out_rows = o.leave_out_rows;
  return w;
}

// The number of windows that fit. With `ceil`, the last one may extend past the end.
Expr window_count(const Expr& extent, const Expr& window, const Windows& s, std::size_t d, bool ceil = false);
// The index in the image of tap k of window o.
Expr under(const Expr& o, const Expr& k, const Windows& s, std::size_t d);
// x, extended by `value` along the image dimensions, which begin at dimension `first`.
Tensor padded(const Tensor& x, const Windows& s, int first, Operand value);

// The same as a stage of its own (the rim); x itself if there is no padding.
Tensor rimmed(const Tensor& x, const Windows& s, int first, Operand value, Where where);

// The dimensions of batch, channels, image and window in the tensors of a layout.
struct Placed {
  Layout layout;
  int n;                                                                  // the number of dimensions of the image
  int image() const { return layout == Layout::channels_last ? 1 : 2; }   // its first dimension in x and y
  int window() const { return layout == Layout::channels_last ? 0 : 2; }  // in w
  // Of x and y; with channels_blocked, the dimension of blocks.
  int channel() const { return layout == Layout::channels_last ? 1 + n : 1; }
  int in_channel() const { return layout == Layout::channels_last ? n : 1; }       // of w
  int out_channel() const { return layout == Layout::channels_last ? n + 1 : 0; }  // of w
  bool blocked() const { return layout == Layout::channels_blocked; }
  int rank_x() const { return n + (blocked() ? 3 : 2); }
  int rank_w() const { return n + (blocked() ? 4 : 2); }
  // The indices of an element of x or y. `inner` is the channel in its block.
  Indices at(const Expr& batch, const Expr& c, const std::vector<Expr>& image_at, const Expr& inner) const {
    Indices i = point({batch});
    if (layout != Layout::channels_last) Access::append(i, c);
    for (const Expr& e : image_at) Access::append(i, e);
    if (layout == Layout::channels_last) Access::append(i, c);
    if (blocked()) Access::append(i, inner);
    return i;
  }
  std::vector<Expr> image_of(const Indices& i) const {
    std::vector<Expr> at;
    for (int d = 0; d < n; ++d) at.push_back(i[image() + d]);
    return at;
  }
};

// The shape of the result, with labels for the loops.
Shape image_shape(const Placed& p, const Expr& batch, const Expr& channels, const std::vector<Expr>& image, const Expr& block,
                  Where where);

std::vector<Axis> window_axes(const Placed& p, const Tensor& w, Where where);

// The taps of window o that lie inside of an image of the given extent, along dimension d.
Axis taps_inside(const Expr& o, const Expr& extent, const Expr& taps, const Windows& s, std::size_t d, Where where);

// A convolution of any types: `term(x, w)` is the product of two elements in the type `wide`, and `pad` the value outside x.
template <class F>
Tensor convolve(const char* op, const Tensor& x, const Tensor& w, const Tensor& bias, const Windows& over_x, int groups,
                const Placed& p, Type wide, Operand pad, Where where, F term, Tensor* rim = nullptr) {
  expect_rank(op, "x", x, p.rank_x(), where);
  expect_rank(op, "w", w, p.rank_w(), where);
  expect(groups >= 1, op, "at least one group", std::to_string(groups), where);
  const Expr C = x.extent(p.channel(), where), O = w.extent(p.out_channel(), where), I = w.extent(p.in_channel(), where);
  const std::int64_t outs = number_or(O, 0), ins = number_or(I, 0);
  if (groups == 1) {
    expect_extent(op, "w", w, p.in_channel(), C, "the channels of x", where);
  } else {
    expect(!p.blocked(), op, "one group in the layout channels_blocked", std::to_string(groups), where);
    expect(outs > 0 && outs % groups == 0, op,
           "w whose dimension " + std::to_string(p.out_channel()) + " is a number that " + std::to_string(groups) +
               " groups divide",
           ir::text(O), where);
    expect(ins > 0, op, "w whose dimension " + std::to_string(p.in_channel()) + " is a number, where there are groups",
           ir::text(I), where);
    expect_extent(op, "x", x, p.channel(), ir::index(ins * groups), "the channels of all groups", where);
  }
  const Expr block_x = p.blocked() ? x.extent(p.rank_x() - 1, where) : Expr();
  const Expr block_y = p.blocked() ? w.extent(p.rank_w() - 1, where) : Expr();
  if (p.blocked()) expect_extent(op, "w", w, p.rank_w() - 2, block_x, "the channels in a block of x", where);
  if (!bias.empty() && p.blocked()) expect_shape(op, "bias", bias, {O, block_y}, "the channels of the result", where);
  if (!bias.empty() && !p.blocked()) expect_shape(op, "bias", bias, {O}, "the channels of the result", where);

  // The padded image is a stage, so no term tests whether it lies inside.
  Windows s = over_x, outside = over_x;
  s.padding.assign(s.padding.size(), Pad());
  if (over_x.leave_out_rows) std::swap(s.padding[0], outside.padding[0]);
  const Tensor around = rimmed(x, outside, p.image(), pad, where);
  if (rim && around.id() != x.id()) *rim = around;
  std::vector<Expr> image;
  for (int d = 0; d < p.n; ++d)
    image.push_back(
        window_count(around.extent(p.image() + d, where), w.extent(p.window() + d, where), s, static_cast<std::size_t>(d)));
  const Axis c{"c", Operand(I, where), where};
  const std::vector<Axis> whole = window_axes(p, w, where);
  const Axis ci("ci", Operand(p.blocked() ? block_x : ir::index(1), where), where);
  return compute(
      op, image_shape(p, x.extent(0, where), O, image, block_y, where),
      [&](Indices i) {
        const Expr o = i[p.channel()];
        const Expr channel = groups == 1 ? Expr(c) : o / (outs / groups) * ins + c;
        const std::vector<Expr> at = p.image_of(i);
        std::vector<Axis> window = whole, axes{c};
        if (over_x.leave_out_rows)
          window[0] = taps_inside(at[0], x.extent(p.image(), where), w.extent(p.window(), where), s, 0, where);
        axes.insert(axes.end(), window.begin(), window.end());
        if (p.blocked()) axes.push_back(ci);
        std::vector<Expr> read;
        for (std::size_t d = 0; d < at.size(); ++d) read.push_back(under(at[d], window[d], s, d));
        Indices of_w;
        if (p.layout != Layout::channels_last) Access::append(of_w, o), Access::append(of_w, c);
        for (const Axis& a : window) Access::append(of_w, a);
        if (p.layout == Layout::channels_last) Access::append(of_w, c), Access::append(of_w, o);
        if (p.blocked()) Access::append(of_w, axes.back()), Access::append(of_w, i[i.rank() - 1]);
        const Expr element = around(p.at(i[0], channel, read, p.blocked() ? Expr(axes.back()) : Expr()), where);
        const Reduction<> total = ashlar::sum(term(element, w(of_w, where), o), AxisList(axes), where);
        if (bias.empty()) return total;
        return total.from(Operand(wide(p.blocked() ? bias(o, i[i.rank() - 1]) : bias(o)), where));
      },
      where);
}

template <std::size_t N>
Convolution conv(const char* op, const Tensor& x, const Tensor& w, const Tensor& bias, const ConvOptions<N>& o, Where where) {
  expect_numbers(op, "x", x, where);
  expect_same_type(op, "x", x, "w", w, where);
  const Type type = x.type(where), wide = accumulator(type);
  expect_beside(op, "bias", bias, type, where);
  Convolution y;
  y.sum = convolve(
      op, x, w, bias, windows(op, o, where), o.groups, Placed{o.layout, static_cast<int>(N)}, wide, 0, where,
      [&](const Expr& a, const Expr& b, const Expr&) { return wide(a) * wide(b); }, &y.rim);
  y.result = type.is_float() ? converted(op, y.sum, type, where) : y.sum;
  return y;
}

}  // namespace detail

Convolution conv1d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(), const Conv1dOptions& o = {},
                   Where where = Where::current());
Convolution conv2d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(), const Conv2dOptions& o = {},
                   Where where = Where::current());
Convolution conv3d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(), const Conv3dOptions& o = {},
                   Where where = Where::current());

// ---- depthwise: each channel by itself -------------------------------------------------------------------------------------

// Channel c of x gives the channels c * multiplier to (c + 1) * multiplier - 1 of y. channels_first: w [C * multiplier, 1, R,
// S]; channels_last: w [R, S, C, multiplier]; channels_blocked: w [C/c, 1, R, S, 1, c], multiplier 1. C may be a Symbol.
struct DepthwiseOptions {
  std::array<int, 2> stride = {1, 1};
  std::array<Pad, 2> padding{};
  std::array<int, 2> dilation = {1, 1};
  int multiplier = 1;
  Layout layout = Layout::channels_first;
};
namespace detail {

template <class F>
Tensor depthwise(const char* op, const Tensor& x, const Tensor& w, const Tensor& bias, const DepthwiseOptions& o, Type wide,
                 Operand pad, Where where, F term) {
  const Placed p{o.layout, 2};
  const Windows s = windows(op, o.stride, o.padding, o.dilation, where);
  expect_rank(op, "x", x, p.rank_x(), where);
  expect_rank(op, "w", w, p.rank_w(), where);
  expect(o.multiplier >= 1 && (o.multiplier == 1 || !p.blocked()), op,
         p.blocked() ? "a multiplier of 1 in the layout channels_blocked" : "a multiplier of at least 1",
         std::to_string(o.multiplier), where);
  const Expr C = x.extent(p.channel(), where), O = plain(C * o.multiplier);
  const Expr block = p.blocked() ? x.extent(4, where) : Expr();
  if (o.layout == Layout::channels_last) {
    expect_extent(op, "w", w, 2, C, "the channels of x", where);
    expect_extent(op, "w", w, 3, ir::index(o.multiplier), "the multiplier", where);
  } else {
    expect_extent(op, "w", w, 0, O, "the channels of the result", where);
    expect_extent(op, "w", w, 1, ir::index(1), "one channel", where);
    if (p.blocked()) expect_extent(op, "w", w, 4, ir::index(1), "one channel", where);
    if (p.blocked()) expect_extent(op, "w", w, 5, block, "the channels in a block of x", where);
  }
  if (!bias.empty()) {
    if (p.blocked()) expect_shape(op, "bias", bias, {O, block}, "the channels of the result", where);
    if (!p.blocked()) expect_shape(op, "bias", bias, {O}, "the channels of the result", where);
  }
  std::vector<Expr> image;
  for (int d = 0; d < 2; ++d)
    image.push_back(
        window_count(x.extent(p.image() + d, where), w.extent(p.window() + d, where), s, static_cast<std::size_t>(d)));
  const std::vector<Axis> window = window_axes(p, w, where);
  const Tensor around = padded(x, s, p.image(), pad);
  return compute(
      op, image_shape(p, x.extent(0, where), O, image, block, where),
      [&](Indices i) {
        const Expr out = i[p.channel()], c = o.multiplier == 1 ? out : out / o.multiplier;
        const std::vector<Expr> at = p.image_of(i);
        std::vector<Expr> read;
        for (std::size_t d = 0; d < 2; ++d) read.push_back(under(at[d], window[d], s, d));
        const Expr inner = p.blocked() ? i[4] : Expr(), zero = ir::index(0);
        const Expr tap = o.layout == Layout::channels_last ? w(window[0], window[1], c, out % o.multiplier)
                         : p.blocked()                     ? w(out, zero, window[0], window[1], zero, inner)
                                                           : w(out, zero, window[0], window[1]);
        const Reduction<> total =
            ashlar::sum(term(around(p.at(i[0], c, read, inner), where), tap, out), AxisList(window), where);
        if (bias.empty()) return total;
        return total.from(Operand(wide(p.blocked() ? bias(out, inner) : bias(out)), where));
      },
      where);
}
}  // namespace detail

Convolution depthwise_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias = Tensor(), const DepthwiseOptions& o = {},
                             Where where = Where::current());

}  // namespace ashlar::ops
