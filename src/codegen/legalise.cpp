// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/legalise.h"

#include <algorithm>
#include <unordered_map>

#include <ashlar/ir/build.h>

namespace ashlar::codegen {
namespace {

using ir::KStmt;

class Legal {
 public:
  Legal(const ir::Kernel& k, const Offers& offers) : offers_(offers), values_(k) {}

  void visit(std::vector<KStmt>& list) {
    for (KStmt& s : list) {
      for_each_expr(s, [&](Expr& e) { e = visit(e); });
      visit(s.body);
      visit(s.otherwise);
    }
  }

 private:
  Expr visit(const Expr& e) {
    if (ir::args_of(e).empty()) return e;
    if (const auto it = done_.find(e.node()); it != done_.end()) return it->second;
    std::vector<Expr> args;
    for (const Expr& a : ir::args_of(e)) args.push_back(visit(a));
    const Expr known = ir::rebuild(e, args), spelled = spell(known);
    const Expr result = spelled.empty() ? known : visit(spelled);
    keep_.push_back(e);
    done_.emplace(e.node(), result);
    return result;
  }

  Expr spell(const Expr& e) {
    const ir::Op op = ir::op_of(e);
    const auto args = ir::args_of(e);
    if (args.empty() || !ir::operation(op).laws.spelled) return {};
    const Type operand = args[0].type();
    const bool of_index = operand.is_index() || e.type().is_index();
    if ((of_index && ir::operation(op).kind != ir::Kind::shift) || offered(offers_, op, operand, e.type())) return {};
    ir::Applied a{op, e.type(), args, e.node()->where};
    for (std::size_t k = 0; k < std::min(args.size(), a.values.size()); ++k) a.values[k] = values_.of(args[k]);
    return ir::expanded(a);
  }

  const Offers& offers_;
  ConstantValues values_;
  std::unordered_map<const ir::Node*, Expr> done_;
  std::vector<Expr> keep_;  // keeps the keys alive
};

}  // namespace

bool offered(const Offers& offers, ir::Op op, Type operand, Type result) {
  return std::any_of(offers.begin(), offers.end(),
                     [&](const Offer& o) { return o.op == op && (!o.of || o.of(operand, result)); });
}

ir::Kernel legalise(ir::Kernel kernel, const Offers& offers) {
  std::vector<KStmt> body = kernel.body;
  Legal(kernel, offers).visit(body);
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace ashlar::codegen
