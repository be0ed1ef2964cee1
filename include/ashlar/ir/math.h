// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Math functions as arithmetic. exp, log, sin, … are replaced by expressions over +, *, fma, select, comparisons, bit casts and
// shifts, so that the interpreter, x86, ARM and bare metal agree bit for bit, and so that they vectorize.
//
//   Expr e = ir::expand_math(ir::unary(Op::exp, x));    // x: f32, or f64, or a vector of them
//
// Functions of f16, bf16 and the 8-bit floats are computed in f32 and rounded. docs/ir.md, "Math functions", has measured error
// bounds.
#include <optional>
#include <span>

#include <ashlar/ir/expr.h>
#include <ashlar/ir/numeric.h>

namespace ashlar::ir {

// Replaces every math function inside: rsqrt, cbrt, exp, exp2, expm1, log, log2, log1p, sin, cos, tan, asin, acos, atan, sinh,
// cosh, tanh, erf, erfc, sigmoid, pow, atan2, the fast forms and mod of floats. What remains is native: sqrt, floor, ceil,
// round, trunc, abs, copysign.
Expr expand_math(const Expr&);

bool is_expanded_math(Op, Type operand);                // whether expand_math replaces the operator on operands of this type
Expr expand_math_call(Op, std::span<const Expr> args);  // one call, on operands that are expanded already

Op fast_form(Op);      // exp -> fast_exp; an operator without a fast form is returned as it is
Op accurate_form(Op);  // fast_exp -> exp, approximate_exp2 -> exp2; all others are returned as they are

}  // namespace ashlar::ir
