// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/interior/lanes.h"

#include <ashlar/ir/build.h>
#include <ashlar/ir/vscale.h>

#include "lower/nodes.h"

namespace ashlar::lowering {

namespace {

// One value in all lanes of a type, whose number the machine may say.
Expr in_lanes_of(const Type& t, const Expr& e) {
  return t.lanes == 1 ? e : ir::make(Op::broadcast, ir::like(e.type(), t), std::span(&e, 1), e.node()->where);
}

}  // namespace

Expr lanes_of(const Expr& condition, int lanes) {
  return condition.type().lanes == lanes ? condition : ir::broadcast(condition, lanes);
}

Expr zero(Type t) {
  const Type one = t.element();
  const Expr e = one.is_float() ? ir::float_const(one, 0) : one.is_bool() ? ir::boolean(false) : ir::int_const(one, 0);
  return in_lanes_of(t, e);
}

bool is_false(const Expr& c) {
  return ir::is_int(c, std::int64_t{0}) || (ir::is(c, Op::broadcast) && is_false(ir::args_of(c)[0]));
}
bool is_true(const Expr& c) { return ir::is_int(c, 1) || (ir::is(c, Op::broadcast) && is_true(ir::args_of(c)[0])); }

// A node one of whose conditions is known in all lanes.
Expr decided_lanes(const Expr& e) {
  const auto args = ir::args_of(e);
  const auto value = [&](bool b) { return in_lanes_of(e.type(), ir::boolean(b)); };
  switch (ir::op_of(e)) {
    case Op::select:
      return is_true(args[0]) ? args[1] : is_false(args[0]) ? args[2] : e;
    case Op::logic_not:
      return is_true(args[0]) ? value(false) : is_false(args[0]) ? value(true) : e;
    case Op::logic_and:
      if (is_false(args[0]) || is_false(args[1])) return value(false);
      return is_true(args[0]) ? args[1] : is_true(args[1]) ? args[0] : e;
    case Op::logic_or:
      if (is_true(args[0]) || is_true(args[1])) return value(true);
      return is_false(args[0]) ? args[1] : is_false(args[1]) ? args[0] : e;
    case Op::load:
      if (args.size() < 2) return e;
      if (is_false(args[1])) return zero(e.type());
      if (!is_true(args[1])) return e;
      return ir::load(e.node()->id, e.node()->name, e.type(), std::vector<Expr>{args[0]}, e.node()->where);
    default:
      return e;
  }
}

Expr decided(const Expr& e, const Decided& known) {
  return ir::transform(e, [&](const Expr& x) {
    if (x.type().is_bool() && ir::is_comparison(ir::op_of(x)))
      for (const auto& [c, value] : known)
        if (ir::same(c, x)) return ir::boolean(value);
    return decided_lanes(x);
  });
}

}  // namespace ashlar::lowering
