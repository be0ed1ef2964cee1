// Evaluation of math functions on values.
#include "ir/math_table.h"

namespace ashlar::ir {

bool is_expanded_math(Op op, Type t) {
  switch (op) {
    case Op::rsqrt: case Op::cbrt: case Op::exp: case Op::exp2: case Op::expm1: case Op::log: case Op::log2: case Op::log1p:
    case Op::sin: case Op::cos: case Op::tan: case Op::asin: case Op::acos: case Op::atan: case Op::sinh: case Op::cosh:
    case Op::tanh: case Op::erf: case Op::erfc: case Op::pow: case Op::atan2: return true;
    case Op::mod: return t.is_float();
    default: return false;
  }
}

std::optional<Value> evaluate_math(Op, Type, std::span<const Value>) { return std::nullopt; }

}  // namespace ashlar::ir
