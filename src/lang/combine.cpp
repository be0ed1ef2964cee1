// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/combine.h"

#include <ashlar/ir/operation.h>
#include <ashlar/ir/refusal.h>

#include "lang/define.h"

namespace ashlar::lang {

ir::Op op_of(Combine c) {
  switch (c) {
    case Combine::add:
      return ir::Op::add;
    case Combine::multiply:
      return ir::Op::mul;
    case Combine::max:
      return ir::Op::max;
    case Combine::min:
      return ir::Op::min;
    case Combine::bit_or:
      return ir::Op::bit_or;
    case Combine::bit_and:
      return ir::Op::bit_and;
    case Combine::bit_xor:
      return ir::Op::bit_xor;
  }
  throw InternalError("a combiner without an operator");
}

ir::Reducer reducer_of(Combine c, Type t) {
  ir::Reducer r;
  const ir::Op op = op_of(c);
  if (combines_bits(c)) {  // no kind of its own
    const Expr left = detail::placeholder(t, "left", 0), right = detail::placeholder(t, "right", 0);
    r.kind = ir::ReducerKind::custom;
    r.name = ir::op_name(op);
    r.left = {left.node()->id};
    r.right = {right.node()->id};
    r.combine = {ir::binary(op, left, right)};
    r.identity = {ir::identity_of(op, t)};
    return r;
  }
  r.kind = c == Combine::add        ? ir::ReducerKind::sum
           : c == Combine::multiply ? ir::ReducerKind::product
           : c == Combine::max      ? ir::ReducerKind::maximum
                                    : ir::ReducerKind::minimum;
  return r;
}

}  // namespace ashlar::lang
