// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has become trivial disappears: loops of one iteration, loops of none, decided conditions, empty branches.
#include "lower/passes.h"

#include <utility>

#include <ashlar/ir/build.h>

namespace ashlar::lowering {
namespace {

void substitute_in(std::vector<KStmt>& list, const ir::Substitution& values) {
  for (KStmt& s : list) {
    for_each_expr(s, [&](Expr& e) { e = ir::substitute(e, values); });
    for (auto* inside : s.bodies()) substitute_in(*inside, values);
  }
}

void clean(std::vector<KStmt>& list) {
  std::vector<KStmt> out;
  auto splice = [&](std::vector<KStmt>& body) {
    for (KStmt& s : body) out.push_back(std::move(s));
  };
  for (KStmt& s : list) {
    std::int64_t n = 0;
    if (auto* loop = s.as<KFor>(); loop && ir::is_int(loop->extent, &n) && n <= 1) {
      if (n < 1) continue;
      substitute_in(loop->body, {{loop->var, loop->begin}});
      clean(loop->body);
      splice(loop->body);
      continue;
    }
    auto* const branch = s.as<KIf>();
    if (branch && ir::is_int(branch->condition, &n)) {
      auto& taken = n ? branch->body : branch->otherwise;
      clean(taken);
      splice(taken);
      continue;
    }
    for (auto* inside : s.bodies()) clean(*inside);
    if (branch && branch->body.empty()) {
      if (branch->otherwise.empty()) continue;
      branch->condition = ir::logic_not(branch->condition);
      branch->body = std::exchange(branch->otherwise, {});
    }
    const auto* loop = s.as<KFor>();
    const auto* let = s.as<ir::KLet>();
    if ((loop && loop->body.empty()) || (let && let->body.empty())) continue;
    out.push_back(std::move(s));
  }
  list = std::move(out);
}

}  // namespace

void tidy(ir::Kernel& kernel) { clean(kernel.body); }

}  // namespace ashlar::lowering
