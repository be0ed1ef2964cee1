// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/tf32.h>

#include <ashlar/ir/build.h>

namespace ashlar::ir {

Expr round_to_tf32(const Expr& x, Where where) {
  const auto of = [&](Op op, Type type, std::initializer_list<Expr> args) {
    return make(op, type, std::span(args.begin(), args.size()), where);
  };
  const auto number = [&](std::int64_t n) { return int_const(u32, n, where); };
  // Adding just less than half of the last bit that stays carries into it where the rest is more than half; an odd last bit
  // adds the missing one, for ties.
  const Expr bits = of(Op::bitcast, u32, {x});
  const Expr odd = of(Op::bit_and, u32, {of(Op::shr, u32, {bits, number(13)}), number(1)});
  const Expr carried = of(Op::add, u32, {of(Op::add, u32, {bits, number(0xFFF)}), odd});
  const Expr rounded = of(Op::bitcast, f32, {of(Op::bit_and, u32, {carried, number(0xFFFFE000)})});
  return of(Op::select, f32, {of(Op::isnan, bool_, {x}), x, rounded});
}

std::optional<Expr> rounded_to_tf32(const Expr& e) {
  if (!is(e, Op::select) || !(e.type() == f32)) return std::nullopt;
  Expr x = args_of(e)[1];
  if (!is(args_of(e)[0], Op::isnan) || !same(e, round_to_tf32(x))) return std::nullopt;
  return x;
}

}  // namespace ashlar::ir
