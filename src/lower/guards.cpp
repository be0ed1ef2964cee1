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
// included; neighbours under one condition become one. Conditions that read memory stay where they are, since the loop may
// write what they read; so do conditions on the lanes of a vectorized loop, by their nature. A parallel loop is not taken
// apart.
#include "lower/passes.h"

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

namespace ashlar::lower_impl {
namespace {

using ir::KStmt;

bool is_if(const KStmt& s) { return s.kind == KStmt::Kind::if_; }

void merge_neighbours(std::vector<KStmt>& list) {
  std::vector<KStmt> out;
  for (KStmt& s : list) {
    if (!out.empty() && is_if(s) && is_if(out.back()) && ir::same(s.value, out.back().value) && !has_load(s.value)) {
      KStmt& first = out.back();
      for (KStmt& k : s.body) first.body.push_back(std::move(k));
      for (KStmt& k : s.otherwise) first.otherwise.push_back(std::move(k));
      merge_neighbours(first.body);
      merge_neighbours(first.otherwise);
    } else {
      out.push_back(std::move(s));
    }
  }
  list = std::move(out);
}

KStmt with_body(const KStmt& loop, std::vector<KStmt> body) {
  KStmt s;
  s.kind = loop.kind;
  s.where = loop.where;
  s.var = loop.var;
  s.name = loop.name;
  s.begin = loop.begin;
  s.extent = loop.extent;
  s.loop_kind = loop.loop_kind;
  s.body = std::move(body);
  return s;
}

// What is known around a statement.
struct Known {
  analysis::Facts facts;
  ir::Id lane = 0;  // the variable of the vectorized loop around
  Known inside(const KStmt& loop) const {
    Known k = *this;
    k.facts.range(loop.var, loop.begin, ir::sub(ir::add(loop.begin, loop.extent), ir::index(1)));
    if (loop.loop_kind == ir::LoopKind::vectorized) k.lane = loop.var;
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
void hoist_out_of(std::vector<KStmt>& out, KStmt loop, const Known& known);

// The loop and the condition that is the whole of its body change places.
void interchange(std::vector<KStmt>& out, const KStmt& loop, KStmt guard, const Known& known) {
  KStmt outer = if_stmt(guard.value, {}, guard.where);
  if (!guard.body.empty()) hoist_out_of(outer.body, with_body(loop, std::move(guard.body)), known);
  if (!guard.otherwise.empty()) hoist_out_of(outer.otherwise, with_body(loop, std::move(guard.otherwise)), known);
  out.push_back(std::move(outer));
}

// The loop runs over the iterations at which the condition holds, and over the others apart.
void take_apart(std::vector<KStmt>& out, const KStmt& loop, KStmt guard, const Held& held, const Known& known) {
  const Expr end = ir::add(loop.begin, loop.extent);
  const Expr from =
      held.begin.empty() ? loop.begin : analysis::simplify(ir::min(ir::max(held.begin, loop.begin), end), known.facts);
  const Expr to = held.end.empty() ? end : analysis::simplify(ir::min(ir::max(held.end, from), end), known.facts);
  auto part = [&](const Expr& begin, const Expr& stop, std::vector<KStmt> body) {
    KStmt l = with_body(loop, std::move(body));
    l.begin = begin;
    l.extent = analysis::simplify(ir::sub(stop, begin), known.facts);
    hoist_out_of(out, std::move(l), known);
  };
  if (!held.begin.empty() && !guard.otherwise.empty()) part(loop.begin, from, guard.otherwise);
  part(from, to, std::move(guard.body));
  if (!held.end.empty() && !guard.otherwise.empty()) part(to, end, std::move(guard.otherwise));
}

void hoist_out_of(std::vector<KStmt>& out, KStmt s, const Known& known) {
  if (s.body.size() != 1 || !is_if(s.body.front()) || has_load(s.body.front().value)) {
    out.push_back(std::move(s));
    return;
  }
  KStmt& guard = s.body.front();
  if (!ir::uses_var(guard.value, s.var)) return interchange(out, s, std::move(guard), known);
  if (known.lane && ir::uses_var(guard.value, known.lane)) {  // bounds are the same for all lanes
    out.push_back(std::move(s));
    return;
  }
  const bool runs_serially = s.loop_kind == ir::LoopKind::serial;
  if (!runs_serially && (s.loop_kind != ir::LoopKind::parallel || !guard.otherwise.empty())) {
    out.push_back(std::move(s));
    return;
  }
  Expr moving, still;
  split_terms(guard.value, s.var, moving, still);
  if (!still.empty()) {  // if (still && moving) X else Y: the still part goes outside, Y in both its branches
    KStmt inner = if_stmt(moving, std::move(guard.body), guard.where);
    inner.otherwise = guard.otherwise;
    KStmt outer = if_stmt(still, {}, guard.where);
    std::vector<KStmt> list;
    list.push_back(std::move(inner));
    outer.body = std::move(list);
    outer.otherwise = std::move(guard.otherwise);
    return interchange(out, s, std::move(outer), known);
  }
  Held held;
  if (!bounds_of(moving, s.var, known, held)) {
    out.push_back(std::move(s));
    return;
  }
  take_apart(out, s, std::move(guard), held, known);
}

void hoist(std::vector<KStmt>& list, const Known& known) {
  std::vector<KStmt> out;
  for (KStmt& s : list) {
    if (s.kind == KStmt::Kind::for_) {
      hoist(s.body, known.inside(s));
      hoist_out_of(out, std::move(s), known);
    } else {
      hoist(s.body, known);
      hoist(s.otherwise, known);
      out.push_back(std::move(s));
    }
  }
  merge_neighbours(out);
  list = std::move(out);
}

}  // namespace

void hoist_guards(Draft& draft) { hoist(draft.kernel.body, {facts_of(draft.kernel), 0}); }

}  // namespace ashlar::lower_impl
