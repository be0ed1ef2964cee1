// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/promises.h>

namespace ashlar::analysis {

Expr without_promises(const Expr& e) {
  return ir::transform(e, [](const Expr& x) { return ir::is(x, ir::Op::in_range) ? Expr(ir::args_of(x)[0]) : x; });
}

}  // namespace ashlar::analysis
