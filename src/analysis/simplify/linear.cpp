// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/simplify/linear.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <ashlar/ir/pairs.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) throw Overflow{};
  return r;
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) throw Overflow{};
  return r;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == -1) return checked_mul(a, -1);
  const std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return b == -1 ? 0 : a - floor_div(a, b) * b; }

// ---- order -------------------------------------------------------------------------------------------------------------

namespace {

int rank(Op op) {  // variables first, then products, then the rest as the enumeration has them
  if (op == Op::var) return -2;
  if (op == Op::mul) return -1;
  return static_cast<int>(op);
}

template <class T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace

namespace {

void add_variables(const Expr& e, std::vector<ir::Id>& to, ir::Pairs& met) {
  const ir::Node* n = e.node();
  if (n->op == ir::Op::var && std::find(to.begin(), to.end(), n->id) == to.end()) {
    if (to.empty()) to.reserve(8);
    to.push_back(n->id);
  }
  if (n->count == 0 || met.again(n)) return;
  for (std::uint32_t k = 0; k < n->count; ++k)
    if (const ir::Node* inner = n->args[k].node(); inner->count != 0 || inner->op == ir::Op::var)
      add_variables(n->args[k], to, met);
}

bool mentions(const Expr& e, ir::Id variable, ir::Pairs& met) {
  const ir::Node* n = e.node();
  if (n->op == ir::Op::var) return n->id == variable;
  if (n->count == 0 || met.again(n)) return false;
  for (std::uint32_t k = 0; k < n->count; ++k)
    if (mentions(n->args[k], variable, met)) return true;
  return false;
}

int compare_pair(const Expr& a, const Expr& b, ir::Pairs& met) {
  const ir::Node* x = a.node();
  const ir::Node* y = b.node();
  if (x == y) return 0;
  if (x->op != y->op) return three_way(rank(x->op), rank(y->op));
  if (int c = three_way(x->count, y->count)) return c;
  if (x->op == Op::int_const)
    if (int c = three_way(x->i, y->i)) return c;
  if (x->op == Op::float_const)
    if (int c = three_way(x->f, y->f)) return c;
  if (x->name && y->name)
    if (int c = std::strcmp(x->name, y->name)) return c < 0 ? -1 : 1;
  if (int c = three_way(static_cast<int>(x->type.code), static_cast<int>(y->type.code))) return c;
  if (int c = three_way(x->type.bits, y->type.bits)) return c;
  if (x->count == 0 || met.again(x, y)) return 0;
  for (std::uint32_t k = 0; k < x->count; ++k)
    if (int c = compare_pair(x->args[k], y->args[k], met)) return c;
  return 0;
}

}  // namespace

bool mentions(const Expr& e, ir::Id variable) {
  ir::Pairs met;
  return mentions(e, variable, met);
}

void add_variables(const Expr& e, std::vector<ir::Id>& to) {
  ir::Pairs met;
  add_variables(e, to, met);
}

int compare(const Expr& a, const Expr& b) {
  if (a.node() == b.node()) return 0;
  ir::Pairs met;
  return compare_pair(a, b, met);
}

namespace {

// Products of more factors are left as they were written, a factor themselves: what is multiplied with itself n times over has
// 2^n, and as an index it leaves 63 bits except for -1, 0 and 1.
constexpr std::size_t most_factors = 32;

bool add_factors(const Expr& e, std::vector<const Expr*>& to) {
  if (ir::is(e, Op::mul)) return add_factors(ir::args_of(e)[0], to) && add_factors(ir::args_of(e)[1], to);
  to.push_back(&e);
  return to.size() <= most_factors;
}

}  // namespace

int degree(const Expr& atom) {
  if (!ir::is(atom, Op::mul)) return 1;
  std::vector<const Expr*> all;
  add_factors(atom, all);
  return static_cast<int>(all.size());
}

namespace {

std::uint64_t magnitude(std::int64_t v) { return v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v); }

bool before(const Term& a, const Term& b) {
  const int da = degree(a.atom), db = degree(b.atom);
  if (da != db) return da > db;
  if (magnitude(a.coef) != magnitude(b.coef)) return magnitude(a.coef) > magnitude(b.coef);
  return compare(a.atom, b.atom) < 0;
}

}  // namespace

void order(Linear& l) {
  if (l.terms.size() < 2) return;
  // Insertion keeps ties in order of first appearance; sums are short.
  for (std::size_t i = 1; i < l.terms.size(); ++i)
    for (std::size_t j = i; j > 0 && before(l.terms[j], l.terms[j - 1]); --j) std::swap(l.terms[j], l.terms[j - 1]);
}

