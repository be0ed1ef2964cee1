// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/margin.h"

#include <ashlar/ir/operation.h>

namespace ashlar::lowering {

Expr margin(const Expr& c) {
  const auto sides = ir::args_of(c);
  if (!ir::is_comparison(ir::op_of(c)) || !sides[0].type().is_index()) return Expr();
  switch (ir::op_of(c)) {
    case Op::lt:
      return ir::sub(sides[1], sides[0]);
    case Op::gt:
      return ir::sub(sides[0], sides[1]);
    case Op::le:
      return ir::add(ir::sub(sides[1], sides[0]), ir::index(1));
    case Op::ge:
      return ir::add(ir::sub(sides[0], sides[1]), ir::index(1));
    default:
      return Expr();
  }
}

void add_conjuncts(const Expr& e, std::vector<Expr>& all) {
  if (!ir::is(e, Op::logic_and)) return all.push_back(e);
  for (const Expr& a : ir::args_of(e)) add_conjuncts(a, all);
}

}  // namespace ashlar::lowering
