// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/activation.h>

namespace ashlar::ops {

Tensor relu(const Tensor& x, Where where) {  // max(x, 0); integers too
  detail::expect_numbers("relu", "x", x, where);
  return detail::map("relu", x, where, [](const Operand& e) { return max(e, 0); });
}
Tensor relu6(const Tensor& x, Where where) {  // min(max(x, 0), 6); integers too
  detail::expect_numbers("relu6", "x", x, where);
  return detail::map("relu6", x, where, [](const Operand& e) { return ashlar::clamp(e, 0, 6); });
}
Tensor leaky_relu(const Tensor& x, double slope, Where where) {
  return detail::map_wide("leaky_relu", x, where, [&](const Operand& e) { return select(e > 0, e, e * slope); });
}
Tensor prelu(const Tensor& x, const Tensor& slope, Where where) {
  detail::expect_float("prelu", "x", x, where);
  detail::expect_same_type("prelu", "x", x, "slope", slope, where);
  detail::expect_broadcast("prelu", "slope", slope, "x", x, where);
  const Type type = x.type(where), wide = accumulator(type);
  return compute(
      "prelu", x.shape(where),
      [&](Indices i) {
        const Expr e = wide(detail::aligned(x, i, where));
        return type(select(e > 0, e, e * wide(detail::aligned(slope, i, where))));
      },
      where);
}
Tensor elu(const Tensor& x, double alpha, Where where) {
  return detail::map_wide("elu", x, where, [&](const Operand& e) { return select(e > 0, e, ashlar::expm1(e) * alpha); });
}
Tensor celu(const Tensor& x, double alpha, Where where) {
  return detail::map_wide("celu", x, where,
                          [&](const Operand& e) { return select(e > 0, e, ashlar::expm1(e / alpha) * alpha); });
}
Tensor selu(const Tensor& x, Where where) {
  const double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
  return detail::map_wide("selu", x, where,
                          [&](const Operand& e) { return select(e > 0, e * scale, ashlar::expm1(e) * (alpha * scale)); });
}
Tensor gelu(const Tensor& x, Gelu form, Where where) {
  return detail::map_wide("gelu", x, where, [&](const Operand& e) {
    const double root_half = 0.70710678118654752440;
    if (form == Gelu::exact) return e * 0.5 * (1 + erf(e * root_half));
    if (form == Gelu::tail) return e * 0.5 * erfc(e * -root_half);
    return e * 0.5 * (1 + ashlar::tanh(0.79788456080286535588 * (e + 0.044715 * e * e * e)));
  });
}
Tensor silu(const Tensor& x, double beta, Where where) {
  return detail::map_wide("silu", x, where,
                          [&](const Operand& e) { return beta == 1 ? e * ashlar::sigmoid(e) : e * ashlar::sigmoid(e * beta); });
}
Tensor softplus(const Tensor& x, double beta, Where where) {
  return detail::map_wide("softplus", x, where, [&](const Operand& e) {
    return max(e, 0) + ashlar::log1p(ashlar::exp(-ashlar::abs(e * beta))) * (1 / beta);
  });
}
Tensor log_sigmoid(const Tensor& x, Where where) {  // -softplus(-x)
  return detail::map_wide("log_sigmoid", x, where,
                          [](const Operand& e) { return min(e, 0) - ashlar::log1p(ashlar::exp(-ashlar::abs(e))); });
}
Tensor mish(const Tensor& x, Where where) {  // x tanh(softplus(x)) (Misra, 2019)
  return detail::map_wide("mish", x, where, [](const Operand& e) {
    return e * ashlar::tanh(max(e, 0) + ashlar::log1p(ashlar::exp(-ashlar::abs(e))));
  });
}
Tensor softsign(const Tensor& x, Where where) {  // x / (1 + |x|)
  return detail::map_wide("softsign", x, where, [](const Operand& e) { return e / (1 + ashlar::abs(e)); });
}
Tensor hard_tanh(const Tensor& x, double low, double high, Where where) {  // clamp
  return detail::map_wide("hard_tanh", x, where, [&](const Operand& e) { return ashlar::clamp(e, low, high); });
}
Tensor hard_sigmoid(const Tensor& x, Where where) {  // clamp(x / 6 + 1/2, 0, 1)
  return detail::map_wide("hard_sigmoid", x, where, [](const Operand& e) { return ashlar::clamp(e * (1.0 / 6) + 0.5, 0, 1); });
}
Tensor hard_swish(const Tensor& x, Where where) {  // x clamp(x + 3, 0, 6) / 6 (Howard et al., 2019)
  return detail::map_wide("hard_swish", x, where, [](const Operand& e) { return e * ashlar::clamp(e + 3, 0, 6) * (1.0 / 6); });
}
Tensor threshold(const Tensor& x, Operand above, Operand otherwise, Where where) {
  return detail::map("threshold", x, where, [&](const Operand& e) { return select(e <= above, otherwise, e); });
}
Tensor tanh_shrink(const Tensor& x, Where where) {  // x - tanh(x)
  return detail::map_wide("tanh_shrink", x, where, [](const Operand& e) { return e - ashlar::tanh(e); });
}
Tensor soft_shrink(const Tensor& x, double by, Where where) {  // toward 0 by so much
  return detail::map_wide("soft_shrink", x, where,
                          [&](const Operand& e) { return select(e > by, e - by, select(e < -by, e + by, e * 0)); });
}

Tensor glu(const Tensor& x, int axis, Where where) {
  detail::expect_float("glu", "x", x, where);
  const int d = detail::dimension("glu", axis, x.rank(where), where);
  detail::expect_multiple("glu", "x", x, d, 2, where);
  const Expr half = detail::plain(x.extent(d, where) / 2);
  const Type type = x.type(where), wide = accumulator(type);
  return compute(
      "glu", x.shape(where).with(d, half, where),
      [&](Indices i) { return type(wide(x(i, where)) * ashlar::sigmoid(wide(x(i.with(d, i[d] + half), where)))); }, where);
}
Tensor swiglu(const Tensor& gate, const Tensor& up, Where where) {
  detail::expect_float("swiglu", "gate", gate, where);
  detail::expect_same_type("swiglu", "gate", gate, "up", up, where);
  detail::expect_shape("swiglu", "up", up, detail::extents(gate, where), "as gate has", where);
  const Type type = gate.type(where), wide = accumulator(type);
  return compute(
      "swiglu", gate.shape(where),
      [&](Indices i) {
        const Expr g = wide(gate(i, where));
        return type(g * ashlar::sigmoid(g) * wide(up(i, where)));
      },
      where);
}

}  // namespace ashlar::ops
