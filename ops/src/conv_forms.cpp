// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/conv_forms.h>

namespace ashlar::ops {

namespace {

using namespace detail;

// The extents of the window, where the phases of a stride are computed apart and each has a tap; else nothing.
template <std::size_t N>
std::vector<std::int64_t> taps_of_phases(const Placed& p, const Tensor& w, const ConvTransposeOptions<N>& o, Where where) {
  std::vector<std::int64_t> taps;
  bool apart = false;
  for (std::size_t d = 0; d < N; ++d) {
    taps.push_back(number_or(w.extent(p.window() + static_cast<int>(d), where), 0));
    if (o.dilation[d] != 1 || taps.back() < std::max(o.stride[d], 1) || o.padding[d].before < 0 || o.padding[d].after < 0)
      return {};
    apart = apart || o.stride[d] > 1;
  }
  return apart ? taps : std::vector<std::int64_t>{};
}

// Points of y that are a stride apart meet the same taps: with q = p + before, those k for which k % stride = q % stride. So
// the sums are of a point's phase q % stride and its place q / stride, and no term is computed for nothing:
//
//   phases(f, i) = sum of x(i - u) w(f + u stride) over u with f + u stride < R        y(p) = phases(q % stride, q / stride)
template <std::size_t N, class From, class Tap, class Started>
void by_phases(const char* op, const Placed& p, const Tensor& x, const ConvTransposeOptions<N>& o,
               const std::vector<std::int64_t>& taps, const Expr& O, const std::vector<Expr>& image, const Axis& c,
               const From& from, const Tap& tap, const Started& started, Convolution& y, Where where) {
  const Type type = x.type(where), wide = accumulator(type);
  const bool last = p.layout == Layout::channels_last;
  Windows rim = windows(op, ones<N>(), std::array<Pad, N>{}, ones<N>(), where);
  std::vector<Expr> places;               // how many values q / stride has, from `first` on
  std::vector<std::int64_t> first, most;  // most: of terms along a dimension
  for (std::size_t d = 0; d < N; ++d) {
    const std::int64_t by = o.stride[d], before = o.padding[d].before;
    first.push_back(before / by), most.push_back((taps[d] + by - 1) / by);
    places.push_back(plain((image[d] + (before + by - 1)) / by - first[d]));
    const std::int64_t behind = taps[d] + o.output_padding[d] - o.padding[d].after - 1;
    rim.padding[d] = Pad(static_cast<int>(most[d] - 1), static_cast<int>(behind < 0 ? 0 : behind / by));
  }
  const Tensor around = rimmed(x, rim, p.image(), 0, where);
  y.rim = around;
  std::vector<Extent> shape{{"n", x.extent(0, where)}};
  static constexpr const char *phases[] = {"phase_d", "phase_h", "phase_w"}, *names[] = {"d", "h", "w"};
  for (std::size_t d = 0; d < N; ++d) shape.emplace_back(phases[3 - N + d], ir::index(o.stride[d]));
  if (!last) shape.emplace_back("o", O);
  for (std::size_t d = 0; d < N; ++d) shape.emplace_back(names[3 - N + d], places[d]);
  if (last) shape.emplace_back("o", O);
  y.sum = compute(
      "phases", Shape::of(std::move(shape), where),
      [&](Indices i) {
        const int after = 1 + static_cast<int>(N);  // phases stand behind n
        const Expr to = i[last ? after + static_cast<int>(N) : after];
        std::vector<Axis> terms{c};
        std::vector<Expr> read, at;
        for (std::size_t d = 0; d < N; ++d) {
          const Expr phase = i[1 + static_cast<int>(d)], place = i[after + (last ? 0 : 1) + static_cast<int>(d)];
          const std::int64_t by = o.stride[d];
          const bool all = taps[d] % by == 0;
          terms.emplace_back(
              "u", all ? Operand(ir::index(most[d]), where) : Operand((ir::index(taps[d] + by - 1) - phase) / by, where),
              where);
          read.push_back(place + (first[d] + most[d] - 1) - terms.back());
          at.push_back(phase + terms.back() * by);
        }
        return started(
            ashlar::sum(wide(around(p.at(i[0], from(to), read, Expr()), where)) * wide(tap(to, at)), AxisList(terms), where),
            to);
      },
      where);
  y.result = compute(
      op, image_shape(p, x.extent(0, where), O, image, Expr(), where),
      [&](Indices i) {
        Indices at;
        Access::append(at, i[0]);
        const std::vector<Expr> point = p.image_of(i);
        for (std::size_t d = 0; d < N; ++d) Access::append(at, (point[d] + o.padding[d].before) % o.stride[d]);
        if (!last) Access::append(at, i[p.channel()]);
        for (std::size_t d = 0; d < N; ++d) Access::append(at, (point[d] + o.padding[d].before) / o.stride[d] - first[d]);
        if (last) Access::append(at, i[p.channel()]);
        return type.is_float() ? type(y.sum(at, where)) : y.sum(at, where);
      },
      where);
}

template <std::size_t N>
Convolution conv_transpose(const char* op, const Tensor& x, const Tensor& w, const Tensor& bias,
                           const ConvTransposeOptions<N>& o, Where where) {
  const Placed p{o.layout, static_cast<int>(N)};
  const Windows s = windows(op, o.stride, o.padding, o.dilation, where);
  expect(!p.blocked(), op, "the layout channels_first or channels_last", "channels_blocked", where);
  expect_numbers(op, "x", x, where);
  expect_same_type(op, "x", x, "w", w, where);
  expect_beside(op, "bias", bias, x.type(where), where);
  expect_rank(op, "x", x, p.rank_x(), where);
  expect_rank(op, "w", w, p.rank_w(), where);
  const bool last = o.layout == Layout::channels_last;
  const int in = last ? p.n + 1 : 0, out = last ? p.n : 1;  // of w
  const Expr C = x.extent(p.channel(), where), each = w.extent(out, where);
  const std::int64_t ins = number_or(C, 0), outs = number_or(each, 0);
  expect_extent(op, "w", w, in, C, "the channels of x", where);
  if (o.groups != 1) {
    expect(o.groups > 0 && !last, op, "one group, or channels_first", std::to_string(o.groups), where);
    expect(ins > 0 && ins % o.groups == 0, op,
           "x with a number of channels that " + std::to_string(o.groups) + " groups divide", ir::text(C), where);
    expect(outs > 0, op, "w whose dimension 1 is a number, where there are groups", ir::text(each), where);
  }
  for (std::size_t d = 0; d < N; ++d)
    expect(o.output_padding[d] >= 0 && o.output_padding[d] < std::max(o.stride[d], o.dilation[d]), op,
           "an output_padding from 0 to less than the stride or the dilation", std::to_string(o.output_padding[d]), where);
  const Expr O = plain(each * o.groups);
  if (!bias.empty()) expect_shape(op, "bias", bias, {O}, "the channels of the result", where);

  std::vector<Expr> image;
  for (int d = 0; d < p.n; ++d) {
    const auto e = static_cast<std::size_t>(d);
    image.push_back(plain((x.extent(p.image() + d, where) - 1) * o.stride[e] - (o.padding[e].before + o.padding[e].after) +
                          (w.extent(p.window() + d, where) - 1) * o.dilation[e] + (1 + o.output_padding[e])));
  }
  const Axis c{"c", Operand(o.groups == 1 ? C : ir::index(ins / o.groups), where), where};
  const auto from = [&](const Expr& to) { return o.groups == 1 ? Expr(c) : to / outs * (ins / o.groups) + c; };
  const auto tap = [&](const Expr& to, const std::vector<Expr>& at) {
    Indices of_w;
    const Expr channel = o.groups == 1 ? to : to % outs;
    if (!last) Access::append(of_w, from(to)), Access::append(of_w, channel);
    for (const Expr& e : at) Access::append(of_w, e);
    if (last) Access::append(of_w, channel), Access::append(of_w, from(to));
    return w(of_w, where);
  };
  const Type type = x.type(where), wide = accumulator(type);
  const auto started = [&](const Reduction<>& total, const Expr& to) {
    return bias.empty() ? total : total.from(Operand(wide(bias(to)), where));
  };
  Convolution y;
  if (const std::vector<std::int64_t> taps = taps_of_phases(p, w, o, where); !taps.empty()) {
    by_phases(op, p, x, o, taps, O, image, c, from, tap, started, y, where);
    return y;
  }
  const std::vector<Axis> window = window_axes(p, w, where);
  std::vector<Axis> axes{c};
  axes.insert(axes.end(), window.begin(), window.end());
  y.sum = compute(
      op, image_shape(p, x.extent(0, where), O, image, Expr(), where),
      [&](Indices i) {
        const Expr to = i[p.channel()];
        const std::vector<Expr> at = p.image_of(i);
        std::vector<Expr> read;
        Expr meets;  // is there an element of x whose tap k falls on this one?
        const auto also = [&](const Expr& condition) { meets = meets.empty() ? condition : meets && condition; };
        for (std::size_t d = 0; d < N; ++d) {
          const Expr behind = at[d] + o.padding[d].before - window[d] * o.dilation[d];
          read.push_back(o.stride[d] == 1 ? behind : behind / o.stride[d]);
          also(read.back() >= 0 && read.back() < x.extent(p.image() + static_cast<int>(d), where));
          if (o.stride[d] != 1) also(behind % o.stride[d] == 0);
        }
        const Expr term = wide(x(p.at(i[0], from(to), read, Expr()), where)) * wide(tap(to, {window.begin(), window.end()}));
        return started(ashlar::sum(select(meets, term, wide(0)), AxisList(axes), where), to);
      },
      where);
  y.result = type.is_float() ? converted(op, y.sum, type, where) : y.sum;
  return y;
}
}  // namespace

Convolution conv_transpose1d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvTransposeOptions<1>& o,
                             Where where) {
  return conv_transpose("conv_transpose1d", x, w, bias, o, where);
}
Convolution conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvTransposeOptions<2>& o,
                             Where where) {
  return conv_transpose("conv_transpose2d", x, w, bias, o, where);
}
Convolution conv_transpose3d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvTransposeOptions<3>& o,
                             Where where) {
  return conv_transpose("conv_transpose3d", x, w, bias, o, where);
}

