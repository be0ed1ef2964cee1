// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/combine.h"

#include <ashlar/ir/refusal.h>

#include "lang/define.h"

namespace ashlar::lang {

Expr identity_of(Combine c, Type t) {
  if (c == Combine::max) return lowest(t);
  if (c == Combine::min) return highest(t);
  const std::int64_t number = c == Combine::multiply ? 1 : c != Combine::bit_and ? 0 : t.is_bool() ? 1 : -1;
  return t.is_float() ? ir::float_const(t, static_cast<double>(number)) : ir::int_const(t, number);
}

ir::Reducer reducer_of(Combine c, Type t) {
  ir::Reducer r;
  const auto of_bits = [&](ir::Op op) {  // no kind of its own
    const Expr left = detail::placeholder(t, "left", 0), right = detail::placeholder(t, "right", 0);
    r.kind = ir::ReducerKind::custom;
    r.name = ir::op_name(op);
    r.left = {left.node()->id};
    r.right = {right.node()->id};
    r.combine = {ir::binary(op, left, right)};
    r.identity = {identity_of(c, t)};
    return r;
  };
  switch (c) {
    case Combine::add:
      r.kind = ir::ReducerKind::sum;
      return r;
    case Combine::multiply:
      r.kind = ir::ReducerKind::product;
      return r;
    case Combine::max:
      r.kind = ir::ReducerKind::maximum;
      return r;
    case Combine::min:
      r.kind = ir::ReducerKind::minimum;
      return r;
    case Combine::bit_or:
      return of_bits(ir::Op::bit_or);
    case Combine::bit_and:
      return of_bits(ir::Op::bit_and);
    case Combine::bit_xor:
      return of_bits(ir::Op::bit_xor);
  }
  throw InternalError("a combiner without an operator");
}

}  // namespace ashlar::lang
