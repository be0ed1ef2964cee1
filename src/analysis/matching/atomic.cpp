// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/atomic.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

std::optional<Op> atomic_operator(const ir::Stage& s) {
  if (s.buffers.size() != 1) return std::nullopt;
  const ir::Reducer& r = s.reducer;
  switch (r.kind) {
    case ir::ReducerKind::sum:
    case ir::ReducerKind::strict_sum:
      return r.fused ? std::nullopt : std::optional(Op::add);
    case ir::ReducerKind::minimum:
      return Op::min;
    case ir::ReducerKind::maximum:
      return Op::max;
    case ir::ReducerKind::custom:
      break;
    default:
      return std::nullopt;
  }
  const Expr& e = r.combine.front();
  const Op op = ir::op_of(e);
  if (op != Op::add && op != Op::min && op != Op::max && op != Op::bit_and && op != Op::bit_or && op != Op::bit_xor)
    return std::nullopt;
  const auto is = [&](std::size_t k, ir::Id id) {
    const Expr& a = ir::args_of(e)[k];
    return ir::is(a, Op::var) && a.node()->id == id;
  };
  const ir::Id left = r.left.front(), right = r.right.front();
  if (!(is(0, left) && is(1, right)) && !(is(0, right) && is(1, left))) return std::nullopt;
  return op;
}

}  // namespace ashlar::analysis
