// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A temporary that nothing loads any more is not stored: what later steps of a recurrence read has gone to registers (`carry`),
// and no other stage reads it.
//
//   for t                                            for t
//     y_carried[1] = y_carried[0]                      y_carried[1] = y_carried[0]
//     y_carried[0] = f(y_carried[1])          ->       y_carried[0] = f(y_carried[1])
//     y[t] = y_carried[0]
//
// Its bytes of the workspace stay.
#include <algorithm>
#include <set>

#include "lower/passes.h"

namespace ashlar::lower_impl {
namespace {

using ir::Id;
using ir::KStmt;

void find_read(const std::vector<KStmt>& list, std::set<Id>& read) {
  for (const KStmt& s : list) {
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, ir::Op::load)) read.insert(x.node()->id);
        return true;
      });
    });
    if (s.call)
      for (const ir::Call::Actual& a : s.call->actuals) read.insert(a.buffer);
    find_read(s.body, read);
    find_read(s.otherwise, read);
  }
}

bool drop_stores(std::vector<KStmt>& list, const std::set<Id>& unread) {
  bool any = false;
  for (KStmt& s : list) {
    any = drop_stores(s.body, unread) || any;
    any = drop_stores(s.otherwise, unread) || any;
  }
  const auto left = std::remove_if(list.begin(), list.end(), [&](const KStmt& s) {
    return (s.kind == KStmt::Kind::store || s.kind == KStmt::Kind::prefetch) && unread.count(s.buffer) > 0;
  });
  any = any || left != list.end();
  list.erase(left, list.end());
  return any;
}

}  // namespace

void drop_unread(Draft& draft) {
  for (bool again = true; again;) {
    std::set<Id> read, unread;
    find_read(draft.kernel.body, read);
    for (const auto& [id, b] : draft.kernel.buffers)
      if (b.storage != ir::Storage::argument && b.storage != ir::Storage::constant && !read.count(id)) unread.insert(id);
    again = drop_stores(draft.kernel.body, unread);
    for (const Id id : unread)
      if (draft.kernel.buffers.at(id).storage != ir::Storage::workspace) draft.kernel.buffers.erase(id);
    if (again) tidy(draft);
  }
}

}  // namespace ashlar::lower_impl
