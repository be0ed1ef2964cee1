// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/quantized.h>

namespace ashlar::ops {

namespace detail {

void expect_channels(const char* op, const char* argument, const PerChannel& p, const Expr& channels, Where where) {
  if (p.of_channels()) expect_shape(op, argument, p.tensor(), {channels}, "the channels", where);
}
void expect_bytes(const char* op, const char* argument, Type t, Where where) {
  expect(t.is_data_integer() && t.bits <= 16, op, std::string(argument) + " of integers of at most 16 bits", ir::text(t),
         where);
}

}  // namespace detail

Tensor quantize(const Tensor& x, const PerChannel& scale, const PerChannel& zero, Type type, int axis, Where where) {
  detail::expect_float("quantize", "x", x, where);
  detail::expect_bytes("quantize", "type", type, where);
  const bool channels = scale.of_channels() || zero.of_channels();
  const int d = channels ? detail::dimension("quantize", axis, x.rank(where), where) : 0;
  if (channels) detail::expect_channels("quantize", "scale", scale, x.extent(d, where), where);
  if (channels) detail::expect_channels("quantize", "zero", zero, x.extent(d, where), where);
  const Type wide = accumulator(x.type(where));
  return compute(
      "quantize", x.shape(where),
      [&](Indices i) {
        const Expr c = channels ? i[d] : Expr();
        // clamped before the zero is added, so that the sum is exact
        const Expr q = saturate(i32, ashlar::round(ashlar::clamp(wide(x(i, where)) / scale.at(c, wide, where), -65536, 65536)));
        return saturate(type, q + zero.at(c, i32, where));
      },
      where);
}
Tensor dequantize(const Tensor& q, const PerChannel& scale, const PerChannel& zero, int axis, Where where) {
  detail::expect_integer("dequantize", "q", q, where);
  const bool channels = scale.of_channels() || zero.of_channels();
  const int d = channels ? detail::dimension("dequantize", axis, q.rank(where), where) : 0;
  if (channels) detail::expect_channels("dequantize", "scale", scale, q.extent(d, where), where);
  if (channels) detail::expect_channels("dequantize", "zero", zero, q.extent(d, where), where);
  return compute(
      "dequantize", q.shape(where),
      [&](Indices i) {
        const Expr c = channels ? i[d] : Expr();
        return f32(i32(q(i, where)) - zero.at(c, i32, where)) * scale.at(c, f32, where);
      },
      where);
}
DynamicQuantized quantize_dynamic(const Tensor& x, Where where) {
  detail::expect_type("quantize_dynamic", "x", x, f32, where);
  DynamicQuantized q;
  q.minimum = reduce_min(x, {}, where), q.maximum = reduce_max(x, {}, where);
  const auto low = [&] { return min(q.minimum(where), 0); };
  q.scale = compute(
      "scale",
      [&] {
        const Expr span = max(q.maximum(where), 0) - low();
        return select(span == 0, f32(1), span / 255);
      },
      where);
  q.zero = compute("zero", [&] { return i32(saturate(u8, ashlar::round(-low() / q.scale(where)))); }, where);
  q.result = compute(
      "quantize_dynamic", x.shape(where),
      [&](Indices i) { return saturate(u8, ashlar::round(x(i, where) / q.scale(where)) + f32(q.zero(where))); }, where);
  return q;
}

Tensor requantize(const Tensor& acc, const PerChannel& multiplier, const PerChannel& shift, const PerChannel& zero, Type type,
                  int axis, Where where) {
  detail::expect_type("requantize", "acc", acc, i32, where);
  detail::expect_bytes("requantize", "type", type, where);
  const bool channels = multiplier.of_channels() || shift.of_channels() || zero.of_channels();
  const int d = channels ? detail::dimension("requantize", axis, acc.rank(where), where) : 0;
  for (const auto& [name, p] : {std::pair{"multiplier", &multiplier}, {"shift", &shift}, {"zero", &zero}})
    if (channels) detail::expect_channels("requantize", name, *p, acc.extent(d, where), where);
  return compute(
      "requantize", acc.shape(where),
      [&](Indices i) {
        const Expr c = channels ? i[d] : Expr();
        const Expr scaled =
            rounding_shr(mul_high_rounding(acc(i, where), multiplier.at(c, i32, where)), shift.at(c, i32, where));
        return saturate(type, add_sat(scaled, zero.at(c, i32, where)));
      },
      where);
}
Tensor requantize_by_scale(const Tensor& acc, const PerChannel& scale, const PerChannel& zero, Type type, int axis,
                           Where where) {
  detail::expect_type("requantize_by_scale", "acc", acc, i32, where);
  detail::expect_bytes("requantize_by_scale", "type", type, where);
  const bool channels = scale.of_channels() || zero.of_channels();
  const int d = channels ? detail::dimension("requantize_by_scale", axis, acc.rank(where), where) : 0;
  if (channels) detail::expect_channels("requantize_by_scale", "scale", scale, acc.extent(d, where), where);
  if (channels) detail::expect_channels("requantize_by_scale", "zero", zero, acc.extent(d, where), where);
  return compute(
      "requantize", acc.shape(where),
      [&](Indices i) {
        const Expr c = channels ? i[d] : Expr();
        const Expr q = saturate(i32, ashlar::round(f32(acc(i, where)) * scale.at(c, f32, where)));
        return saturate(type, add_sat(q, zero.at(c, i32, where)));
      },
      where);
}

Tensor quantized_matmul(const Tensor& a, const Tensor& b, const QuantizedMatmulOptions& o, const Tensor& bias, Where where) {
  const char* op = "quantized_matmul";
  detail::expect_bytes(op, "a", a.type(where), where);
  detail::expect_bytes(op, "b", b.type(where), where);
  detail::expect_rank_from(op, "a", a, 2, where);
  detail::expect_rank(op, "b", b, 2, where);
  detail::expect(!o.a_zero.of_channels(), op, "an a_zero of the whole tensor", "one of channels", where);
  const int last = a.rank(where) - 1, n = o.transpose_b ? 0 : 1;
  const Expr K = a.extent(last, where), N = b.extent(n, where);
  detail::expect_extent(op, "b", b, 1 - n, K, "the columns of a", where);
  detail::expect_channels(op, "b_zero", o.b_zero, N, where);
  if (!bias.empty())
    detail::expect_type(op, "bias", bias, i32, where), detail::expect_shape(op, "bias", bias, {N}, "the columns of b", where);
  const Axis k{"k", Operand(K, where), where};
  return compute(
      op, a.shape(where).with(last, Extent("j", N), where),
      [&](Indices i) {
        const Expr j = i[last];
        Expr x = i32(a(i.with(last, k), where)), y = i32(n == 1 ? b(k, j) : b(j, k));
        if (!o.a_zero.is_zero()) x = x - o.a_zero.at(j, i32, where);
        if (!o.b_zero.is_zero()) y = y - o.b_zero.at(j, i32, where);
        const Reduction<> total = sum(x * y, k, where);
        return bias.empty() ? total : total.from(Operand(bias(j), where));
      },
      where);
}
Tensor quantized_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const QuantizedConvOptions& o, Where where) {
  const char* op = "quantized_conv2d";
  const detail::Placed p{o.conv.layout, 2};
  detail::expect_rank(op, "w", w, p.rank_w(), where);
  detail::expect(!p.blocked() || !o.w_zero.of_channels(), op, "a w_zero of the whole tensor in channels_blocked",
                 "one of channels", where);
  return detail::quantized_window(
      op, x, w, bias, o.x_zero, o.w_zero, w.extent(p.out_channel(), where), where, [&](const Operand& pad, auto term) {
        return detail::convolve(op, x, w, bias, detail::windows(op, o.conv, where), o.conv.groups, p, i32, pad, where, term);
      });
}
Tensor quantized_depthwise_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const QuantizedDepthwiseOptions& o,
                                  Where where) {
  const char* op = "quantized_depthwise_conv2d";
  const detail::Placed p{o.conv.layout, 2};
  detail::expect_rank(op, "x", x, p.rank_x(), where);
  const Expr channels = detail::plain(x.extent(p.channel(), where) * o.conv.multiplier);
  return detail::quantized_window(op, x, w, bias, o.x_zero, o.w_zero, channels, where, [&](const Operand& pad, auto term) {
    return detail::depthwise(op, x, w, bias, o.conv, i32, pad, where, term);
  });
}

