// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The expansions of the table of operators (ashlar/ir/operation.h), except for math functions (ir/math).
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

// quotients.cpp
Expr div(const Applied&);
Expr mod(const Applied&);  // of floats too
Expr trunc_div(const Applied&);
Expr trunc_rem(const Applied&);

// integers.cpp
Expr shifted(const Applied&);       // shl, shr
Expr least(const Applied&);         // min
Expr greatest(const Applied&);      // max
Expr magnitude(const Applied&);     // abs
Expr counted_bits(const Applied&);  // popcount, clz, ctz
// The range of a shift's amount; all amounts beyond bits + 1 have the same effect. Empty if the amount may be negative: it is
// then read as unsigned.
std::optional<Interval> known_amount(const Applied&);

// conversions.cpp
Expr cast(const Applied&);
Expr saturate(const Applied&);

// bools.cpp
Expr and_of_bools(const Applied&);
Expr or_of_bools(const Applied&);
Expr xor_of_bools(const Applied&);
Expr not_of_bool(const Applied&);
Expr lt_of_bools(const Applied&);
Expr le_of_bools(const Applied&);
Expr gt_of_bools(const Applied&);
Expr ge_of_bools(const Applied&);

// floats.cpp
Expr min(const Applied&);
Expr max(const Applied&);
Expr isnan(const Applied&);
Expr isinf(const Applied&);
Expr copysign(const Applied&);
Expr rounded(const Applied&);  // floor, ceil, round, trunc

// fma.cpp
Expr fma(const Applied&);

}  // namespace ashlar::ir::expansion
