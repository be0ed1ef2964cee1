// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Evaluation of math functions on values through their expansion, for ir/numeric.cpp.
#include <optional>
#include <span>

#include <ashlar/ir/math.h>
#include <ashlar/ir/numeric.h>

namespace ashlar::ir {

std::optional<Value> evaluate_math(Op, Type, std::span<const Value> args);

}  // namespace ashlar::ir