Tensor im2col(const Tensor& x, int r, int s, const Conv2dOptions& o, Where where) {
  detail::expect_rank("im2col", "x", x, 4, where);
  detail::expect(o.layout == Layout::channels_first, "im2col", "the layout channels_first", "another", where);
  detail::expect(o.groups == 1, "im2col", "one group", std::to_string(o.groups), where);
  detail::expect(!o.leave_out_rows, "im2col", "all taps of a window", "rows that are left out", where);
  detail::expect(r >= 1 && s >= 1, "im2col", "a window of at least 1", std::to_string(std::min(r, s)), where);
  const detail::Windows win = detail::windows("im2col", o.stride, o.padding, o.dilation, where);
  const Tensor around = detail::padded(x, win, 2, 0);
  const Expr oh = detail::window_count(x.extent(2, where), ir::index(r), win, 0),
             ow = detail::window_count(x.extent(3, where), ir::index(s), win, 1);
  return compute(
      "im2col", {{"n", x.extent(0, where)}, {"h", oh}, {"w", ow}, {"k", detail::plain(x.extent(1, where) * (r * s))}},
      [&](Var n, Var h, Var w, Var k) {
        return around(n, k / (r * s), detail::under(h, k / s % r, win, 0), detail::under(w, k % s, win, 1));
      },
      where);
}
ConvolutionIm2col conv2d_im2col(const Tensor& x, const Tensor& w, const Tensor& bias, const Conv2dOptions& o, Where where) {
  const char* op = "conv2d_im2col";
  detail::expect_numbers(op, "x", x, where);
  detail::expect_same_type(op, "x", x, "w", w, where);
  detail::expect_beside(op, "bias", bias, x.type(where), where);
  detail::expect_rank(op, "x", x, 4, where);
  detail::expect_rank(op, "w", w, 4, where);
  detail::expect_extent(op, "w", w, 1, x.extent(1, where), "the channels of x", where);
  const auto r = static_cast<int>(detail::number_or(w.extent(2, where), 0)),
             s = static_cast<int>(detail::number_or(w.extent(3, where), 0));
  detail::expect(r > 0 && s > 0, op, "w whose dimensions 2 and 3 are numbers",
                 ir::text(w.extent(2, where)) + " and " + ir::text(w.extent(3, where)), where);
  if (!bias.empty()) detail::expect_shape(op, "bias", bias, {w.extent(0, where)}, "the channels of the result", where);
  const Type type = x.type(where), wide = accumulator(type);
  ConvolutionIm2col y;
  y.columns = im2col(x, r, s, o, where);
  const Axis k{"k", Operand(y.columns.extent(3, where), where), where};
  y.sum = compute(
      op,
      {{"n", x.extent(0, where)},
       {"o", w.extent(0, where)},
       {"h", y.columns.extent(1, where)},
       {"w", y.columns.extent(2, where)}},
      [&](Var n, Var c, Var h, Var v) {
        const Reduction<> total =
            ashlar::sum(wide(y.columns(n, h, v, k)) * wide(w(c, k / (r * s), k / s % r, k % s)), k, where);
        return bias.empty() ? total : total.from(Operand(wide(bias(c)), where));
      },
      where);
  y.result = type.is_float() ? detail::converted(op, y.sum, type, where) : y.sum;
  return y;
}

