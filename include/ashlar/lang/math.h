// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elementwise functions. All operands of a function have the same type, by the rules of lang/operand.h. The headings below say
// which types are allowed; others are refused. docs/ir.md defines the edge cases (NaN, overflow, shift counts that are too
// large).
//
//   select(i > 0, A(i - 1), 0)     reads nothing where the condition is false, so the index needs no clamp
//   saturate(i8, f32(x) * scale)   rounds to nearest even, then clamps; NaN gives 0
#include <ashlar/lang/expr.h>

namespace ashlar {

Expr select(Operand condition, Operand if_true, Operand if_false);  // only the chosen arm is read
template <std::size_t N>
std::array<Expr, N> select(Operand condition, const std::array<Expr, N>& if_true, const std::array<Expr, N>& if_false) {
  std::array<Expr, N> chosen;
  for (std::size_t k = 0; k < N; ++k)
    chosen[k] = select(condition, Operand(if_true[k], condition.where()), Operand(if_false[k], condition.where()));
  return chosen;
}

// ---- all numeric types
Expr min(Operand, Operand);  // of floats: NaN if one is NaN
Expr max(Operand, Operand);
Expr clamp(Operand value, Operand low, Operand high);          // max(min(value, high), low): both ends are included
Expr min(const Expr&, const Expr&, Where = Where::current());  // exact matches, which also win under `using namespace std`
Expr max(const Expr&, const Expr&, Where = Where::current());
Expr clamp(const Expr&, const Expr&, const Expr&, Where = Where::current());
Expr abs(Operand);  // wraps for the lowest integer: abs(-128) of i8 is -128
Expr in_range(Operand value, Operand low,
              Operand high);  // promises low <= value < high; the interpreter checks it, compiled code trusts it
Expr fast(Operand);           // uses shorter, less accurate math functions: docs/ir.md, "Math functions"
Expr approximate(Operand);    // permits the target's own approximations of exp, exp2, sigmoid: docs/ir.md, "Approximations"

// ---- floating-point types: docs/ir.md, "Math functions", has the error bounds
Expr sqrt(Operand);   // correctly rounded
Expr rsqrt(Operand);  // 1 / sqrt(x)
Expr cbrt(Operand);   // cube root
Expr exp(Operand);
Expr exp2(Operand);   // 2^x
Expr expm1(Operand);  // exp(x) - 1
Expr log(Operand);
Expr log2(Operand);
Expr log1p(Operand);  // log(1 + x)
Expr sin(Operand);    // all angles are in radians
Expr cos(Operand);
Expr tan(Operand);
Expr asin(Operand);
Expr acos(Operand);
Expr atan(Operand);
Expr atan2(Operand y, Operand x);  // the angle of the point (x, y), from -pi to pi
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
Expr trunc(Operand);  // toward zero
Expr copysign(Operand magnitude, Operand sign);
Expr fma(Operand a, Operand b, Operand c);  // a * b + c, rounded once
Expr isnan(Operand);
Expr isinf(Operand);

// ---- integer types: sums, differences and products inside a formula are exact
Expr trunc_div(Operand, Operand);                // rounds toward zero, as / of C; / of the language rounds down
Expr trunc_rem(Operand, Operand);                // the remainder of trunc_div, as % of C
Expr popcount(Operand);                          // the number of bits that are 1
Expr clz(Operand);                               // the number of zeros above the highest 1; for 0, all bits
Expr ctz(Operand);                               // the number of zeros below the lowest 1; for 0, all bits
Expr rounding_shr(Operand value, Operand bits);  // value / 2^bits, rounded to nearest, halves up (CMSIS-NN, gemmlowp)
Expr rounding_shl(Operand value, Operand bits);  // value 2^bits; of signed types, negative bits shift right and round (SRSHL)
Expr mul_high(Operand a, Operand b);             // ab >> n: the upper half of the product
Expr mul_high_rounding(Operand a, Operand b);    // (2ab + 2^(n-1)) >> n, saturating: SQRDMULH
Expr add_sat(Operand a, Operand b);              // clamps to the range of the type; + wraps
Expr sub_sat(Operand a, Operand b);
Expr halving_add(Operand a, Operand b);           // (a + b) >> 1
Expr rounding_halving_add(Operand a, Operand b);  // (a + b + 1) >> 1: pavgb, URHADD
Expr halving_sub(Operand a, Operand b);           // (a - b) >> 1; unsigned differences below 0 wrap
Expr abs_diff(Operand a, Operand b);              // |a - b|, in the unsigned type of the same width
Expr widening_add(Operand a, Operand b);          // in the type of twice the width: i8 + i8 is an i16
Expr widening_sub(Operand a, Operand b);          // the same, always signed: u8 - u8 is an i16
Expr widening_mul(Operand a, Operand b);

// Conversions beyond those written as a type's name, f32(x).
Expr saturate(Type, Operand);  // clamps to the range of the type; for floating-point types, to the finite numbers
Expr bitcast(Type, Operand);   // the same bits in another type of the same width

// Constants.
Expr lowest(Type, Where = Where::current());    // minus infinity; -448 for e4m3, which has no infinity
Expr highest(Type, Where = Where::current());   // plus infinity; 448 for e4m3
Expr infinity(Type, Where = Where::current());  // of a floating-point type that has infinities; others are refused

namespace lang {
// An operation as its row of the table of operators describes it (ir/operation.h): the name that refusals show, and the types.
// Functions and rounding take floats; bits, shifts and fixed-point arithmetic integers of 8 to 64 bits; all others numbers.
Expr applied(ir::Op, Operand);
Expr applied(ir::Op, Operand, Operand);
}  // namespace lang

inline Expr popcount(Operand a) { return lang::applied(ir::Op::popcount, a); }
inline Expr clz(Operand a) { return lang::applied(ir::Op::clz, a); }
inline Expr ctz(Operand a) { return lang::applied(ir::Op::ctz, a); }
inline Expr rounding_shr(Operand a, Operand b) { return lang::applied(ir::Op::rounding_shr, a, b); }
inline Expr mul_high(Operand a, Operand b) { return lang::applied(ir::Op::mul_high, a, b); }
inline Expr mul_high_rounding(Operand a, Operand b) { return lang::applied(ir::Op::mul_high_rounding, a, b); }
inline Expr add_sat(Operand a, Operand b) { return lang::applied(ir::Op::add_sat, a, b); }
inline Expr sub_sat(Operand a, Operand b) { return lang::applied(ir::Op::sub_sat, a, b); }
inline Expr halving_add(Operand a, Operand b) { return lang::applied(ir::Op::halving_add, a, b); }
inline Expr rounding_halving_add(Operand a, Operand b) { return lang::applied(ir::Op::rounding_halving_add, a, b); }
inline Expr halving_sub(Operand a, Operand b) { return lang::applied(ir::Op::halving_sub, a, b); }

}  // namespace ashlar