// ---- arithmetic --------------------------------------------------------------------------------------------------------

const std::int64_t* coefficient(const Linear& l, const Expr& atom) {
  for (const Term& t : l.terms)
    if (ir::same(t.atom, atom)) return &t.coef;
  return nullptr;
}

void add_term(Linear& l, const Expr& atom, std::int64_t coef) {
  if (coef == 0) return;
  for (std::size_t k = 0; k < l.terms.size(); ++k) {
    if (!ir::same(l.terms[k].atom, atom)) continue;
    l.terms[k].coef = checked_add(l.terms[k].coef, coef);
    if (l.terms[k].coef == 0) l.terms.erase(l.terms.begin() + static_cast<std::ptrdiff_t>(k));
    return;
  }
  if (l.terms.empty()) l.terms.reserve(4);
  l.terms.push_back({atom, coef});
}

void add_scaled(Linear& l, const Linear& m, std::int64_t factor) {
  for (const Term& t : m.terms) add_term(l, t.atom, checked_mul(t.coef, factor));
  l.constant = checked_add(l.constant, checked_mul(m.constant, factor));
}

Linear difference(const Linear& a, const Linear& b) {
  Linear r;
  r.terms.reserve(a.terms.size() + b.terms.size());
  r.terms = a.terms;
  r.constant = a.constant;
  add_scaled(r, b, -1);
  return r;
}

std::vector<Expr> factors(const Expr& atom) {
  std::vector<Expr> out;
  if (!ir::is(atom, Op::mul)) {
    out.push_back(atom);
    return out;
  }
  std::vector<const Expr*> all;
  if (!add_factors(atom, all)) return {atom};
  for (const Expr* e : all) out.push_back(*e);
  return out;
}

Expr product_of(std::vector<Expr> f) {
  if (f.empty()) return ir::index(1);
  std::stable_sort(f.begin(), f.end(), [](const Expr& a, const Expr& b) { return compare(a, b) < 0; });
  Expr r = f[0];
  for (std::size_t k = 1; k < f.size(); ++k) r = ir::mul(r, f[k]);
  return r;
}

Linear product(const Linear& a, const Linear& b) {
  Linear r;
  if (a.is_constant()) {
    add_scaled(r, b, a.constant);
    return r;
  }
  if (b.is_constant()) {
    add_scaled(r, a, b.constant);
    return r;
  }
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      std::vector<Expr> f = factors(x.atom);
      for (Expr& e : factors(y.atom)) f.push_back(std::move(e));
      if (f.size() > most_factors) f = {x.atom, y.atom};
      add_term(r, product_of(std::move(f)), checked_mul(x.coef, y.coef));
    }
    add_term(r, x.atom, checked_mul(x.coef, b.constant));
  }
  for (const Term& y : b.terms) add_term(r, y.atom, checked_mul(y.coef, a.constant));
  r.constant = checked_mul(a.constant, b.constant);
  return r;
}

bool same(const Linear& a, const Linear& b) {
  if (a.constant != b.constant || a.terms.size() != b.terms.size()) return false;
  for (const Term& x : a.terms) {
    bool found = false;
    for (const Term& y : b.terms) found = found || (x.coef == y.coef && ir::same(x.atom, y.atom));
    if (!found) return false;
  }
  return true;
}

// ---- to and from trees -------------------------------------------------------------------------------------------------

void read_into(const Expr& e, std::int64_t factor, Linear& out) {
  const ir::Node* n = e.node();
  switch (n->op) {
    case Op::int_const:
      out.constant = checked_add(out.constant, checked_mul(n->i, factor));
      return;
    case Op::add:
      read_into(n->args[0], factor, out);
      read_into(n->args[1], factor, out);
      return;
    case Op::sub:
      read_into(n->args[0], factor, out);
      read_into(n->args[1], checked_mul(factor, -1), out);
      return;
    case Op::neg:
      read_into(n->args[0], checked_mul(factor, -1), out);
      return;
    case Op::mul: {
      std::int64_t c = 0;
      if (ir::is_int(n->args[1], &c)) return read_into(n->args[0], checked_mul(factor, c), out);
      if (ir::is_int(n->args[0], &c)) return read_into(n->args[1], checked_mul(factor, c), out);
      break;
    }
    default:
      break;
  }
  add_term(out, e, factor);
}

Linear read(const Expr& e) {
  Linear l;
  read_into(e, 1, l);
  return l;
}

