// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making lowered statements, and the facts that stand on them.
#include "lower/passes.h"

#include <algorithm>

#include <ashlar/ir/build.h>

namespace ashlar::lowering {

KStmt store_stmt(ir::Id buffer, Expr address, Expr value, Where where) {
  return {where, ir::KStore{buffer, std::move(address), std::move(value)}};
}

KStmt if_stmt(Expr condition, ir::KBody body, Where where) { return {where, ir::KIf{std::move(condition), std::move(body)}}; }

KStmt let_stmt(ir::Id var, std::string name, Expr value, ir::KBody body, Where where) {
  return {where, ir::KLet{var, std::move(name), std::move(value), std::move(body)}};
}

KStmt for_stmt(ir::KFor loop, Where where) { return {where, std::move(loop)}; }

void range(analysis::Facts& facts, const ir::KFor& loop) {
  facts.range(loop.var, loop.begin, ir::sub(ir::add(loop.begin, loop.extent), ir::index(1)));
}

analysis::Facts inside(analysis::Facts facts, const ir::KFor& loop) {
  range(facts, loop);
  return facts;
}

void numbers(analysis::Facts& facts, const ir::Launch& l) {
  for (int d = 0; d < 3; ++d)
    if (l.block[d] != 0) facts.range(l.block[d], ir::index(0), ir::sub(l.grid[d], ir::index(1)));
  facts.range(l.thread, ir::index(0), ir::index(l.threads - 1));
}

namespace {
void launches_in(ir::KBody& list, const analysis::Facts& host, ir::FunctionRef<void(KStmt&, const analysis::Facts&)> f) {
  for (KStmt& s : list) {
    if (const auto* launch = s.as<ir::KLaunch>()) {
      analysis::Facts facts = host;
      numbers(facts, *launch);
      f(s, facts);
    } else {
      for (ir::KBody* body : s.bodies()) launches_in(*body, host, f);
    }
  }
}
}  // namespace

void each_launch(ir::Kernel& k, ir::FunctionRef<void(KStmt&, const analysis::Facts&)> f) {
  launches_in(k.body, facts_of(k), f);
}

ir::BufferFacts& lowering_of(ir::Kernel& k, ir::Id buffer) { return k.buffers.at(buffer).lowering.made(); }

bool has_recurrences(const ir::Kernel& k) {
  return std::any_of(k.buffers.begin(), k.buffers.end(), [](const auto& b) { return b.second.facts().recurrent; });
}

namespace {
void forget(ir::KBody& list) {
  for (KStmt& s : list) {
    s.nest = 0;
    if (auto* loop = s.as<ir::KFor>()) loop->ring.reset();
    if (auto* store = s.as<ir::KStore>()) store->group = 0;
    for (ir::KBody* body : s.bodies()) forget(*body);
  }
}
}  // namespace

void forget_facts(ir::Kernel& k) {
  for (auto& [id, b] : k.buffers) b.lowering.reset();
  forget(k.body);
}

}  // namespace ashlar::lowering
