#pragma once
// Evaluation of math functions through their expansion, for ir/numeric.cpp.
#include <optional>
#include <span>

#include <ashlar/ir/numeric.h>

namespace ashlar::ir {

bool is_expanded_math(Op, Type operand);  // what expand_math (ir/math.h) replaces
std::optional<Value> evaluate_math(Op, Type, std::span<const Value> args);

}  // namespace ashlar::ir
