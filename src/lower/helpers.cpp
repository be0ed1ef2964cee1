// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making lowered statements.
#include "lower/passes.h"

#include <ashlar/ir/build.h>

namespace ashlar::lower_impl {

using ir::KStmt;

KStmt store_stmt(ir::Id buffer, Expr address, Expr value, Where where) {
  KStmt s;
  s.kind = KStmt::Kind::store;
  s.where = where;
  s.buffer = buffer;
  s.address = std::move(address);
  s.value = std::move(value);
  return s;
}

KStmt if_stmt(Expr condition, std::vector<KStmt> body, Where where) {
  KStmt s;
  s.kind = KStmt::Kind::if_;
  s.where = where;
  s.value = std::move(condition);
  s.body = std::move(body);
  return s;
}

KStmt let_stmt(ir::Id var, std::string name, Expr value, std::vector<KStmt> body, Where where) {
  KStmt s;
  s.kind = KStmt::Kind::let;
  s.where = where;
  s.var = var;
  s.name = std::move(name);
  s.value = std::move(value);
  s.body = std::move(body);
  return s;
}

namespace {
ir::Id largest_var(const std::vector<KStmt>& list) {
  ir::Id most = 0;
  for (const KStmt& s : list) {
    most = std::max({most, s.var, largest_var(s.body), largest_var(s.otherwise)});
    if (s.kind == KStmt::Kind::launch)
      most = std::max({most, s.launch->thread, s.launch->block[0], s.launch->block[1], s.launch->block[2]});
  }
  return most;
}
}  // namespace

ir::Id unused_id(const ir::Kernel& k) {
  ir::Id most = largest_var(k.body);
  for (const auto& [id, b] : k.buffers) most = std::max(most, id);
  for (const auto& [id, s] : k.symbols) most = std::max(most, id);
  for (const auto& [id, s] : k.scalars) most = std::max(most, id);
  for (const ir::StrideArg& s : k.strides) most = std::max(most, s.id);
  return most + 1;
}

}  // namespace ashlar::lower_impl
