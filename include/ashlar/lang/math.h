// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elementwise functions. Each takes operands of one type by the rules of lang/operand.h; which types a function takes is said
// beside it, anything else is refused. Corner values (NaN, overflow, shifts too far) are stated in docs/ir.md.
//
//   select(i > 0, A(i - 1), 0)     the arm that is not taken is not read: no clamp is needed
//   saturate(i8, f32(x) * scale)   rounds to nearest even, then clamps; NaN gives 0
#include <ashlar/lang/expr.h>

namespace ashlar {

Expr select(Operand condition, Operand if_true, Operand if_false);  // the arm that is not taken reads nothing
template <std::size_t N>
std::array<Expr, N> select(Operand condition, const std::array<Expr, N>& if_true, const std::array<Expr, N>& if_false) {
  std::array<Expr, N> chosen;
  for (std::size_t k = 0; k < N; ++k)
    chosen[k] = select(condition, Operand(if_true[k], condition.where()), Operand(if_false[k], condition.where()));
  return chosen;
}

// ---- any number
Expr min(Operand, Operand);  // of floats: NaN where one is
Expr max(Operand, Operand);
Expr clamp(Operand value, Operand low, Operand high);          // both ends included: max(min(value, high), low)
Expr min(const Expr&, const Expr&, Where = Where::current());  // exact matches: survive `using namespace std` as well
Expr max(const Expr&, const Expr&, Where = Where::current());
Expr clamp(const Expr&, const Expr&, const Expr&, Where = Where::current());
Expr abs(Operand);  // of the lowest integer itself
Expr in_range(Operand value, Operand low,
              Operand high);  // a promise (half open), checked by the interpreter and the checked build
Expr fast(Operand);           // its math functions in their fast forms: docs/ir.md, "Math functions"

// ---- floating types; bounds of errors are in docs/ir.md, "Math functions"
Expr sqrt(Operand);   // correctly rounded
Expr rsqrt(Operand);  // 1 / sqrt(x)
Expr cbrt(Operand);   // the cube root
Expr exp(Operand);
Expr exp2(Operand);   // 2^x
Expr expm1(Operand);  // exp(x) - 1
Expr log(Operand);
Expr log2(Operand);
Expr log1p(Operand);  // log(1 + x)
Expr sin(Operand);    // radians, as all angles
Expr cos(Operand);
Expr tan(Operand);
Expr asin(Operand);
Expr acos(Operand);
Expr atan(Operand);
Expr atan2(Operand y, Operand x);  // the angle of (x, y), from -pi to pi
Expr sinh(Operand);
Expr cosh(Operand);
Expr tanh(Operand);
Expr erf(Operand);
Expr erfc(Operand);     // 1 - erf(x)
Expr sigmoid(Operand);  // 1 / (1 + exp(-x))
Expr pow(Operand base, Operand exponent);
Expr floor(Operand);
Expr ceil(Operand);
Expr round(Operand);  // to nearest, ties to even
Expr trunc(Operand);  // towards zero
Expr copysign(Operand magnitude, Operand sign);
Expr fma(Operand a, Operand b, Operand c);  // a * b + c, rounded once
Expr isnan(Operand);
Expr isinf(Operand);

// ---- integer types; the sums, differences and products inside are exact
Expr trunc_div(Operand, Operand);                // as C divides; / is the floor
Expr trunc_rem(Operand, Operand);                // as C's %
Expr popcount(Operand);                          // bits that are 1
Expr clz(Operand);                               // zeros before the highest 1; of 0 all bits
Expr ctz(Operand);                               // zeros behind the lowest 1; of 0 all bits
Expr rounding_shr(Operand value, Operand bits);  // rounds to nearest (CMSIS-NN, gemmlowp)
Expr rounding_shl(Operand value, Operand bits);  // signed: negative bits shift right and round (SRSHL)
Expr mul_high(Operand a, Operand b);             // ab >> n: the upper half of the product
Expr mul_high_rounding(Operand a, Operand b);    // (2ab + 2^(n-1)) >> n, saturating: SQRDMULH
Expr add_sat(Operand a, Operand b);              // clamps to the range of the type, where + wraps
Expr sub_sat(Operand a, Operand b);
Expr halving_add(Operand a, Operand b);           // (a + b) >> 1
Expr rounding_halving_add(Operand a, Operand b);  // (a + b + 1) >> 1: pavgb, URHADD
Expr halving_sub(Operand a, Operand b);           // (a - b) >> 1; unsigned differences below 0 wrap
Expr abs_diff(Operand a, Operand b);              // |a - b|, of the unsigned type of the same width
Expr widening_add(Operand a, Operand b);          // of the type of twice the width: i8 + i8 is an i16
Expr widening_sub(Operand a, Operand b);          // the same, signed for unsigned operands as well: u8 - u8 is an i16
Expr widening_mul(Operand a, Operand b);

// conversions by name, beside f32(x)
Expr saturate(Type, Operand);  // clamps to the range of the type; to the largest finite number of a floating one
Expr bitcast(Type, Operand);   // the same bits; the types have the same width

// constants
Expr lowest(Type, Where = Where::current());    // minus infinity for floating types, -448 for e4m3, which has none
Expr highest(Type, Where = Where::current());   // plus infinity for floating types, 448 for e4m3
Expr infinity(Type, Where = Where::current());  // floating types that have it

}  // namespace ashlar
