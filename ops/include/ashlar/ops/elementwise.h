// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elementwise functions, and arithmetic that broadcasts as in NumPy: shapes are aligned at the right, and an extent that is the
// number 1 is stretched. A Symbol is not stretched: beside another extent it is refused, even if each call gives it 1. Operands
// have one type; convert with `cast`. Each function is one stage.
//
//   Tensor y = ops::add(ops::mul(x, scale), shift);      x: [N, C, H, W], scale and shift: [C, 1, 1]
#include <ashlar/ops/common.h>

namespace ashlar::ops {

// ---- one operand: y(i) = f(x(i)); floating-point types unless the comment says otherwise -----------------------------------

#define ASHLAR_OPS_UNARY(NAME)                                                                   \
  inline Tensor NAME(const Tensor& x, Where where = Where::current()) {                          \
    return detail::map_float(#NAME, x, where, [](const Operand& e) { return ashlar::NAME(e); }); \
  }
ASHLAR_OPS_UNARY(sqrt)
ASHLAR_OPS_UNARY(rsqrt)
ASHLAR_OPS_UNARY(cbrt)
ASHLAR_OPS_UNARY(exp)
ASHLAR_OPS_UNARY(exp2)
ASHLAR_OPS_UNARY(expm1)
ASHLAR_OPS_UNARY(log)
ASHLAR_OPS_UNARY(log2)
ASHLAR_OPS_UNARY(log1p)
ASHLAR_OPS_UNARY(sin)
ASHLAR_OPS_UNARY(cos)
ASHLAR_OPS_UNARY(tan)
ASHLAR_OPS_UNARY(asin)
ASHLAR_OPS_UNARY(acos)
ASHLAR_OPS_UNARY(atan)
ASHLAR_OPS_UNARY(sinh)
ASHLAR_OPS_UNARY(cosh)
ASHLAR_OPS_UNARY(tanh)
ASHLAR_OPS_UNARY(erf)
ASHLAR_OPS_UNARY(erfc)
ASHLAR_OPS_UNARY(sigmoid)
ASHLAR_OPS_UNARY(floor)
ASHLAR_OPS_UNARY(ceil)
ASHLAR_OPS_UNARY(round)  // to nearest, ties to even
ASHLAR_OPS_UNARY(trunc)
ASHLAR_OPS_UNARY(isnan)  // the result is bool
ASHLAR_OPS_UNARY(isinf)
#undef ASHLAR_OPS_UNARY

inline Tensor isfinite(const Tensor& x, Where where = Where::current()) {
  return detail::map_float("isfinite", x, where, [](const Operand& e) { return !isnan(e) && !isinf(e); });
}
// For all numeric types. neg and abs of the lowest integer wrap to that integer.
Tensor neg(const Tensor& x, Where where = Where::current());
Tensor abs(const Tensor& x, Where where = Where::current());
Tensor square(const Tensor& x, Where where = Where::current());
Tensor reciprocal(const Tensor& x, Where where = Where::current());
// -1, 0 or 1. A zero keeps its sign, and NaN gives NaN.
Tensor sign(const Tensor& x, Where where = Where::current());
Tensor logical_not(const Tensor& x, Where where = Where::current());
Tensor bitwise_not(const Tensor& x, Where where = Where::current());
// Any conversion of the language (docs/ir.md, "Conversions"). Integers wrap; floats round to nearest even. Conversions from
// floats to integers round toward zero and clamp; NaN becomes 0.
Tensor cast(const Tensor& x, Type to, Where where = Where::current());
// Rounds to nearest even, then clamps to the range of the type.
Tensor saturating_cast(const Tensor& x, Type to, Where where = Where::current());
// max(min(x, high), low). NaN gives NaN. The bounds take the type of x.
Tensor clamp(const Tensor& x, Operand low, Operand high, Where where = Where::current());

// ---- two operands ----------------------------------------------------------------------------------------------------------

#define ASHLAR_OPS_BINARY(NAME, FORMULA)                                                                \
  inline Tensor NAME(const Tensor& a, const Tensor& b, Where where = Where::current()) {                \
    return detail::zip(#NAME, a, b, where, [](const Operand& x, const Operand& y) { return FORMULA; }); \
  }
ASHLAR_OPS_BINARY(add, x + y)
ASHLAR_OPS_BINARY(sub, x - y)
ASHLAR_OPS_BINARY(mul, x* y)
ASHLAR_OPS_BINARY(div, x / y)                  // integers round toward negative infinity; docs/ir.md defines division by 0
ASHLAR_OPS_BINARY(remainder, x % y)            // of the quotient that is rounded down: has the sign of b, as % in Python
ASHLAR_OPS_BINARY(minimum, ashlar::min(x, y))  // NaN if one operand is NaN
ASHLAR_OPS_BINARY(maximum, ashlar::max(x, y))
ASHLAR_OPS_BINARY(pow, ashlar::pow(x, y))
ASHLAR_OPS_BINARY(atan2, ashlar::atan2(x, y))
ASHLAR_OPS_BINARY(squared_difference, (x - y) * (x - y))
ASHLAR_OPS_BINARY(equal, x == y)  // the result of comparisons is bool
ASHLAR_OPS_BINARY(not_equal, x != y)
ASHLAR_OPS_BINARY(less, x < y)
ASHLAR_OPS_BINARY(less_equal, x <= y)
ASHLAR_OPS_BINARY(greater, x > y)
ASHLAR_OPS_BINARY(greater_equal, x >= y)
ASHLAR_OPS_BINARY(logical_and, x.expr() && y.expr())
ASHLAR_OPS_BINARY(logical_or, x.expr() || y.expr())
ASHLAR_OPS_BINARY(logical_xor, x != y)
ASHLAR_OPS_BINARY(bitwise_and, x& y)
ASHLAR_OPS_BINARY(bitwise_or, x | y)
ASHLAR_OPS_BINARY(bitwise_xor, x ^ y)
ASHLAR_OPS_BINARY(shift_left, x << y)
ASHLAR_OPS_BINARY(shift_right, x >> y)
#undef ASHLAR_OPS_BINARY

// condition(i) ? a(i) : b(i); all three broadcast. Only the chosen element is read. condition: bool.
inline Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Where at = Where::current()) {
  detail::expect_type("where", "condition", condition, bool_, at);
  detail::expect_same_type("where", "a", a, "b", b, at);
  return compute(
      "where", detail::broadcast_shape("where", {{"condition", &condition}, {"a", &a}, {"b", &b}}, at),
      [&](Indices i) {
        return select(Operand(detail::aligned(condition, i, at), at), detail::aligned(a, i, at), detail::aligned(b, i, at));
      },
      at);
}
// a + weight (b - a). The weight is a number or a Scalar.
Tensor lerp(const Tensor& a, const Tensor& b, Operand weight, Where where = Where::current());
// x multiplied by a number, or by a Scalar of the type of x.
Tensor scale(const Tensor& x, Operand by, Where where = Where::current());
// x plus a number, or plus a Scalar of the type of x.
Tensor shift(const Tensor& x, Operand by, Where where = Where::current());

// Copies x into the given shape: stretches extents of 1 and adds dimensions in front.
Tensor broadcast_to(const Tensor& x, const Shape& to, Where where = Where::current());

}  // namespace ashlar::ops
