// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the operators of fixed-point and pixel arithmetic compute, for the table of operators (ashlar/ir/operation.h).
#include <ashlar/ir/numeric.h>

namespace ashlar::ir::exact {

Value add_sat(std::span<const Value>);
Value sub_sat(std::span<const Value>);
Value halving_add(std::span<const Value>);
Value rounding_halving_add(std::span<const Value>);
Value halving_sub(std::span<const Value>);
Value abs_diff(std::span<const Value>);
Value mul_high(std::span<const Value>);
Value mul_high_rounding(std::span<const Value>);

}  // namespace ashlar::ir::exact
