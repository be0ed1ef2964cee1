// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients in the search of decide.cpp, where more is known of them than their ends, and those that a sum puts together again:
//
//   by a symbol      q - a/c >= 0 is (q + 1)*c - a - 1 >= 0 for c > 0, so that a/n < 4 follows from a < 4*n
//   by remainder     v/c <= (hi - r)/c for v <= hi, where v % c == r is known: an odd v <= 2*L has v/2 <= L - 1
#include "analysis/simplify/engine.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

Linear without(const Linear& l, std::size_t term) {
  Linear rest = l;
  rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(term));
  return rest;
}

// The remainder of v by c that a condition says.
std::optional<std::int64_t> known_remainder(const Facts& facts, const Expr& v, std::int64_t c) {
  for (const Expr& condition : facts.conditions()) {
    const bool equal = ir::is(condition, Op::eq);
    if (!equal && !ir::is(condition, Op::ne)) continue;
    for (const std::size_t side : {0, 1}) {
      const Expr &rest = ir::args_of(condition)[side], &value = ir::args_of(condition)[1 - side];
      std::int64_t by = 0, r = 0;
      if (!ir::is(rest, Op::mod) || !ir::is_int(value, &r) || r < 0 || r >= c) continue;
      if (!ir::is_int(ir::args_of(rest)[1], &by) || by != c || !ir::same(ir::args_of(rest)[0], v)) continue;
      if (equal) return r;
      if (c == 2) return 1 - r;
    }
  }
  return std::nullopt;
}

}  // namespace

bool Engine::search_quotient_by_symbol(const Linear& l, std::size_t term, std::uint64_t used, int depth) {
  const Term& t = l.terms[term];
  if (!ir::is(t.atom, Op::div) || (t.coef != 1 && t.coef != -1)) return false;
  const Linear c = read(ir::args_of(t.atom)[1]);
  if (c.is_constant() || !positive(ir::args_of(t.atom)[1])) return false;
  Linear q = without(l, term), sum;
  if (t.coef < 0) q.constant = checked_add(q.constant, 1);
  add_scaled(sum, product(q, c), 1);
  read_into(ir::args_of(t.atom)[0], t.coef, sum);
  if (t.coef < 0) sum.constant = checked_add(sum.constant, -1);
  normalize(sum);
  return search(sum, used, depth + 1);
}

bool Engine::search_known_remainder(const Linear& l, std::size_t term, std::uint64_t used, int depth) {
  const Term& t = l.terms[term];
  std::int64_t c = 0;
  if (!ir::is(t.atom, Op::div) || !ir::is_int(ir::args_of(t.atom)[1], &c) || c < 2) return false;
  const Expr& v = ir::args_of(t.atom)[0];
  const VarFacts* known = ir::is(v, Op::var) ? facts_.of(v.node()->id) : nullptr;
  const std::optional<std::int64_t> r = known ? known_remainder(facts_, v, c) : std::nullopt;
  if (!r) return false;
  // The end of v at which the term is least, rounded to a number of that remainder.
  const Expr end = t.coef < 0 ? (!known->hi.empty() ? known->hi
                                 : known->max       ? ir::index(*known->max)
                                                    : Expr())
                              : (!known->lo.empty() ? known->lo
                                 : known->min       ? ir::index(*known->min)
                                                    : Expr());
  if (end.empty()) return false;
  Linear rest = without(l, term);
  gather(ir::div(ir::add(end, ir::index(t.coef < 0 ? -*r : c - 1 - *r)), ir::index(c)), t.coef, rest);
  normalize(rest);
  return search(rest, used, depth + 1);
}

// ---- sums -----------------------------------------------------------------------------------------------------------------

// Rule add.remainder: x*e - (x/c)*(c*e) -> (x%c)*e, where the terms of x stand spread in the sum.
bool Engine::normalize_remainders(Linear& l) {
  for (std::size_t k = 0; k < l.terms.size(); ++k) {
    const Term t = l.terms[k];
    std::int64_t c = 0;
    if (!ir::is(t.atom, Op::div) || !ir::is_int(ir::args_of(t.atom)[1], &c) || c <= 0 || t.coef % c != 0) continue;
    const std::int64_t e = -(t.coef / c);
    const Expr& x = ir::args_of(t.atom)[0];
    const Linear dividend = read(x);
    bool all = !dividend.terms.empty();
    for (const Term& part : dividend.terms) {
      const std::int64_t* found = coefficient(l, part.atom);
      all = all && found && *found == part.coef * e;
    }
    if (!all) continue;
    Linear rest = l;
    add_term(rest, t.atom, -t.coef);
    add_scaled(rest, dividend, -e);
    gather(ir::mod(x, ir::index(c)), e, rest);
    l = std::move(rest);
    return true;
  }
  return false;
}

// Rule add.div_mod_symbol: (x/n)*n*e + (x%n)*e -> x*e for n > 0 that is not a number. The product stands as one atom.
bool Engine::normalize_digits(Linear& l) {
  for (const Term& t : l.terms) {
    if (!ir::is(t.atom, Op::mod)) continue;
    const Expr x = ir::args_of(t.atom)[0], n = ir::args_of(t.atom)[1];
    if (ir::is_int(n) || !positive(n)) continue;
    const Linear high = product(read(visit(ir::div(x, n))), read(n));
    if (high.terms.size() != 1 || high.constant != 0 || high.terms[0].coef != 1) continue;
    const std::int64_t* found = coefficient(l, high.terms[0].atom);
    if (!found || *found != t.coef) continue;
    const Term low = t;
    add_term(l, low.atom, -low.coef);
    add_term(l, high.terms[0].atom, -low.coef);
    gather(x, low.coef, l);
    return true;
  }
  return false;
}

}  // namespace ashlar::analysis
