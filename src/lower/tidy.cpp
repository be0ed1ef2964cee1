// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has become trivial disappears: loops of one iteration, loops of none, decided conditions, empty branches.
#include "lower/passes.h"

#include <ashlar/ir/build.h>

namespace ashlar::lower_impl {
namespace {

using ir::KStmt;

void substitute_in(std::vector<KStmt>& list, const ir::Substitution& values) {
  for (KStmt& s : list) {
    for_each_expr(s, [&](Expr& e) { e = ir::substitute(e, values); });
    substitute_in(s.body, values);
    substitute_in(s.otherwise, values);
  }
}

void clean(std::vector<KStmt>& list) {
  std::vector<KStmt> out;
  auto splice = [&](std::vector<KStmt>& body) {
    for (KStmt& s : body) out.push_back(std::move(s));
  };
  for (KStmt& s : list) {
    std::int64_t n = 0;
    if (s.kind == KStmt::Kind::for_ && ir::is_int(s.extent, &n) && n <= 1) {
      if (n < 1) continue;
      substitute_in(s.body, {{s.var, s.begin}});
      clean(s.body);
      splice(s.body);
      continue;
    }
    if (s.kind == KStmt::Kind::if_ && ir::is_int(s.value, &n)) {
      auto& branch = n ? s.body : s.otherwise;
      clean(branch);
      splice(branch);
      continue;
    }
    clean(s.body);
    clean(s.otherwise);
    if (s.kind == KStmt::Kind::if_ && s.body.empty()) {
      if (s.otherwise.empty()) continue;
      s.value = ir::logic_not(s.value);
      s.body = std::move(s.otherwise);
      s.otherwise.clear();
    }
    if ((s.kind == KStmt::Kind::for_ || s.kind == KStmt::Kind::let) && s.body.empty()) continue;
    out.push_back(std::move(s));
  }
  list = std::move(out);
}

}  // namespace

void tidy(Draft& draft) { clean(draft.kernel.body); }

}  // namespace ashlar::lower_impl
