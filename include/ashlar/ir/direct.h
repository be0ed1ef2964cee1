// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The frequent operators as functions, chosen once for an operator and its types and called for each point: what
// `evaluate` (ir/numeric.h) gives, without its decisions. The interpreter's inner loops call them.
//
//   Value sum{f32, {}};
//   const Direct add = direct(Op::add, f32, f32);
//   add(x, y, none, sum)                        sum is x + y
#include <ashlar/ir/numeric.h>

namespace ashlar::ir {

// Computes `result` from operands of the types it was chosen for; the type of `result` is set already. Operands that the
// operator does not have are ignored. False where an index leaves 63 bits; `result` has no meaning then.
using Direct = bool (*)(const Value& a, const Value& b, const Value& c, Value& result);

// The function for `op` with a result of type `result` and a first operand of type `operand`, one lane each. Null where
// there is none: ask `evaluate` then.
Direct direct(Op op, Type result, Type operand);

}  // namespace ashlar::ir
