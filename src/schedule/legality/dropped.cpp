// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The obligations of drop_dim: the values that are stored once are the same, and every step reads what the step before stored.
#include <algorithm>
#include <set>

#include <ashlar/analysis/dropped.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {
namespace {

using analysis::drops;

std::string uses(const Expr& e, const ir::Stage& stage, const std::set<Id>& iters) {
  for (const ir::IterVar& v : stage.iters)
    if (iters.count(v.id) && ir::uses_var(e, v.id)) return v.name;
  return {};
}

// Components whose values do not depend on the dropped variables, by themselves.
void prove_same(Context& c, const ir::Stage& stage, const std::set<Id>& iters) {
  const Program& p = c.p;
  const auto independent = [&](const Expr& e, const std::string& what) {
    if (const std::string v = uses(e, stage, iters); !v.empty())
      c.unproved(Obligation::biject, what + " of " + stage.name + " to be the same for every " + v, ir::text(e),
                 "it differs between " + v + " = 0 and " + v + " = 1");
  };
  for (std::size_t k = 0; k < stage.buffers.size(); ++k) {
    if (!drops(p, stage, k)) continue;
    const std::string name = "component " + std::to_string(k);
    independent(stage.values[k], name);
    if (stage.is_reduction()) independent(stage.inits[k], "the init of " + name);
    if (stage.reducer.kind != ir::ReducerKind::custom) continue;
    for (std::size_t other = 0; other < stage.buffers.size(); ++other)
      if (!drops(p, stage, other))
        for (Id id : {stage.reducer.left[other], stage.reducer.right[other]})
          if (ir::uses_var(stage.reducer.combine[k], id))
            c.unproved(Obligation::biject,
                       name + " of " + stage.name + " to be combined without component " + std::to_string(other) +
                           ", which is not the same along the dropped dimension",
                       ir::text(stage.reducer.combine[k]));
  }
  for (const Expr& atom : stage.domain) independent(atom, "the points");
  for (const ir::IterVar& v : stage.iters)
    if (v.kind == ir::IterKind::reduce)
      for (const Expr& bound : {v.begin, v.end}) independent(bound, "the steps");
}

void prove_one_set(Context& c, const ir::Stage& stage) {
  std::set<std::set<int>> sets;
  for (Id b : stage.buffers) {
    const std::vector<int>& dropped = c.p.buffer(b).layout.dropped;
    if (!dropped.empty()) sets.emplace(dropped.begin(), dropped.end());
  }
  if (sets.size() > 1)
    c.refuse("the same dimensions dropped of every component that lacks one",
             stage.name + ", whose components lack different ones");
}

struct Walk {
  Context& c;
  const Stmt& nest;
  const ir::Stage& stage;
  const std::set<Id> iters;

