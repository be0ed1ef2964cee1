// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons of indices become one form: what is added on one side, what is subtracted on the other, without a common factor.
//
//   io * 64 + ii - M < 0      io * 64 + ii < M
//   2 * i < 2 * N - 1         i < N
//   c < N - 1                 as it is, where c is data of 64 bits: c + 1 may leave 63 bits
#include "analysis/nodes.h"
#include "analysis/simplify/engine.h"

namespace ashlar::analysis {

Expr Engine::visit_compare(const Expr& e) {
  const ir::Node* n = e.node();
  if (!is_scalar_index(n->args[0])) return visit_data(e);
  Linear a, b;
  gather(n->args[0], 1, a);
  gather(n->args[1], 1, b);
  Linear slack;
  switch (n->op) {
    case Op::eq:
    case Op::ne:
      slack = difference(a, b);
      break;
    case Op::lt:
    case Op::le:
      slack = difference(b, a);
      break;
    default:
      slack = difference(a, b);
  }
  if (n->op == Op::lt || n->op == Op::gt) slack.constant = checked_add(slack.constant, -1);
  normalize(slack);
  if (n->op == Op::eq || n->op == Op::ne) return equal_linear(slack, n->op == Op::eq);
  return compare_linear(slack);
}

// Data of 64 bits may be so far above (or below) that a constant beside them leaves 63 bits: to < N - 1 is not to + 1 < N.
bool Engine::lies_far(const Expr& e, bool above, int depth) {
  if (depth == 8) return false;
  const Expr* a = e.node()->args;
  switch (e.node()->op) {
    case Op::cast: {
      const Range r = range(e);
      return a[0].node()->type.is_index() ? false : above ? r.hi > INT64_MAX / 2 : r.lo < INT64_MIN / 2;
    }
    case Op::min:
    case Op::max:
      if ((e.node()->op == Op::min) == above) return lies_far(a[0], above, depth + 1) && lies_far(a[1], above, depth + 1);
      return lies_far(a[0], above, depth + 1) || lies_far(a[1], above, depth + 1);
    case Op::select:
      return lies_far(a[1], above, depth + 1) || lies_far(a[2], above, depth + 1);
    default:
      return false;
  }
}

// The only term that may lie there: it is compared with all others. Null if there is none or several.
const Term* Engine::far_term(const Linear& l) {
  const Term* found = nullptr;
  for (const Term& t : l.terms) {
    if (!lies_far(t.atom, true, 0) && !lies_far(t.atom, false, 0)) continue;
    if (found || (t.coef != 1 && t.coef != -1)) return nullptr;
    found = &t;
  }
  return found;
}

Expr Engine::compare_linear(const Linear& l) {
  switch (decide_linear(l)) {
    case Truth::yes:
      return ir::boolean(true);
    case Truth::no:
      return ir::boolean(false);
    case Truth::open:
      break;
  }
  // le.min, le.max: a bound by several is a conjunction of bounds.
  for (std::size_t k = 0; k < l.terms.size(); ++k) {
    const Term t = l.terms[k];
    if (!(ir::is(t.atom, Op::min) && t.coef > 0) && !(ir::is(t.atom, Op::max) && t.coef < 0)) continue;
    Linear sides[2] = {l, l};
    for (std::size_t s = 0; s < 2; ++s) {
      sides[s].terms.erase(sides[s].terms.begin() + static_cast<std::ptrdiff_t>(k));
      read_into(ir::args_of(t.atom)[s], t.coef, sides[s]);
      normalize(sides[s]);
    }
    return ir::logic_and(compare_linear(sides[0]), compare_linear(sides[1]));
  }
  Linear slack = l;
  if (const std::int64_t g = content(slack); g > 1) {
    for (Term& t : slack.terms) t.coef /= g;
    slack.constant = floor_div(slack.constant, g);
  }
  if (const Term* far = far_term(slack); far && slack.terms.size() > 1 && slack.constant != 0 && slack.constant != -1) {
    const Expr one = far->atom;
    const bool added = far->coef == 1, strict = slack.constant < 0;  // one - others >= -constant, or others - one
    if (strict) slack.constant += 1;
    Linear others;
    for (const Term& t : slack.terms)
      if (&t != far) others.terms.push_back({t.atom, added ? checked_mul(t.coef, -1) : t.coef});
    others.constant = added ? checked_mul(slack.constant, -1) : slack.constant;
    if (strict) return added ? ir::gt(one, emit(others)) : ir::lt(one, emit(others));
    return added ? ir::ge(one, emit(others)) : ir::le(one, emit(others));
  }
  // What is subtracted goes to the left, what is added to the right, so that both sides read as sums: io*64 + ii < M.
  Linear left, right;
  for (const Term& t : slack.terms)
    if (t.coef > 0)
      right.terms.push_back(t);
    else
      left.terms.push_back({t.atom, -t.coef});
  const std::int64_t c = slack.constant;
  if (left.terms.empty()) return c == -1 ? ir::gt(emit(right), ir::index(0)) : ir::ge(emit(right), ir::index(-c));
  if (right.terms.empty()) return ir::lt(emit(left), ir::index(checked_add(c, 1)));
  if (c == -1) return ir::lt(emit(left), emit(right));
  if (c >= 0) {
    right.constant = c;
    return ir::le(emit(left), emit(right));
  }
  left.constant = -c - 1;
  return ir::lt(emit(left), emit(right));
}

Expr Engine::equal_linear(const Linear& l, bool equal) {
  if (l.is_constant()) return ir::boolean((l.constant == 0) == equal);
  const Range r = range(l);
  if (r.lo > 0 || r.hi < 0) return ir::boolean(!equal);
  const Congruence m = congruence(l);
  if (m.modulus > 1 && m.remainder != 0) return ir::boolean(!equal);
  Linear below;
  add_scaled(below, l, -1);
  Linear strictly_above = l, strictly_below = below;
  strictly_above.constant = checked_add(l.constant, -1);
  strictly_below.constant = checked_add(below.constant, -1);
  if (nonneg(strictly_above) || nonneg(strictly_below)) return ir::boolean(!equal);
  if (nonneg(l) && nonneg(below)) return ir::boolean(equal);
  Linear d = l;
  const std::int64_t g = content(d);
  if (g > 1) {
    if (floor_mod(d.constant, g) != 0) return ir::boolean(!equal);
    for (Term& t : d.terms) t.coef /= g;
    d.constant /= g;
  }
  if (const Term* far = far_term(d); far && d.terms.size() > 1 && d.constant != 0) {
    const Expr one = far->atom;
    Linear others;
    for (const Term& t : d.terms)
      if (&t != far) others.terms.push_back({t.atom, far->coef == 1 ? checked_mul(t.coef, -1) : t.coef});
    others.constant = far->coef == 1 ? checked_mul(d.constant, -1) : d.constant;
    return equal ? ir::eq(one, emit(others)) : ir::ne(one, emit(others));
  }
  Linear left, right;
  std::size_t positive = 0;
  for (const Term& t : d.terms) positive += t.coef > 0;
  const bool turn = positive == 0;  // -x + 3 == 0 reads x == 3
  for (const Term& t : d.terms) {
    const std::int64_t coef = turn ? -t.coef : t.coef;
    if (coef > 0)
      left.terms.push_back({t.atom, coef});
    else
      right.terms.push_back({t.atom, -coef});
  }
  right.constant = turn ? d.constant : checked_mul(d.constant, -1);
  if (right.constant < 0 && !right.terms.empty()) {
    left.constant = -right.constant;
    right.constant = 0;
  }
  return equal ? ir::eq(emit(left), emit(right)) : ir::ne(emit(left), emit(right));
}

}  // namespace ashlar::analysis
