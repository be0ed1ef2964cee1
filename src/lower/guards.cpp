// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions are tested at the outermost loop where they are known, or become bounds of their loop.
//
//   for i                     if m                        if a  X         if a
//     for j                     for i                     if a  Y           X
//       if m        becomes       for j                            becomes  Y
//         X                         X
//
//   for i in [0, +32)             for i in [0, +min(32, M - io * 32))
//     if io * 32 + i < M becomes    X
//       X
//
//   for x in [0, +n)              for x in [0, +1)  Y
//     if x >= 1 && x < W becomes  for x in [1, +...)  X           (the guard of a vectorized loop's interior)
//       X else Y                  for x in [W, +...)  Y
//
// A loop whose body is one `if` on a condition that does not move with it changes places with the `if`, the other branch
// included; neighbors under one condition become one. Conditions that read memory stay where they are, since the loop may
// write what they read; so do conditions on the lanes of a vectorized loop, by their nature. A parallel loop is not taken
// apart.
#include "lower/passes.h"

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

namespace ashlar::lowering {
namespace {

void merge_neighbors(std::vector<KStmt>& list) {
  std::vector<KStmt> out;
  for (KStmt& s : list) {
    KIf* const first = out.empty() ? nullptr : out.back().as<KIf>();
    KIf* const next = s.as<KIf>();
    if (first && next && ir::same(next->condition, first->condition) && !has_load(next->condition)) {
      for (KStmt& k : next->body) first->body.push_back(std::move(k));
      for (KStmt& k : next->otherwise) first->otherwise.push_back(std::move(k));
      merge_neighbors(first->body);
      merge_neighbors(first->otherwise);
    } else {
      out.push_back(std::move(s));
    }
  }
  list = std::move(out);
}

// A loop and the line that it stands for.
struct Loop {
  KFor node;
  Where where;
  Loop with(std::vector<KStmt> body) const {
    return {{node.var, node.name, node.begin, node.extent, node.kind, std::move(body), node.bound_to, node.ring}, where};
  }
};

// What is known around a statement.
struct Known {
  analysis::Facts facts;
  ir::Id lane = 0;  // the variable of the vectorized loop around
  Known inside(const KFor& loop) const {
    Known k = *this;
    range(k.facts, loop);
    if (loop.kind == ir::LoopKind::vectorized) k.lane = loop.var;
    return k;
  }
};

// The iterations of a loop at which a condition holds: [begin, end), where given.
struct Held {
  Expr begin, end;
};

// slack(v) >= 0 as bounds of v, if the slack is linear in it.
bool solve(const Expr& slack, ir::Id v, const Expr& var, const Known& known, Held& held) {
  std::int64_t step = 0;
  if (!ir::is_int(analysis::simplify(ir::sub(ir::substitute(slack, {{v, ir::add(var, ir::index(1))}}), slack)), &step) ||
      step == 0)
    return false;
  const Expr at_zero = ir::substitute(slack, {{v, ir::index(0)}});
  if (step > 0) {  // v >= -at_zero / step
    const Expr from = analysis::simplify(ir::ceil_div(ir::sub(ir::index(0), at_zero), ir::index(step)), known.facts);
    held.begin = held.begin.empty() ? from : ir::max(held.begin, from);
  } else {  // v <= at_zero / -step
    const Expr to = analysis::simplify(ir::add(ir::div(at_zero, ir::index(-step)), ir::index(1)), known.facts);
    held.end = held.end.empty() ? to : ir::min(held.end, to);
  }
  return true;
}

// All of a conjunction of index comparisons as bounds of the loop's variable.
bool bounds_of(const Expr& c, ir::Id v, const Known& known, Held& held) {
  const auto args = ir::args_of(c);
  if (ir::is(c, ir::Op::logic_and)) return bounds_of(args[0], v, known, held) && bounds_of(args[1], v, known, held);
  if (!ir::is_comparison(ir::op_of(c)) || !args[0].type().is_index() || !ir::uses_var(c, v)) return false;
  const Expr &a = args[0], &b = args[1], one = ir::index(1), var = ir::var(v, "v");
  switch (ir::op_of(c)) {
    case ir::Op::lt:
      return solve(ir::sub(ir::sub(b, a), one), v, var, known, held);
    case ir::Op::le:
      return solve(ir::sub(b, a), v, var, known, held);
    case ir::Op::gt:
      return solve(ir::sub(ir::sub(a, b), one), v, var, known, held);
    case ir::Op::ge:
      return solve(ir::sub(a, b), v, var, known, held);
    default:
      return false;
  }
}

// Adds the terms of a conjunction, those that move with v apart from the others.
void split_terms(const Expr& c, ir::Id v, Expr& moving, Expr& still) {
  if (ir::is(c, ir::Op::logic_and)) {
    for (const Expr& a : ir::args_of(c)) split_terms(a, v, moving, still);
    return;
  }
  Expr& to = ir::uses_var(c, v) ? moving : still;
  to = to.empty() ? c : ir::logic_and(to, c);
}

void hoist(std::vector<KStmt>& list, const Known& known);
// Appends the loop, whose body is done, with its guard moved outwards.
void hoist_out_of(std::vector<KStmt>& out, Loop loop, const Known& known);

// The loop and the condition that is the whole of its body change places.
void interchange(std::vector<KStmt>& out, const Loop& loop, KIf guard, Where where, const Known& known) {
  KIf outer{guard.condition};
  if (!guard.body.empty()) hoist_out_of(outer.body, loop.with(std::move(guard.body)), known);
  if (!guard.otherwise.empty()) hoist_out_of(outer.otherwise, loop.with(std::move(guard.otherwise)), known);
  out.push_back({where, std::move(outer)});
}

// The loop runs over the iterations at which the condition holds, and over the others apart.
void take_apart(std::vector<KStmt>& out, const Loop& loop, KIf guard, const Held& held, const Known& known) {
  const KFor& whole = loop.node;
  const Expr end = ir::add(whole.begin, whole.extent);
  const Expr from =
      held.begin.empty() ? whole.begin : analysis::simplify(ir::min(ir::max(held.begin, whole.begin), end), known.facts);
  const Expr to = held.end.empty() ? end : analysis::simplify(ir::min(ir::max(held.end, from), end), known.facts);
  auto part = [&](const Expr& begin, const Expr& stop, std::vector<KStmt> body) {
    Loop l = loop.with(std::move(body));
    l.node.begin = begin;
    l.node.extent = analysis::simplify(ir::sub(stop, begin), known.facts);
    hoist_out_of(out, std::move(l), known);
  };
  if (!held.begin.empty() && !guard.otherwise.empty()) part(whole.begin, from, guard.otherwise);
  part(from, to, std::move(guard.body));
  if (!held.end.empty() && !guard.otherwise.empty()) part(to, end, std::move(guard.otherwise));
}

void hoist_out_of(std::vector<KStmt>& out, Loop loop, const Known& known) {
  KFor& s = loop.node;
  KIf* const only = s.body.size() == 1 ? s.body.front().as<KIf>() : nullptr;
  const auto stays = [&] { out.push_back(for_stmt(std::move(s), loop.where)); };
  if (!only || has_load(only->condition)) return stays();
  KIf& guard = *only;
  const Where where = s.body.front().where;
  if (!ir::uses_var(guard.condition, s.var)) return interchange(out, loop, std::move(guard), where, known);
  if (known.lane && ir::uses_var(guard.condition, known.lane)) return stays();  // bounds are the same for all lanes
  const bool runs_serially = s.kind == ir::LoopKind::serial;
  if (!runs_serially && (s.kind != ir::LoopKind::parallel || !guard.otherwise.empty())) return stays();
  Expr moving, still;
  split_terms(guard.condition, s.var, moving, still);
  if (!still.empty()) {  // if (still && moving) X else Y: the still part goes outside, Y in both its branches
    KIf inner{moving, std::move(guard.body), guard.otherwise};
    KIf outer{still, {}, std::move(guard.otherwise)};
    outer.body.push_back({where, std::move(inner)});
    return interchange(out, loop, std::move(outer), where, known);
  }
  Held held;
  if (!bounds_of(moving, s.var, known, held)) return stays();
  take_apart(out, loop, std::move(guard), held, known);
}

void hoist(std::vector<KStmt>& list, const Known& known) {
  std::vector<KStmt> out;
  for (KStmt& s : list) {
    if (auto* loop = s.as<KFor>()) {
      hoist(loop->body, known.inside(*loop));
      hoist_out_of(out, {std::move(*loop), s.where}, known);
    } else {
      for (auto* inside : s.bodies()) hoist(*inside, known);
      out.push_back(std::move(s));
    }
  }
  merge_neighbors(out);
  list = std::move(out);
}

}  // namespace

void hoist_guards(ir::Kernel& kernel) { hoist(kernel.body, {facts_of(kernel), 0}); }

}  // namespace ashlar::lowering
