// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The expansions of the table of operators (ashlar/ir/operation.h), but for math functions (ir/math).
#include <ashlar/ir/operation.h>

namespace ashlar::ir::expansion {

// fixed_point.cpp
Expr add_sat(const Applied&);
Expr sub_sat(const Applied&);
Expr halving_add(const Applied&);
Expr rounding_halving_add(const Applied&);
Expr halving_sub(const Applied&);
Expr abs_diff(const Applied&);
Expr mul_high(const Applied&);
Expr mul_high_rounding(const Applied&);
Expr rounding_shr(const Applied&);

}  // namespace ashlar::ir::expansion
