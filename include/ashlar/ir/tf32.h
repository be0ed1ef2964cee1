// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Numbers of tf32, the format in which tensor cores multiply f32 fast: 8 bits of exponent and 10 of fraction, held as f32. The
// product of two such numbers is exact in f32, unless it overflows or is too small.
#include <optional>

#include <ashlar/ir/expr.h>

namespace ashlar::ir {

// The nearest number of tf32, ties to even; beyond the largest, infinity. NaN stays NaN. Written with integer operators on the
// bits of x, of type f32.
Expr round_to_tf32(const Expr& x, Where = {});
// x, where the expression is round_to_tf32(x).
std::optional<Expr> rounded_to_tf32(const Expr&);

}  // namespace ashlar::ir
