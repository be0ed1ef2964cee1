// Remainders by a Symbol of what lies within a period of its range are chosen, not divided: a border that is wrapped or
// mirrored, the neighbour of the last cell of a torus.
//
//   (x - 1) % W       with 0 <= x < W             select(x - 1 < 0, x - 1 + W, x - 1)
//   (c + 1) % W       with 0 <= c < W             select(c + 1 < W, c + 1, c + 1 - W)
//
// A division by a number that is not constant takes as long as ten to twenty additions, and no target has one of 64 bits for
// vectors. Remainders by constants stay: they are multiplications, and patterns of lanes that loads know.
#include "lower/passes.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

namespace ashlar::lower_impl {
namespace {

using analysis::Facts;
using ir::KStmt;
using ir::Op;

bool divides(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    found = found || (ir::is(x, Op::mod) && x.type().is_index() && !ir::is(ir::args_of(x)[1], Op::int_const));
    return !found;
  });
  return found;
}

Expr chosen(const Expr& e, const Facts& facts) {
  if (!ir::is(e, Op::mod) || !e.type().is_index() || ir::is(ir::args_of(e)[1], Op::int_const)) return e;
  const Expr a = ir::args_of(e)[0], n = ir::args_of(e)[1], zero = ir::index(0);
  const auto holds = [&](const Expr& condition) { return analysis::can_prove(condition, facts); };
  if (!holds(ir::lt(a, ir::add(n, n))) || !holds(ir::ge(a, ir::sub(zero, n)))) return e;  // so n > 0
  const bool below = !holds(ir::ge(a, zero)), above = !holds(ir::lt(a, n));
  Expr r = a;
  if (above) r = ir::select(ir::lt(a, n), r, ir::sub(a, n));
  if (below) r = ir::select(ir::lt(a, zero), ir::add(a, n), r);
  return r;
}

// A condition on lanes becomes a mask: what needs none because a remainder lies in its period is read by all of them.
bool is_mask(const Expr& condition, const std::vector<ir::Id>& lanes) {
  return std::any_of(lanes.begin(), lanes.end(), [&](ir::Id v) { return ir::uses_var(condition, v); });
}

void visit(std::vector<KStmt>& list, const Facts& facts, std::vector<ir::Id>& lanes) {
  for (KStmt& s : list) {
    for_each_expr(s, [&](Expr& e) {
      if (!divides(e)) return;
      bool any = false;
      const Expr other = ir::transform(e, [&](const Expr& x) {
        const Expr r = chosen(x, facts);
        any = any || r.node() != x.node();
        return r;
      });
      if (any) e = other;
    });
    Facts inner = facts;
    if (s.kind == KStmt::Kind::for_) inner.range(s.var, s.begin, ir::sub(ir::add(s.begin, s.extent), ir::index(1)));
    if (s.kind == KStmt::Kind::if_ && !has_load(s.value) && !is_mask(s.value, lanes)) inner.assume(s.value);
    const bool vector = s.kind == KStmt::Kind::for_ && s.loop_kind == ir::LoopKind::vectorized;
    if (vector) lanes.push_back(s.var);
    visit(s.body, inner, lanes);
    visit(s.otherwise, facts, lanes);
    if (vector) lanes.pop_back();
  }
}

}  // namespace

void choose_remainders(Draft& draft) {
  std::vector<ir::Id> lanes;
  visit(draft.kernel.body, facts_of(draft.kernel), lanes);
}

}  // namespace ashlar::lower_impl
