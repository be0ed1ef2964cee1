// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a reducer makes of two partial results.
#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::ir {

Expr identity_of(ReducerKind kind, Type t) {
  switch (kind) {
    case ReducerKind::sum:
    case ReducerKind::strict_sum:
      return identity_of(Op::add, t);
    case ReducerKind::product:
      return identity_of(Op::mul, t);
    case ReducerKind::minimum:
      return identity_of(Op::min, t);
    case ReducerKind::maximum:
      return identity_of(Op::max, t);
    default:
      throw InternalError("the identity of a reducer that is not an operator");
  }
}

std::vector<Expr> combine(const Reducer& r, const std::vector<Expr>& accumulated, const std::vector<Expr>& values) {
  std::vector<Expr> result;
  if (r.kind == ReducerKind::custom) {
    Substitution s;
    for (std::size_t c = 0; c < values.size(); ++c) {
      s.emplace_back(r.left.at(c), accumulated[c]);
      s.emplace_back(r.right.at(c), values[c]);
    }
    for (const Expr& e : r.combine) result.push_back(substitute(e, s));
    return result;
  }
  for (std::size_t c = 0; c < values.size(); ++c) {
    const Expr &acc = accumulated[c], &v = values[c];
    switch (r.kind) {
      case ReducerKind::sum:
      case ReducerKind::strict_sum:
        if (r.fused && is(v, Op::mul) && v.type().is_float())
          result.push_back(fma(args_of(v)[0], args_of(v)[1], acc));
        else
          result.push_back(add(acc, v));
        break;
      case ReducerKind::product:
        result.push_back(mul(acc, v));
        break;
      case ReducerKind::minimum:
        result.push_back(min(acc, v));
        break;
      case ReducerKind::maximum:
        result.push_back(max(acc, v));
        break;
      default:
        throw InternalError("a step without a reducer");
    }
  }
  return result;
}

}  // namespace ashlar::ir
