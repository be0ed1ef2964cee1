// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Activations, elementwise, of floating types; each is one stage of the shape of x. They are computed in accumulator(type) and
// rounded to the type of x once; bounds of errors are those of the math functions they are made of (docs/ir.md). Where a NaN
// goes in, a NaN comes out.
//
//   Tensor y = ops::gelu(ops::dense(x, w, b), ops::Gelu::tanh);
#include <cmath>
#include <limits>

#include <ashlar/ops/common.h>

namespace ashlar::ops {

inline Tensor relu(const Tensor& x, Where where = Where::current()) {  // max(x, 0); integers too
  detail::expect_numbers("relu", "x", x, where);
  return detail::map("relu", x, where, [](const Operand& e) { return max(e, 0); });
}
inline Tensor relu6(const Tensor& x, Where where = Where::current()) {  // min(max(x, 0), 6); integers too
  detail::expect_numbers("relu6", "x", x, where);
  return detail::map("relu6", x, where, [](const Operand& e) { return ashlar::clamp(e, 0, 6); });
}
// x where x > 0, else slope x.
inline Tensor leaky_relu(const Tensor& x, double slope = 0.01, Where where = Where::current()) {
  return detail::map_wide("leaky_relu", x, where, [&](const Operand& e) { return select(e > 0, e, e * slope); });
}
// The same with a slope for each element; slope: broadcast against x, [C, 1, 1] for a channel of NCHW.
inline Tensor prelu(const Tensor& x, const Tensor& slope, Where where = Where::current()) {
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
// x where x > 0, else alpha (exp(x) - 1) (Clevert, Unterthiner and Hochreiter, 2016).
inline Tensor elu(const Tensor& x, double alpha = 1, Where where = Where::current()) {
  return detail::map_wide("elu", x, where, [&](const Operand& e) { return select(e > 0, e, ashlar::expm1(e) * alpha); });
}
// max(x, 0) + min(alpha (exp(x / alpha) - 1), 0) (Barron, 2017).
inline Tensor celu(const Tensor& x, double alpha = 1, Where where = Where::current()) {
  return detail::map_wide("celu", x, where,
                          [&](const Operand& e) { return select(e > 0, e, ashlar::expm1(e / alpha) * alpha); });
}
// scale elu(x), the constants of Klambauer et al., Self-normalizing neural networks, 2017.
inline Tensor selu(const Tensor& x, Where where = Where::current()) {
  const double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
  return detail::map_wide("selu", x, where,
                          [&](const Operand& e) { return select(e > 0, e * scale, ashlar::expm1(e) * (alpha * scale)); });
}
// x P(X <= x) for a normal X (Hendrycks and Gimpel, 2016): exact, x / 2 (1 + erf(x / sqrt 2)), the error of which is a few
// units of x / 2, also where the result is near 0; or by tanh, x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))); or tail, x /
// 2 erfc(-x / sqrt 2), which keeps its relative error in the left tail and takes several times as long. Of minus infinity NaN,
// as in PyTorch.
enum class Gelu { exact, tanh, tail };
inline Tensor gelu(const Tensor& x, Gelu form = Gelu::exact, Where where = Where::current()) {
  return detail::map_wide("gelu", x, where, [&](const Operand& e) {
    const double root_half = 0.70710678118654752440;
    if (form == Gelu::exact) return e * 0.5 * (1 + erf(e * root_half));
    if (form == Gelu::tail) return e * 0.5 * erfc(e * -root_half);
    return e * 0.5 * (1 + ashlar::tanh(0.79788456080286535588 * (e + 0.044715 * e * e * e)));
  });
}
// x sigmoid(beta x): SiLU for beta = 1, else Swish (Ramachandran, Zoph and Le, 2017).
inline Tensor silu(const Tensor& x, double beta = 1, Where where = Where::current()) {
  return detail::map_wide("silu", x, where,
                          [&](const Operand& e) { return beta == 1 ? e * ashlar::sigmoid(e) : e * ashlar::sigmoid(e * beta); });
}
// log(1 + exp(beta x)) / beta, as max(x, 0) + log(1 + exp(-|beta x|)) / beta, which does not overflow.
inline Tensor softplus(const Tensor& x, double beta = 1, Where where = Where::current()) {
  return detail::map_wide("softplus", x, where, [&](const Operand& e) {
    return max(e, 0) + ashlar::log1p(ashlar::exp(-ashlar::abs(e * beta))) * (1 / beta);
  });
}
inline Tensor log_sigmoid(const Tensor& x, Where where = Where::current()) {  // -softplus(-x)
  return detail::map_wide("log_sigmoid", x, where,
                          [](const Operand& e) { return min(e, 0) - ashlar::log1p(ashlar::exp(-ashlar::abs(e))); });
}
inline Tensor mish(const Tensor& x, Where where = Where::current()) {  // x tanh(softplus(x)) (Misra, 2019)
  return detail::map_wide("mish", x, where, [](const Operand& e) {
    return e * ashlar::tanh(max(e, 0) + ashlar::log1p(ashlar::exp(-ashlar::abs(e))));
  });
}
inline Tensor softsign(const Tensor& x, Where where = Where::current()) {  // x / (1 + |x|)
  return detail::map_wide("softsign", x, where, [](const Operand& e) { return e / (1 + ashlar::abs(e)); });
}
inline Tensor hard_tanh(const Tensor& x, double low = -1, double high = 1, Where where = Where::current()) {  // clamp
  return detail::map_wide("hard_tanh", x, where, [&](const Operand& e) { return ashlar::clamp(e, low, high); });
}
inline Tensor hard_sigmoid(const Tensor& x, Where where = Where::current()) {  // clamp(x / 6 + 1/2, 0, 1)
  return detail::map_wide("hard_sigmoid", x, where, [](const Operand& e) { return ashlar::clamp(e * (1.0 / 6) + 0.5, 0, 1); });
}
inline Tensor hard_swish(const Tensor& x, Where where = Where::current()) {  // x clamp(x + 3, 0, 6) / 6 (Howard et al., 2019)
  return detail::map_wide("hard_swish", x, where, [](const Operand& e) { return e * ashlar::clamp(e + 3, 0, 6) * (1.0 / 6); });
}
// x where x > above, else otherwise; integers too.
inline Tensor threshold(const Tensor& x, Operand above, Operand otherwise, Where where = Where::current()) {
  return detail::map("threshold", x, where, [&](const Operand& e) { return select(e <= above, otherwise, e); });
}
inline Tensor tanh_shrink(const Tensor& x, Where where = Where::current()) {  // x - tanh(x)
  return detail::map_wide("tanh_shrink", x, where, [](const Operand& e) { return e - ashlar::tanh(e); });
}
inline Tensor soft_shrink(const Tensor& x, double by = 0.5, Where where = Where::current()) {  // towards 0 by so much
  return detail::map_wide("soft_shrink", x, where,
                          [&](const Operand& e) { return select(e > by, e - by, select(e < -by, e + by, e * 0)); });
}

// a sigmoid(b), a and b the halves of x along the axis (Dauphin et al., 2017). The extent is even, as its number or the
// multiple_of of its Symbol shows.
inline Tensor glu(const Tensor& x, int axis = -1, Where where = Where::current()) {
  detail::expect_float("glu", "x", x, where);
  const int d = detail::dimension("glu", axis, x.rank(where), where);
  detail::expect_multiple("glu", "x", x, d, 2, where);
  const Expr half = detail::plain(x.extent(d, where) / 2);
  const Type type = x.type(where), wide = accumulator(type);
  return compute(
      "glu", x.shape(where).with(d, half, where),
      [&](Indices i) { return type(wide(x(i, where)) * ashlar::sigmoid(wide(x(i.with(d, i[d] + half), where)))); }, where);
}
// silu(gate) up, of one shape (Shazeer, GLU variants improve transformer, 2020).
inline Tensor swiglu(const Tensor& gate, const Tensor& up, Where where = Where::current()) {
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