Expr emit(const Linear& unordered) {
  if (unordered.terms.empty()) return ir::index(unordered.constant);
  if (unordered.terms.size() == 1 && unordered.constant == 0 && unordered.terms[0].coef == 1) return unordered.terms[0].atom;
  Linear l = unordered;
  order(l);
  const auto scaled = [](const Term& t, std::int64_t coef) { return coef == 1 ? t.atom : ir::mul(t.atom, ir::index(coef)); };
  Expr sum;
  for (const Term& t : l.terms)  // what is added first, then what is subtracted: N - j, not -j + N
    if (t.coef > 0) sum = sum.empty() ? scaled(t, t.coef) : ir::add(sum, scaled(t, t.coef));
  bool constant_done = false;
  for (const Term& t : l.terms) {
    if (t.coef > 0) continue;
    if (sum.empty()) {
      if (l.constant > 0) {
        sum = ir::index(l.constant);
        constant_done = true;
      } else {
        sum = t.coef == -1 ? ir::neg(t.atom) : scaled(t, t.coef);
        continue;
      }
    }
    sum = t.coef == INT64_MIN ? ir::add(sum, scaled(t, t.coef)) : ir::sub(sum, scaled(t, -t.coef));
  }
  if (constant_done || l.constant == 0) return sum;
  if (l.constant < 0 && l.constant != INT64_MIN) return ir::sub(sum, ir::index(-l.constant));
  return ir::add(sum, ir::index(l.constant));
}

// ---- division ----------------------------------------------------------------------------------------------------------

std::int64_t content(const Linear& l) {
  std::int64_t g = 0;
  for (const Term& t : l.terms) g = t.coef == INT64_MIN ? std::gcd(g, INT64_MAX) : std::gcd(g, t.coef);
  return g;
}

namespace {

// atom / divisor where the divisor's factors all occur in the atom; empty if they do not.
Expr cofactor(const Expr& atom, const std::vector<Expr>& divisor) {
  std::vector<Expr> f = factors(atom);
  if (f.size() < divisor.size()) return {};
  for (const Expr& d : divisor) {
    const auto it = std::find_if(f.begin(), f.end(), [&](const Expr& e) { return ir::same(e, d); });
    if (it == f.end()) return {};
    f.erase(it);
  }
  return product_of(std::move(f));
}

}  // namespace

Division divide(const Linear& dividend, const Linear& divisor) {
  Division d;
  if (divisor.is_constant()) {
    const std::int64_t c = divisor.constant;
    if (c == 0) return {{}, dividend};
    for (const Term& t : dividend.terms) {
      if (c != -1 && t.coef % c == 0)
        add_term(d.quotient, t.atom, t.coef / c);
      else if (c == -1)
        add_term(d.quotient, t.atom, checked_mul(t.coef, -1));
      else
        add_term(d.rest, t.atom, t.coef);
    }
    const std::int64_t positive = c < 0 ? checked_mul(c, -1) : c;
    d.rest.constant = floor_mod(dividend.constant, positive);
    d.quotient.constant = (dividend.constant - d.rest.constant) / c;
    return d;
  }
  Linear by = divisor;
  order(by);
  const Term lead = by.terms.front();
  const std::vector<Expr> lead_factors = factors(lead.atom);
  d.rest = dividend;
  if (by.terms.size() == 1 && by.constant == 0) {
    d.rest.terms.clear();
    for (const Term& t : dividend.terms) {
      const Expr q = t.coef % lead.coef == 0 ? cofactor(t.atom, lead_factors) : Expr{};
      if (q.empty())
        add_term(d.rest, t.atom, t.coef);
      else if (ir::is_int(q, 1))
        d.quotient.constant = checked_add(d.quotient.constant, t.coef / lead.coef);
      else
        add_term(d.quotient, q, t.coef / lead.coef);
    }
    return d;
  }
  // A divisor of several terms: long division by its leading term, kept while it makes the rest shorter.
  for (bool progress = true; progress;) {
    progress = false;
    for (const Term& t : d.rest.terms) {
      if (t.coef % lead.coef != 0) continue;
      const Expr q = cofactor(t.atom, lead_factors);
      if (q.empty()) continue;
      Linear step = read(q);
      Linear scaled_step;
      add_scaled(scaled_step, step, t.coef / lead.coef);
      Linear rest = difference(d.rest, product(scaled_step, by));
      if (rest.terms.size() + (rest.constant != 0) >= d.rest.terms.size() + (d.rest.constant != 0)) continue;
      add_scaled(d.quotient, scaled_step, 1);
      d.rest = std::move(rest);
      progress = true;
      break;
    }
  }
  return d;
}

}  // namespace ashlar::analysis
