// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/replacing.h"

#include "lower/passes.h"

namespace ashlar::lowering {

Expr Replacing::operator()(const Expr& e) {
  if (auto it = done_.find(e.node()); it != done_.end()) return it->second;
  Expr result = e;
  if (const auto it = by_.find(e); it != by_.end()) {
    result = (*this)(it->second);
  } else if (const auto args = ir::args_of(e); !args.empty()) {
    std::vector<Expr> fresh;
    for (const Expr& a : args) fresh.push_back((*this)(a));
    if (ir::is(e, Op::load) && fresh.size() == 2 && ir::is_int(fresh[1], 1)) fresh.pop_back();
    result = fresh.size() == args.size() ? ir::rebuild(e, fresh)
                                         : ir::load(e.node()->id, e.node()->name, e.type(), fresh, e.node()->where);
  }
  keep_.push_back(e);
  done_.emplace(e.node(), result);
  return result;
}

std::vector<KStmt> Replacing::operator()(const std::vector<KStmt>& list) {
  std::vector<KStmt> out;
  for (const KStmt& s : list) {
    KStmt copy = s;
    for_each_expr(copy, [&](Expr& e) { e = (*this)(e); });
    if (auto* store = copy.as<ir::KStore>(); store && !store->mask.empty() && ir::is_int(store->mask, 1)) store->mask = Expr();
    for (auto* inside : copy.bodies()) *inside = (*this)(*inside);
    std::int64_t known = 0;
    if (auto* branch = copy.as<ir::KIf>(); branch && ir::is_int(branch->condition, &known)) {
      for (KStmt& k : known ? branch->body : branch->otherwise) out.push_back(std::move(k));
      continue;
    }
    out.push_back(std::move(copy));
  }
  return out;
}

}  // namespace ashlar::lowering
