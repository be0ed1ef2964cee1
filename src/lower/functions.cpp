// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no machine has directly is spelled out: arithmetic on floats narrower than 32 bits computes in f32 and rounds once to
// its type after every operator, and math functions become polynomials (ir/math.h), so that every target agrees bit for bit.
//
//   a + b            in f16     becomes   f16(f32(a) + f32(b))
//   exp(x)           in f32     becomes   the operators of its expansion
//
// Moving bits (loads, stores, selects, bitcasts) and conversions stay in the narrow type.
#include "lower/passes.h"

#include <ashlar/ir/build.h>
#include <ashlar/ir/math.h>
#include <ashlar/ir/spelling.h>

namespace ashlar::lowering {
namespace {

// What machines have, or back ends spell for those that lack it (codegen/legalize.h).
bool machine_keeps(const ir::Applied& a) {
  if (ir::operation(a.op).kind == ir::Kind::conversion) return true;
  const Type operand = a.args[0].type();
  return !ir::is_narrow(operand) && !ir::is_expanded_math(a.op, operand) && a.op != Op::in_range;
}

void expand_in(std::vector<KStmt>& list) {
  for (KStmt& s : list) {
    ir::Spelling spelled(machine_keeps);
    for_each_expr(s, [&](Expr& e) { e = spelled(e); });
    for (auto* inside : s.bodies()) expand_in(*inside);
  }
}

}  // namespace

void expand_functions(ir::Kernel& kernel) { expand_in(kernel.body); }

}  // namespace ashlar::lowering
