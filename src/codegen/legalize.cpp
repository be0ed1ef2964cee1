// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/legalize.h"

#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/ir/spelling.h>

namespace ashlar::codegen {
namespace {

using ir::KStmt;

// A range costs nothing, and tells what an operand may be. In what computes an index, back ends look for patterns.
bool is_kept(const Offers& offers, const ir::Applied& a) {
  if (a.op == ir::Op::in_range || offered(offers, a.op, a.args[0].type(), a.type)) return true;
  const ir::Kind kind = ir::operation(a.op).kind;
  const bool computes = kind == ir::Kind::arithmetic || kind == ir::Kind::bits || kind == ir::Kind::shift;
  return a.type.is_index() && computes && a.op != ir::Op::fma;
}

class Legal {
 public:
  Legal(const ir::Kernel& k, const Offers& offers)
      : values_(k),
        spelled_([&offers](const ir::Applied& a) { return is_kept(offers, a); },
                 [this](const Expr& e) { return values_.of(e); }, offers.subnormals) {}

  void visit(std::vector<KStmt>& list) {
    for (KStmt& s : list) {
      for_each_expr(s, [&](Expr& e) { e = spelled_(e); });
      for (auto* part : s.bodies()) visit(*part);
    }
  }

 private:
  ConstantValues values_;
  ir::Spelling spelled_;
};

}  // namespace

bool offered(const Offers& offers, ir::Op op, Type operand, Type result) {
  const bool computes_narrow = ir::is_narrow(operand) && ir::operation(op).kind != ir::Kind::conversion;
  return std::any_of(offers.rows.begin(), offers.rows.end(), [&](const Offer& o) {
    return o.op == op && (o.narrow || !computes_narrow) && (!o.of || o.of(operand, result));
  });
}

Expr legal(const Expr& e, const Offers& offers) {
  ir::Spelling spelled([&offers](const ir::Applied& a) { return is_kept(offers, a); }, {}, offers.subnormals);
  return spelled(e);
}

Expr on_integers(ir::Op op, Type t, std::span<const Expr> args, ir::Id first, const Offers& offers) {
  std::vector<Expr> operands;
  for (const Expr& a : args) {
    std::int64_t number = 0;
    const bool known = ir::is_int(ir::is(a, ir::Op::broadcast) ? ir::args_of(a)[0] : a, &number);
    const Expr one = ir::int_const(t.element(), number);
    if (!known)
      operands.push_back(ir::var(first, "", t));
    else
      operands.push_back(t.lanes > 1 || t.scalable ? ir::make(ir::Op::broadcast, t, {&one, 1}) : one);
    ++first;
  }
  return legal(ir::make(op, t, operands), offers);
}

ir::Kernel legalize(ir::Kernel kernel, const Offers& offers) {
  std::vector<KStmt> body = kernel.body;
  Legal(kernel, offers).visit(body);
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace ashlar::codegen
