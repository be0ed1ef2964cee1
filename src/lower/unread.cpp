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

namespace ashlar::lowering {
namespace {

void find_read(const std::vector<KStmt>& list, std::set<Id>& read) {
  for (const KStmt& s : list) {
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, ir::Op::load)) read.insert(x.node()->id);
        return true;
      });
    });
    if (const auto* call = s.as<ir::KCall>())
      for (const ir::Call::Actual& a : call->actuals) read.insert(a.buffer);
    for (const auto* inside : s.bodies()) find_read(*inside, read);
  }
}

bool drop_stores(std::vector<KStmt>& list, const std::set<Id>& unread) {
  bool any = false;
  for (KStmt& s : list) {
    for (auto* inside : s.bodies()) any = drop_stores(*inside, unread) || any;
  }
  const auto left = std::remove_if(list.begin(), list.end(), [&](const KStmt& s) {
    const auto* store = s.as<ir::KStore>();
    const auto* prefetch = s.as<ir::KPrefetch>();
    return (store && unread.count(store->buffer) > 0) || (prefetch && unread.count(prefetch->buffer) > 0);
  });
  any = any || left != list.end();
  list.erase(left, list.end());
  return any;
}

}  // namespace

void drop_unread(ir::Kernel& kernel) {
  for (bool again = true; again;) {
    std::set<Id> read, unread;
    find_read(kernel.body, read);
    for (const auto& [id, b] : kernel.buffers)
      if (b.storage != ir::Storage::argument && b.storage != ir::Storage::constant && !read.count(id)) unread.insert(id);
    again = drop_stores(kernel.body, unread);
    for (const Id id : unread)
      if (kernel.buffers.at(id).storage != ir::Storage::workspace) kernel.buffers.erase(id);
    if (again) tidy(kernel);
  }
}

}  // namespace ashlar::lowering
