// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/distance.h"

#include <algorithm>

namespace ashlar::ir {
namespace {

constexpr std::size_t most_facts = 64;
constexpr int most_steps = 300;

bool scalar_indices(const Expr& e) {
  const auto args = args_of(e);
  return args.size() == 2 && args[0].type().is_index() && args[1].type().is_index();
}

}  // namespace

void Apart::Sum::add_atom(const Expr& e, std::int64_t factor) {
  const auto it = std::find_if(terms.begin(), terms.end(), [&](const auto& t) { return same(t.first, e); });
  if (it == terms.end()) {
    terms.emplace_back(e, factor);
    return;
  }
  if (__builtin_add_overflow(it->second, factor, &it->second)) fits = false;
  if (it->second == 0) terms.erase(it);
}

void Apart::Sum::add(const Expr& e, std::int64_t factor) {
  const auto args = args_of(e);
  std::int64_t v = 0;
  if (is_int(e, &v)) {
    if (__builtin_mul_overflow(v, factor, &v) || __builtin_add_overflow(constant, v, &constant)) fits = false;
  } else if (is(e, Op::add)) {
    add(args[0], factor), add(args[1], factor);
  } else if (is(e, Op::sub) && factor != INT64_MIN) {
    add(args[0], factor), add(args[1], -factor);
  } else if (is(e, Op::neg) && factor != INT64_MIN) {
    add(args[0], -factor);
  } else if (is(e, Op::mul) && (is_int(args[0], &v) || is_int(args[1], &v))) {
    if (__builtin_mul_overflow(v, factor, &v)) fits = false;
    if (v != 0) add(args[is_int(args[0]) ? 1 : 0], v);
  } else {
    add_atom(e, factor);
  }
}

void Apart::Sum::add_scaled(const Sum& other, std::int64_t factor) {
  for (const auto& [atom, coefficient] : other.terms) {
    std::int64_t v = 0;
    if (__builtin_mul_overflow(coefficient, factor, &v)) fits = false;
    add_atom(atom, v);
  }
  std::int64_t v = 0;
  if (__builtin_mul_overflow(other.constant, factor, &v) || __builtin_add_overflow(constant, v, &constant)) fits = false;
}

Apart::Sum Apart::Sum::with(std::size_t term, const Expr& instead) const {
  Sum s = *this;
  const std::int64_t factor = s.terms[term].second;
  s.terms.erase(s.terms.begin() + static_cast<std::ptrdiff_t>(term));
  s.add(instead, factor);
  return s;
}

Apart::Sum Apart::difference(const Expr& a, const Expr& b, std::int64_t less) {
  Sum s;
  s.add(a, 1);
  s.add(b, -1);
  if (__builtin_sub_overflow(s.constant, less, &s.constant)) s.fits = false;
  return s;
}

// A minimum that is at least something has both operands at least that.
void Apart::learn(const Sum& s) {
  if (!s.fits || s.terms.empty() || facts_.size() >= most_facts) return;
  for (std::size_t k = 0; k < s.terms.size(); ++k) {
    const auto& [atom, factor] = s.terms[k];
    if (!(is(atom, Op::min) && factor > 0) && !(is(atom, Op::max) && factor < 0)) continue;
    for (const Expr& operand : args_of(atom)) learn(s.with(k, operand));
    return;
  }
  facts_.push_back(s);
  for (const auto& [atom, factor] : s.terms) know_multiple(atom, factor);
}

// e / c * c is at most e, and less than c below.
void Apart::know_multiple(const Expr& e, std::int64_t factor) {
  std::int64_t by = 0;
  if (!is(e, Op::div) || !is_int(args_of(e)[1], &by) || by < 1 || factor % by != 0) return;
  if (std::any_of(quotients_.begin(), quotients_.end(), [&](const Expr& q) { return same(q, e); })) return;
  quotients_.push_back(e);
  const Expr multiple = mul(e, index(by));
  learn(difference(args_of(e)[0], multiple, 0));
  learn(difference(add(multiple, index(by)), args_of(e)[0], 1));
}

Apart::Apart(const std::vector<Expr>& known) {
  for (const Expr& c : known) assume(c, true);
  settle();
}

// If a maximum is at least x and one of its operands is less than x, the other operand is at least x.
//
//   16 ko + ki < max(j - i, 0), ko >= 0, ki >= 0      16 ko + ki < j - i
void Apart::settle() {
  for (std::size_t n = facts_.size(); n-- > 0;)
    for (std::size_t k = 0; k < facts_[n].terms.size(); ++k) {
      const auto [atom, factor] = facts_[n].terms[k];
      if (!(is(atom, Op::max) && factor > 0) && !(is(atom, Op::min) && factor < 0)) continue;
      for (std::size_t one = 0; one < 2; ++one) {
        Sum less;
        less.add_scaled(facts_[n].with(k, args_of(atom)[one]), -1);
        int steps = most_steps;
        const auto by = least(less, 4, steps);
        if (!by || *by < 1) continue;
        learn(Sum(facts_[n].with(k, args_of(atom)[1 - one])));
        break;
      }
      break;
    }
}

void Apart::assume(const Expr& c, bool holds) {
  const auto args = args_of(c);
  switch (op_of(c)) {
    case Op::logic_and:
    case Op::logic_or:
      if ((op_of(c) == Op::logic_and) == holds) assume(args[0], holds), assume(args[1], holds);
      return;
    case Op::logic_not:
      return assume(args[0], !holds);
    case Op::rare:
      return assume(args[0], holds);
    case Op::lt:
    case Op::ge:
      if (!scalar_indices(c)) return;
      return (op_of(c) == Op::lt) == holds ? learn(difference(args[1], args[0], 1)) : learn(difference(args[0], args[1], 0));
    case Op::gt:
    case Op::le:
      if (!scalar_indices(c)) return;
      return (op_of(c) == Op::gt) == holds ? learn(difference(args[0], args[1], 1)) : learn(difference(args[1], args[0], 0));
    case Op::eq:
    case Op::ne:
      if (!scalar_indices(c) || (op_of(c) == Op::eq) != holds) return;
      learn(difference(args[0], args[1], 0));
      return learn(difference(args[1], args[0], 0));
    default:
      return;
  }
}

std::optional<std::int64_t> Apart::least(const Expr& a, const Expr& b) const {
  const Sum s = difference(a, b, 0);
  std::optional<std::int64_t> best;
  for (int depth : {2, 4, 7}) {  // a few facts are mostly enough
    int steps = most_steps;
    const auto found = least(s, depth, steps);
    if (found && (!best || *found > *best)) best = found;
    if (best && *best > 0) break;
  }
  return best;
}

std::optional<std::int64_t> Apart::least(const Sum& s, int depth, int& steps) const {
  if (!s.fits) return std::nullopt;
  if (s.terms.empty()) return s.constant;
  if (depth == 0 || --steps <= 0) return std::nullopt;
  std::optional<std::int64_t> best;
  const auto either = [&](const Sum& other) {
    const auto found = least(other, depth - 1, steps);
    if (found && (!best || *found > *best)) best = found;
  };
  // Atoms that are one of several values, or lie between two.
  for (std::size_t k = 0; k < s.terms.size(); ++k) {
    const auto& [atom, factor] = s.terms[k];
    const auto args = args_of(atom);
    const bool minimum = is(atom, Op::min), maximum = is(atom, Op::max);
    if (is(atom, Op::in_range)) return least(s.with(k, factor > 0 ? args[1] : sub(args[2], index(1))), depth - 1, steps);
    if ((minimum && factor < 0) || (maximum && factor > 0)) {
      for (const Expr& operand : args) either(s.with(k, operand));
      return best;
    }
    if (!minimum && !maximum && !is(atom, Op::select)) continue;
    const auto first = least(s.with(k, args[args.size() - 2]), depth - 1, steps);
    const auto second = first ? least(s.with(k, args[args.size() - 1]), depth - 1, steps) : std::nullopt;
    return second ? std::optional(std::min(*first, *second)) : std::nullopt;
  }
  // s = (s - m fact) + m fact is at least s - m fact, which lacks an atom.
  for (const auto& [atom, factor] : s.terms)
    for (const Sum& fact : facts_)
      for (const auto& [other, by] : fact.terms) {
        if ((by > 0) != (factor > 0) || factor == INT64_MIN || factor % by != 0 || !same(other, atom)) continue;
        Sum rest = s;
        rest.add_scaled(fact, -(factor / by));
        either(rest);
      }
  return best;
}

}  // namespace ashlar::ir
