// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Frequent operators as functions, selected once for an operator and its types and called for each point. They give the results
// of `evaluate` (ir/numeric.h) without its dispatch. The interpreter's inner loops call them.
//
//   Value sum{f32, {}};
//   const Direct add = direct(Op::add, f32, f32);
//   add(x, y, none, sum)                        sum is x + y
#include <ashlar/ir/numeric.h>

namespace ashlar::ir {

// Computes `result` from operands of the types it was selected for; the type of `result` is already set. Operands that the
// operator does not have are ignored. Returns false if an index leaves 63 bits; `result` is then meaningless.
using Direct = bool (*)(const Value& a, const Value& b, const Value& c, Value& result);

// The function for `op` with a result of type `result` and a first operand of type `operand`, one lane each. Null if there is
// none; call `evaluate` instead.
Direct direct(Op op, Type result, Type operand);

}  // namespace ashlar::ir