namespace {

using namespace detail;

struct Grouped {
  Tensor W, scale, zero;
  int group;
  Expr N, K;
  Grouped(const char* op, const Tensor& w, const Tensor& s, const Tensor& z, int g, Where where)
      : W(w), scale(s), zero(z), group(g) {
    expect(W.type(where) == i4 || W.type(where) == u4, op, "W of i4 or u4", ir::text(W.type(where)), where);
    expect(g >= 1, op, "a group of at least 1", std::to_string(g), where);
    expect_rank(op, "W", W, 2, where);
    expect_type(op, "scale", scale, f32, where);
    N = W.extent(0, where), K = W.extent(1, where);
    const Expr groups = plain(K / group);
    expect(same_extent(groups * group, K), op, "W whose dimension 1 is a multiple of " + std::to_string(group), ir::text(K),
           where);
    expect_shape(op, "scale", scale, {N, groups}, "the groups of W", where);
    if (!zero.empty())
      expect_type(op, "zero", zero, u4, where), expect_shape(op, "zero", zero, {N, groups}, "the groups of W", where);
  }
  Expr centered(const Expr& n, const Expr& k, Where where) const {  // i32
    const Expr q = i32(W(n, k));
    if (!zero.empty()) return q - i32(zero(n, k / group));
    return W.type(where) == u4 ? q - 8 : q;
  }
};
}  // namespace

