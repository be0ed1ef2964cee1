// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/legalise.h"

#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/ir/spelling.h>

namespace ashlar::codegen {
namespace {

using ir::KStmt;

// A range costs nothing, and a back end needs no provision for operands outside of it.
bool is_kept(const Offers& offers, const ir::Applied& a) {
  return a.op == ir::Op::in_range || offered(offers, a.op, a.args[0].type(), a.type);
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
  if (ir::is_narrow(operand) && ir::operation(op).kind != ir::Kind::conversion) return false;  // computed in f32
  return std::any_of(offers.rows.begin(), offers.rows.end(),
                     [&](const Offer& o) { return o.op == op && (!o.of || o.of(operand, result)); });
}

ir::Kernel legalise(ir::Kernel kernel, const Offers& offers) {
  std::vector<KStmt> body = kernel.body;
  Legal(kernel, offers).visit(body);
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace ashlar::codegen
