// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/dropped.h>

#include <algorithm>

#include <ashlar/ir/refusal.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {
namespace {

bool reduces_inside(const Program& p, const Stmt& s) {
  if (s.is<NestStmt>()) return false;
  const LoopStmt* loop = s.as<LoopStmt>();
  return (loop && p.axis(loop->axis).reduce) ||
         std::any_of(s.body().begin(), s.body().end(), [&](const Stmt& b) { return reduces_inside(p, b); });
}

class Apart {
 public:
  explicit Apart(Program& p) : p_(p) {}

  void body(std::vector<Stmt>& list, const std::set<Id>& iters) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      Stmt& s = list[k];
      if (NestStmt* nest = s.as<NestStmt>()) {
        const ir::Stage& stage = p_.stage(nest->stage);
        body(nest->body, drops(p_, stage) ? dropped_iters(p_, stage) : std::set<Id>{});
        continue;
      }
      const bool apart = !iters.empty() && s.is<LoopStmt>() && over_dropped(p_, s, iters) && !reduces_inside(p_, s);
      if (s.has_body()) body(s.body(), apart ? std::set<Id>{} : iters);
      if (!apart) continue;
      Stmt rest = once(s, iters);
      mark(s, ir::Stores::whole), mark(rest, ir::Stores::dropped);
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(++k), std::move(rest));
    }
  }

 private:
  static void mark(Stmt& s, ir::Stores stores) {
    if (BlockStmt* block = s.as<BlockStmt>()) block->stores = stores;
    if (LoopStmt* loop = s.as<LoopStmt>())
      for (Stmt& b : loop->body) mark(b, stores);
  }
  // The loops and blocks, with those over the dropped variables for their first iteration alone: all have the same values. The
  // threads of a block have each their own.
  Stmt once(const Stmt& s, const std::set<Id>& iters) {
    Stmt copy = s;
    copy.copy_of = s.id;
    copy.id = p_.fresh();
    LoopStmt* loop = copy.as<LoopStmt>();
    if (!loop) return copy;
    loop->body.clear();
    if (over_dropped(p_, s, iters) && loop->kind != ir::LoopKind::bound) {
      if (loop->part != ir::Part::all) throw InternalError("a part of a loop along which values are the same");
      loop->part = ir::Part::first;
      loop->kind = ir::LoopKind::serial;
    }
    for (const Stmt& b : s.body())
      if (b.is<LoopStmt>() || b.is<BlockStmt>()) loop->body.push_back(once(b, iters));
    return copy;
  }

  Program& p_;
};

}  // namespace

bool drops(const Program& p, const ir::Stage& s, std::size_t component) {
  return !p.buffer(s.buffers.at(component)).layout.dropped.empty();
}
bool drops(const Program& p, const ir::Stage& s) {
  for (std::size_t k = 0; k < s.buffers.size(); ++k)
    if (drops(p, s, k)) return true;
  return false;
}

std::set<Id> dropped_iters(const Program& p, const ir::Stage& s) {
  std::vector<Id> spatial;
  for (const ir::IterVar& v : s.iters)
    if (v.kind != ir::IterKind::reduce) spatial.push_back(v.id);
  std::set<Id> iters;
  for (Id b : s.buffers)
    for (int d : p.buffer(b).layout.dropped) iters.insert(spatial.at(static_cast<std::size_t>(d)));
  return iters;
}

bool over_dropped(const Program& p, const Stmt& loop, const std::set<Id>& iters) {
  const std::vector<Id> roots = ir::roots_of(p, loop.get<LoopStmt>().axis);
  return std::any_of(roots.begin(), roots.end(), [&](Id r) { return iters.count(p.axis(r).iter) != 0; });
}

Program take_dropped_apart(const Program& program) {
  const bool any =
      std::any_of(program.stages.begin(), program.stages.end(), [&](const auto& s) { return drops(program, s.second); });
  Program p = program;
  if (any) Apart(p).body(p.body, {});
  return p;
}

}  // namespace ashlar::analysis
