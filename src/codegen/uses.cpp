// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/uses.h"

#include <algorithm>

#include <ashlar/ir/build.h>

namespace ashlar::codegen {

namespace {

void collect(const Expr& e, Uses& uses) {
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, ir::Op::var)) uses.vars.insert(x.node()->id);
    if (ir::is(x, ir::Op::load)) uses.buffers.insert(x.node()->id);
    return true;
  });
}

// What the statement itself uses, not those inside.
void collect(const ir::KStmt& s, Uses& uses) {
  for_each_expr(s, [&](const Expr& e) { collect(e, uses); });
  const auto buffer = [&](ir::Id id) {
    if (id) uses.buffers.insert(id);
  };
  s.visit([&](const ir::KStore& n) { buffer(n.buffer); }, [&](const ir::KPrefetch& n) { buffer(n.buffer); },
          [&](const ir::KSync& n) { buffer(n.buffer); },
          [&](const ir::KCall& n) {
            for (const ir::Call::Actual& a : n.actuals) buffer(a.buffer);
          },
          [](const ir::KFor&) {}, [](const ir::KIf&) {}, [](const ir::KLet&) {}, [](const ir::KLaunch&) {});
}

void collect(const std::vector<ir::KStmt>& region, Prefetches prefetches, Uses& uses, std::set<ir::Id>& bound) {
  for (const ir::KStmt& s : region) {
    if (prefetches == Prefetches::ignored && s.is<ir::KPrefetch>()) continue;
    collect(s, uses);
    if (const auto* loop = s.as<ir::KFor>()) bound.insert(loop->var);
    if (const auto* let = s.as<ir::KLet>()) bound.insert(let->var);
    if (const auto* launch = s.as<ir::KLaunch>())
      for (const ir::Id id : {launch->block[0], launch->block[1], launch->block[2], launch->thread}) bound.insert(id);
    for (const auto* part : s.bodies()) collect(*part, prefetches, uses, bound);
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
    if (const auto* loop = ir::as_loop(s, ir::LoopKind::parallel); loop && outlines) {
      if (!uses_of(loop->body).buffers.contains(buffer.id)) continue;
      ++users.loops;
      users.owners += std::find(buffer.inside.begin(), buffer.inside.end(), loop->var) != buffer.inside.end();
      continue;
    }
    Uses own;
    collect(s, own);
    users.outside = users.outside || own.buffers.contains(buffer.id);
    for (const auto* part : s.bodies()) count(*part, buffer, outlines, users);
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
    if (const auto* store = s.as<ir::KStore>(); store && store->buffer == buffer) add_access(store->address, found);
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, ir::Op::load) && x.node()->id == buffer) add_access(ir::args_of(x)[0], found);
        return true;
      });
    });
    for (const auto* part : s.bodies()) accesses(*part, buffer, found);
  }
}

}  // namespace

std::set<std::pair<std::int64_t, int>> constant_accesses(const std::vector<ir::KStmt>& region, ir::Id buffer) {
  std::set<std::pair<std::int64_t, int>> found;
  accesses(region, buffer, found);
  return found;
}

Uses uses_of(const std::vector<ir::KStmt>& region, Prefetches prefetches) {
  Uses uses;
  std::set<ir::Id> bound;
  collect(region, prefetches, uses, bound);
  for (ir::Id id : bound) uses.vars.erase(id);
  return uses;
}

bool used_here(const std::vector<ir::KStmt>& region, const ir::KBuffer& buffer, bool outlines) {
  Users users;
  count(region, buffer, outlines, users);
  return users.outside || (users.loops > 1 && users.owners < users.loops);
}

}  // namespace ashlar::codegen