  void body(const Stmt& s, bool reduced) {
    for (const Stmt& b : s.body()) {
      if (b.is<NestStmt>()) continue;
      const LoopStmt* loop = b.as<LoopStmt>();
      if (!loop) continue;
      const bool reduces = c.p.axis(loop->axis).reduce;
      if (loop->combines)
        c.refuse("a reduction in one thread, where components of " + stage.name + " lack a dimension",
                 name_of(c.p, b) + ", over threads");
      if (!reduces && analysis::over_dropped(c.p, b, iters)) over(b, reduced);
      body(b, reduced || reduces);
    }
  }
  // A loop over a dropped variable.
  void over(const Stmt& loop, bool reduced) {
    const LoopStmt& l = loop.get<LoopStmt>();
    const Program& p = c.p;
    if (ir::roots_of(p, l.axis).size() > 1)
      c.refuse("loops of its own over the dimension that components of " + stage.name + " lack",
               name_of(p, loop) + (p.axis(l.axis).origin == ir::Axis::Origin::skewed ? ", a skewed loop" : ", a fused loop"));
    if (l.part != ir::Part::all)
      c.refuse("whole loops over the dimension that components of " + stage.name + " lack",
               name_of(p, loop) + ", a part of one");
    const bool again = reduces_inside(loop);
    if (again && reduced)
      c.unproved(Obligation::order,
                 "the loops over the dimension that components of " + stage.name +
                     " lack inside of the reduction, or all of it inside of them",
                 name_of(p, loop) + " between two loops of the reduction",
                 "the second iteration of " + name_of(p, loop) + " would go on from what the first has stored");
    if (again && has(loop, ir::Piece::update) && !has(loop, ir::Piece::init))
      c.unproved(
          Obligation::order,
          "the init of " + stage.name + " inside of the loops over the dimension that components lack, as the reduction is",
          "an init outside of " + name_of(p, loop),
          "the second iteration of " + name_of(p, loop) + " would go on from what the first has stored");
    const bool apart = std::any_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) {  // threads would share it
      const Scope& scope = p.buffer(b).scope;
      return !p.buffer(b).layout.dropped.empty() && !(scope == Scope::registers) && !(scope == Scope::stack) &&
             !(scope == Scope::fragment);
    });
    const bool together = l.kind == ir::LoopKind::parallel || l.kind == ir::LoopKind::vectorized ||
                          l.kind == ir::LoopKind::vthread || l.kind == ir::LoopKind::tensorized;
    if ((again && together) || (l.kind == ir::LoopKind::bound && apart))
      c.unproved(Obligation::disjoint,
                 "iterations of " + name_of(p, loop) + " one after another (or, for threads, components in Scope::registers)",
                 "one of another kind, along which components of " + stage.name + " have one element",
                 name_of(p, loop) + " = 0 and " + name_of(p, loop) + " = 1 write it at the same time");
    if (!again) inside(loop);
  }
  // Those components are stored behind the loop, by blocks that know all values: what these read stands outside of it.
  void inside(const Stmt& loop) {
    ir::walk(loop.body(), [&](const Stmt& s) {
      if (ir::is_loop(s, ir::LoopKind::tensorized))
        c.refuse("loops over the dimension that components of " + stage.name + " lack, not a call that tensorize made",
                 name_of(c.p, s));
      const NestStmt* other = s.as<NestStmt>();
      if (!other) return;
      for (Id b : c.p.stage(other->stage).buffers)
        for (std::size_t k = 0; k < stage.values.size(); ++k)
          if (reads(stage.values[k], b))
            c.unproved(Obligation::order,
                       "what component " + std::to_string(k) + " of " + stage.name + " reads computed outside of " +
                           name_of(c.p, loop),
                       c.p.stage(other->stage).name + ", computed inside");
    });
  }
  static bool reads(const Expr& e, Id buffer) {
    bool found = false;
    ir::walk(e, [&](const Expr& x) {
      found = found || (ir::is(x, ir::Op::load) && x.node()->id == buffer);
      return !found;
    });
    return found;
  }
  bool has(const Stmt& s, ir::Piece piece) const {
    return std::any_of(s.body().begin(), s.body().end(), [&](const Stmt& b) {
      return (ir::is_block_of(b, stage.id) && b.get<BlockStmt>().piece == piece) || has(b, piece);
    });
  }
  bool reduces_inside(const Stmt& s) const {
    return std::any_of(s.body().begin(), s.body().end(), [&](const Stmt& b) {
      return b.is<LoopStmt>() && (c.p.axis(b.get<LoopStmt>().axis).reduce || reduces_inside(b));
    });
  }
};

}  // namespace

void prove_dropped(Context& c, const Stmt& nest) {
  const NestStmt& n = nest.get<NestStmt>();
  const ir::Stage& stage = c.p.stage(n.stage);
  if (stage.is_reduction() &&
      std::none_of(stage.iters.begin(), stage.iters.end(), [](const ir::IterVar& v) { return v.kind == ir::IterKind::reduce; }))
    c.refuse("a reduction with loops of its own, before which all components start",
             stage.name + ", whose terms are one for each point");
  prove_one_set(c, stage);
  const std::set<Id> iters = analysis::dropped_iters(c.p, stage);
  prove_same(c, stage, iters);
  for (const ir::Slide& slide : n.slides)
    if (iters.count(slide.iter))
      c.refuse("no sliding along a dimension that components lack", stage.name + ", which slides along it");
  Walk{c, nest, stage, iters}.body(nest, false);
}

}  // namespace ashlar::schedule
