// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/tf32.h>

#include <ashlar/ir/refusal.h>
#include <ashlar/ir/text.h>
#include <ashlar/ir/tf32.h>
#include <ashlar/lang/operand_types.h>

namespace ashlar {

Expr round_to_tf32(Operand value) {
  const Expr x = lang::as_expr(value, "round_to_tf32");
  if (!(x.type() == f32)) refuse("round_to_tf32", "a value of type f32", ir::text(x.type()), value.where());
  return ir::round_to_tf32(x, value.where());
}

}  // namespace ashlar
