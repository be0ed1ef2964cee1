// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A remainder by a Symbol becomes a select if the value lies within a period of the range: a border that is wrapped or
// mirrored, the neighbor of the last cell of a torus.
//
//   (x - 1) % W       with 0 <= x < W             select(x - 1 < 0, x - 1 + W, x - 1)
//   (c + 1) % W       with 0 <= c < W             select(c + 1 < W, c + 1, c + 1 - W)
//
// It suffices that this holds for the active lanes of a vector. The result is then clamped, because the other lanes read
// without a mask, relying on the remainder to lie in its period.
//
// A division by a number that is not constant takes as long as ten to twenty additions, and no target has one of 64 bits for
// vectors. Remainders by constants stay: they are multiplications, and patterns of lanes that loads know.
#include "lower/passes.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

namespace ashlar::lowering {
namespace {

bool divides(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    found = found || (ir::is(x, Op::mod) && x.type().is_index() && !ir::is(ir::args_of(x)[1], Op::int_const));
    return !found;
  });
  return found;
}

// What holds for all lanes, and for those that are active.
struct LaneFacts {
  Facts all, active;
};

Expr chosen(const Expr& e, const LaneFacts& known) {
  if (!ir::is(e, Op::mod) || !e.type().is_index() || ir::is(ir::args_of(e)[1], Op::int_const)) return e;
  const Expr a = ir::args_of(e)[0], n = ir::args_of(e)[1], zero = ir::index(0);
  const auto near = [&](const Facts& facts) {  // -n <= a < 2n; so n > 0
    return analysis::can_prove(ir::lt(a, ir::add(n, n)), facts) && analysis::can_prove(ir::ge(a, ir::sub(zero, n)), facts);
  };
  const bool all = near(known.all);
  if (!all && !(analysis::can_prove(ir::gt(n, zero), known.all) && near(known.active))) return e;
  const Facts& facts = all ? known.all : known.active;
  const bool below = !analysis::can_prove(ir::ge(a, zero), facts), above = !analysis::can_prove(ir::lt(a, n), facts);
  Expr r = a;
  if (above) r = ir::select(ir::lt(a, n), r, ir::sub(a, n));
  if (below) r = ir::select(ir::lt(a, zero), ir::add(a, n), r);
  return all ? r : ir::max(ir::min(r, ir::sub(n, ir::index(1))), zero);
}

bool is_mask(const Expr& condition, const std::vector<ir::Id>& lanes) {
  return std::any_of(lanes.begin(), lanes.end(), [&](ir::Id v) { return ir::uses_var(condition, v); });
}

void visit(std::vector<KStmt>& list, const LaneFacts& known, std::vector<ir::Id>& lanes) {
  for (KStmt& s : list) {
    for_each_expr(s, [&](Expr& e) {
      if (!divides(e)) return;
      bool any = false;
      const Expr other = ir::transform(e, [&](const Expr& x) {
        const Expr r = chosen(x, known);
        any = any || r.node() != x.node();
        return r;
      });
      if (any) e = other;
    });
    if (const auto* loop = s.as<ir::KFor>()) {
      LaneFacts inner = known;
      runs(inner.all, *loop), runs(inner.active, *loop);
      const bool vector = loop->kind == ir::LoopKind::vectorized;
      if (vector) lanes.push_back(loop->var);
      for (auto* inside : s.bodies()) visit(*inside, inner, lanes);
      if (vector) lanes.pop_back();
    } else if (auto* branch = s.as<ir::KIf>()) {
      LaneFacts inner = known, other = known;
      if (!has_load(branch->condition)) {
        const Expr fails = ir::logic_not(branch->condition);
        inner.active.assume(branch->condition), other.active.assume(fails);
        if (!is_mask(branch->condition, lanes)) inner.all.assume(branch->condition), other.all.assume(fails);
      }
      visit(branch->body, inner, lanes);
      visit(branch->otherwise, other, lanes);
    } else {
      for (auto* inside : s.bodies()) visit(*inside, known, lanes);
    }
  }
}

}  // namespace

void runs(Facts& facts, const ir::KFor& loop) {
  range(facts, loop);
  std::int64_t by = 0;
  Expr any = ir::gt(loop.extent, ir::index(0));
  if (ir::is(loop.extent, Op::div) && ir::is_int(ir::args_of(loop.extent)[1], &by) && by > 0)
    any = ir::ge(ir::args_of(loop.extent)[0], ir::index(by));
  if (!has_load(any)) facts.assume(any);
}

void choose_remainders(std::vector<KStmt>& list, const Facts& facts) {
  std::vector<ir::Id> lanes;
  visit(list, {facts, facts}, lanes);
}

void choose_remainders(ir::Kernel& kernel) { choose_remainders(kernel.body, facts_of(kernel)); }

}  // namespace ashlar::lowering
