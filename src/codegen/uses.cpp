// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/uses.h"

#include <algorithm>

#include <ashlar/ir/build.h>

namespace ashlar::codegen {

namespace {

void collect(const Expr& e, Uses& uses) {
  if (e.empty()) return;
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, ir::Op::var)) uses.vars.insert(x.node()->id);
    if (ir::is(x, ir::Op::load)) uses.buffers.insert(x.node()->id);
    return true;
  });
}

void collect(const ir::Call& call, Uses& uses) {
  for (const ir::Call::Actual& a : call.actuals) {
    if (a.buffer) uses.buffers.insert(a.buffer);
    collect(a.address, uses);
    for (const auto* list : {&a.positions, &a.strides, &a.extents})
      for (const Expr& e : *list) collect(e, uses);
  }
}

void collect(const std::vector<ir::KStmt>& region, Uses& uses, std::set<ir::Id>& bound) {
  for (const ir::KStmt& s : region) {
    for (const Expr* e : {&s.begin, &s.extent, &s.value, &s.address, &s.mask}) collect(*e, uses);
    if (s.call) collect(*s.call, uses);
    if (s.buffer) uses.buffers.insert(s.buffer);
    if (s.var) bound.insert(s.var);
    collect(s.body, uses, bound);
    collect(s.otherwise, uses, bound);
  }
}

// Who uses the buffer: statements outside of parallel loops, such loops, and those among them that the alloc stands inside of,
// of which each has one of its own (copies of a loop, where one around it was unrolled or cut).
struct Users {
  bool outside = false;
  int loops = 0, owners = 0;
};
void count(const std::vector<ir::KStmt>& region, const ir::KBuffer& buffer, bool outlines, Users& users) {
  for (const ir::KStmt& s : region) {
    if (outlines && s.kind == ir::KStmt::Kind::for_ && s.loop_kind == ir::LoopKind::parallel) {
      if (!uses_of(s.body).buffers.contains(buffer.id)) continue;
      ++users.loops;
      users.owners += std::find(buffer.inside.begin(), buffer.inside.end(), s.var) != buffer.inside.end();
      continue;
    }
    Uses own;
    for (const Expr* e : {&s.begin, &s.extent, &s.value, &s.address, &s.mask}) collect(*e, own);
    if (s.call) collect(*s.call, own);
    users.outside = users.outside || s.buffer == buffer.id || own.buffers.contains(buffer.id);
    if (s.kind == ir::KStmt::Kind::call)
      for (const ir::Call::Actual& a : s.call->actuals) users.outside = users.outside || a.buffer == buffer.id;
    count(s.body, buffer, outlines, users);
    count(s.otherwise, buffer, outlines, users);
  }
}

void add_access(const Expr& address, std::set<std::pair<std::int64_t, int>>& found) {
  std::int64_t first = 0;
  const bool vector = ir::is(address, ir::Op::ramp);
  if (ir::is_int(vector ? ir::args_of(address)[0] : address, &first) &&
      (!vector || ir::is_int(ir::args_of(address)[1], std::int64_t{1})))
    found.emplace(first, address.type().lanes);
}

void accesses(const std::vector<ir::KStmt>& region, ir::Id buffer, std::set<std::pair<std::int64_t, int>>& found) {
  for (const ir::KStmt& s : region) {
    if (s.kind == ir::KStmt::Kind::store && s.buffer == buffer) add_access(s.address, found);
    for (const Expr* e : {&s.begin, &s.extent, &s.value, &s.address, &s.mask})
      if (!e->empty())
        ir::walk(*e, [&](const Expr& x) {
          if (ir::is(x, ir::Op::load) && x.node()->id == buffer) add_access(ir::args_of(x)[0], found);
          return true;
        });
    accesses(s.body, buffer, found);
    accesses(s.otherwise, buffer, found);
  }
}

}  // namespace

std::set<std::pair<std::int64_t, int>> constant_accesses(const std::vector<ir::KStmt>& region, ir::Id buffer) {
  std::set<std::pair<std::int64_t, int>> found;
  accesses(region, buffer, found);
  return found;
}

Uses uses_of(const std::vector<ir::KStmt>& region) {
  Uses uses;
  std::set<ir::Id> bound;
  collect(region, uses, bound);
  for (ir::Id id : bound) uses.vars.erase(id);
  return uses;
}

bool used_here(const std::vector<ir::KStmt>& region, const ir::KBuffer& buffer, bool outlines) {
  Users users;
  count(region, buffer, outlines, users);
  return users.outside || (users.loops > 1 && users.owners < users.loops);
}

}  // namespace ashlar::codegen
