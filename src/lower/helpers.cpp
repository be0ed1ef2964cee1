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

bool has_load(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    found |= ir::is(x, ir::Op::load);
    return !found;
  });
  return found;
}

}  // namespace ashlar::lower_impl
