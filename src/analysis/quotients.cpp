// Quotients in the search of decide.cpp, where more is known of them than their ends:
//
//   by a symbol      q - a/c >= 0 is (q + 1)*c - a - 1 >= 0 for c > 0, so that a/n < 4 follows from a < 4*n
//   by remainder     v/c <= (hi - r)/c for v <= hi, where v % c == r is known: an odd v <= 2*L has v/2 <= L - 1
#include "analysis/engine.h"

namespace ashlar::analysis {

using ir::Op;

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
  normalise(sum);
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
  normalise(rest);
  return search(rest, used, depth + 1);
}

}  // namespace ashlar::analysis
