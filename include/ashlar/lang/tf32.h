// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Products of f32 on tensor cores, with factors rounded to tf32 because the program says so.
//
//   sum(round_to_tf32(A(i, k)) * round_to_tf32(B(k, j)), k)      with tiles: one mma of tf32
#include <ashlar/lang/math.h>

namespace ashlar {

// x with 10 bits of fraction instead of 23: the nearest such number, ties to even. x is of type f32, and so is the result.
Expr round_to_tf32(Operand x);

}  // namespace ashlar