Tensor int4_dequantize(const Tensor& W, const Tensor& scale, const Tensor& zero, int group, Where where) {
  const Grouped g("int4_dequantize", W, scale, zero, group, where);
  return compute(
      "int4_dequantize", {{"n", g.N}, {"k", g.K}},
      [&](Var n, Var k) { return f32(g.centered(n, k, where)) * scale(n, k / group); }, where);
}
Int4Matmul int4_matmul(const Tensor& x, const Tensor& W, const Tensor& scale, const Tensor& zero, int group, Where where) {
  detail::expect_float("int4_matmul", "x", x, where);
  detail::expect_rank_from("int4_matmul", "x", x, 1, where);
  Int4Matmul y;
  y.weights = int4_dequantize(W, scale, zero, group, where);
  const int last = x.rank(where) - 1;
  detail::expect_extent("int4_matmul", "x", x, last, W.extent(1, where), "the columns of W", where);
  const Type type = x.type(where), wide = accumulator(type);
  const Axis k{"k", Operand(W.extent(1, where), where), where};
  y.sum = compute(
      "int4_matmul", x.shape(where).with(last, Extent("n", W.extent(0, where)), where),
      [&](Indices i) { return sum(wide(x(i.with(last, k), where)) * wide(y.weights(i[last], k)), k, where); }, where);
  y.result = detail::converted("int4_matmul", y.sum, type, where);
  return y;
}
Int4Gemv int4_gemv(const Tensor& W, const Tensor& scale, const Tensor& x, Operand x_scale, int group, const Tensor& zero,
                   Where where) {
  const Grouped g("int4_gemv", W, scale, zero, group, where);
  detail::expect_bytes("int4_gemv", "x", x.type(where), where);
  detail::expect_shape("int4_gemv", "x", x, {g.K}, "the columns of W", where);
  const Axis k{"k", Operand(group, where), where}, b{"g", Operand(scale.extent(1, where), where), where};
  Int4Gemv y;
  y.part = compute(
      "int4_part", {{"n", g.N}, {"g", scale.extent(1, where)}},
      [&](Var n, Var c) {
        const Expr at = c * group + k;
        const Expr q = g.zero.empty() ? g.centered(n, at, where) : i32(W(n, at)) - i32(g.zero(n, c));
        return sum(q * i32(x(at)), k, where);
      },
      where);
  y.total = compute("int4_total", {{"n", g.N}}, [&](Var n) { return sum(f32(y.part(n, b)) * scale(n, b), b, where); }, where);
  y.result = compute("int4_gemv", {{"n", g.N}}, [&](Var n) { return y.total(n) * x_scale; }, where);
  return y;
}
Convolution int4_conv2d(const Tensor& x, const Tensor& w, const Tensor& scale, const Tensor& bias, const Conv2dOptions& o,
                        Where where) {
  const char* op = "int4_conv2d";
  detail::expect_float(op, "x", x, where);
  detail::expect_type(op, "w", w, i4, where);
  const detail::Placed p{o.layout, 2};
  detail::expect(!p.blocked(), op, "the layout channels_first or channels_last", "channels_blocked", where);
  detail::expect_rank(op, "w", w, 4, where);
  detail::expect_type(op, "scale", scale, f32, where);
  detail::expect_shape(op, "scale", scale, {w.extent(p.out_channel(), where)}, "the channels of the result", where);
  detail::expect_beside(op, "bias", bias, x.type(where), where);
  if (!bias.empty())
    detail::expect_shape(op, "bias", bias, {w.extent(p.out_channel(), where)}, "the channels of the result", where);
  const Type type = x.type(where), wide = accumulator(type);
  Convolution y;
  y.sum = detail::convolve(op, x, w, Tensor(), detail::windows(op, o, where), o.groups, p, wide, 0, where,
                           [&](const Expr& a, const Expr& b, const Expr&) { return wide(a) * wide(i32(b)); });
  y.result = compute(
      op, y.sum.shape(where),
      [&](Indices i) {
        const Expr c = i[p.channel()], e = y.sum(i, where) * wide(scale(c));
        return type(bias.empty() ? e : e + wide(bias(c)));
      },
      where);
  return y;
}

}  // namespace ashlar::ops