namespace {

struct WinogradMatrices {
  Tensor B, G, A;  // B' [t, t], G [t, 3], A' [tile, t]
};
WinogradMatrices winograd_matrices(WinogradTile tile, Type type, Where where) {
  if (tile == WinogradTile::two)
    return {constant("B", type, {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}, where),
            constant("G", type, {{1.0, 0.0, 0.0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0.0, 0.0, 1.0}}, where),
            constant("A", type, {{1, 1, 1, 0}, {0, 1, -1, -1}}, where)};
  return {constant("B", type,
                   {{4, 0, -5, 0, 1, 0},
                    {0, -4, -4, 1, 1, 0},
                    {0, 4, -4, -1, 1, 0},
                    {0, -2, -1, 2, 1, 0},
                    {0, 2, -1, -2, 1, 0},
                    {0, 4, 0, -5, 0, 1}},
                   where),
          constant("G", type,
                   {{1.0 / 4, 0.0, 0.0},
                    {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                    {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                    {1.0 / 24, 1.0 / 12, 1.0 / 6},
                    {1.0 / 24, -1.0 / 12, 1.0 / 6},
                    {0.0, 0.0, 1.0}},
                   where),
          constant("A", type, {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}, where)};
}
}  // namespace

ConvolutionWinograd conv2d_winograd(const Tensor& x, const Tensor& w, const Tensor& bias, const std::array<Pad, 2>& padding,
                                    WinogradTile tile, Where where) {
  const char* op = "conv2d_winograd";
  const Type type = x.type(where);
  detail::expect(type == f32 || type == f64, op, "x of f32 or f64", ir::text(type), where);
  detail::expect_same_type(op, "x", x, "w", w, where);
  detail::expect_rank(op, "x", x, 4, where);
  const Expr N = x.extent(0, where), C = x.extent(1, where), O = w.extent(0, where), three = ir::index(3);
  detail::expect_shape(op, "w", w, {O, C, three, three}, "a 3x3 window over the channels of x", where);
  detail::expect_beside(op, "bias", bias, type, where);
  if (!bias.empty()) detail::expect_shape(op, "bias", bias, {O}, "the channels of the result", where);
  const int m = static_cast<int>(tile), t = m + 2;
  const detail::Windows win = detail::windows(op, std::array{1, 1}, padding, std::array{1, 1}, where);
  const Expr OH = detail::window_count(x.extent(2, where), three, win, 0),
             OW = detail::window_count(x.extent(3, where), three, win, 1);
  const Expr TH = detail::plain((OH + (m - 1)) / m), TW = detail::plain((OW + (m - 1)) / m);
  const auto matrices = winograd_matrices(tile, type, where);
  const Tensor around = boundary::constant(x, 0, {2, 3});  // the last tiles hang over, padded or not
  const Axis p{"p", Operand(t, where), where}, q{"q", Operand(t, where), where}, r{"r", Operand(3, where), where},
      s{"s", Operand(3, where), where}, c{"c", Operand(C, where), where};
  ConvolutionWinograd y;
  y.filters = compute(
      "winograd_filters", {{"a", t}, {"b", t}, {"o", O}, {"c", C}},
      [&](Var a, Var b, Var o, Var i) { return sum(matrices.G(a, r) * w(o, i, r, s) * matrices.G(b, s), {r, s}, where); },
      where);
  y.tiles = compute(
      "winograd_tiles", {{"a", t}, {"b", t}, {"n", N}, {"c", C}, {"y", TH}, {"x", TW}},
      [&](Var a, Var b, Var n, Var i, Var ty, Var tx) {
        const Expr e = around(n, i, ty * m + p - padding[0].before, tx * m + q - padding[1].before);
        return sum(matrices.B(a, p) * e * matrices.B(b, q), {p, q}, where);
      },
      where);
  y.products = compute(
      "winograd_products", {{"a", t}, {"b", t}, {"n", N}, {"o", O}, {"y", TH}, {"x", TW}},
      [&](Var a, Var b, Var n, Var o, Var ty, Var tx) {
        return sum(y.filters(a, b, o, c) * y.tiles(a, b, n, c, ty, tx), c, where);
      },
      where);
  y.result = compute(
      op, {{"n", N}, {"o", O}, {"h", OH}, {"w", OW}},
      [&](Var n, Var o, Var h, Var v) {
        const Reduction<> total =
            sum(matrices.A(h % m, p) * y.products(p, q, n, o, h / m, v / m) * matrices.A(v % m, q), {p, q}, where);
        return bias.empty() ? total : total.from(Operand(bias(o), where));
      },
      where);
  return y;
}

}  // namespace ashlar::ops
