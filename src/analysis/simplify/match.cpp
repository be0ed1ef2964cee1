// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matching of the rule table against canonical expressions, and the proof of a rule's condition.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include <ashlar/ir/refusal.h>

#include "analysis/simplify/engine.h"
#include "analysis/simplify/rules.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

class RuleMatch {
 public:
  RuleMatch(Engine& engine, const Rule& rule) : engine_(engine), rule_(rule) {}

  // Binds the constants that the rule wants suggested; false if the operand suggests none.
  bool suggest(const Expr& first, const Expr& second) {
    if (rule_.suggest == Suggest::none) return true;
    std::int64_t c = 0;
    if (rule_.suggest == Suggest::above) {
      const Range r = engine_.range(second);
      if (r.lo < 0 || r.hi < r.lo || !r.has_hi() || r.hi >= std::int64_t{1} << 61) return false;
      const Expr g = ir::index(std::int64_t{1} << std::bit_width(static_cast<std::uint64_t>(r.hi)));
      return !ir::same(engine_.simplify(ir::mod(first, g)), first) && bind(pg, g);
    }
    if (rule_.suggest == Suggest::below) {
      const Congruence m = engine_.congruence(second);
      const auto known = static_cast<std::uint64_t>(std::gcd(m.modulus, m.remainder));
      const std::int64_t g = known == 0 ? 0 : std::int64_t{1} << std::countr_zero(known);
      return g > 1 && bind(pg, ir::index(g));
    }
    if (!ir::is_int(second, &c) || c <= 0) return false;
    switch (rule_.suggest) {
      case Suggest::quotient: {
        const Range r = engine_.range(first);
        if (!r.has_lo()) return false;
        return bind(pk, ir::index(floor_div(r.lo, c)));
      }
      case Suggest::remainder: {
        const Congruence m = engine_.congruence(first);
        if (m.modulus % c != 0) return false;
        return bind(pk, ir::index(floor_mod(m.remainder, c)));
      }
      case Suggest::content: {
        const std::int64_t g = std::gcd(content(read(first)), c);
        return g > 1 && bind(pg, ir::index(g));
      }
      case Suggest::carry: {
        const Linear l = read(first);
        std::vector<std::int64_t> divisors;
        for (const Term& t : l.terms)
          if (const std::int64_t g = std::gcd(t.coef, c); g > 1) divisors.push_back(g);
        std::sort(divisors.rbegin(), divisors.rend());
        for (const std::int64_t g : divisors) {
          const Division d = divide(l, read(ir::index(g)));
          if (d.rest.terms.empty()) continue;
          const Range r = engine_.range(emit(d.rest));
          if (r.lo >= 0 && r.has_hi() && r.hi < g) return bind(pg, ir::index(g));
        }
        return false;
      }
      default: {
        Linear l = read(first);
        l.constant = 0;
        const Congruence m = engine_.congruence(l);
        const std::int64_t g = std::gcd(std::gcd(m.modulus, m.remainder), c);
        return g > 1 && bind(pg, ir::index(g));
      }
    }
  }

  // `choice` selects the term of a sum that a pattern such as x * e takes, where e is not known yet.
  bool match(const Expr& pattern, const Expr& target, std::size_t choice) {
    choice_ = choice;
    return match(pattern, target);
  }
  bool match_term(const Expr& pattern, const Term& t) {  // pattern: atom * constant variable
    const auto args = ir::args_of(pattern);
    return match(args[0], t.atom) && match(args[1], ir::index(t.coef));
  }
  bool more_choices() const { return more_; }

  bool holds() { return rule_.condition.empty() || holds(rule_.condition); }
  Expr replacement() const { return instantiate(rule_.replacement); }

 private:
  bool bind(int v, const Expr& e) {
    if (!bound_[static_cast<std::size_t>(v)].empty()) return ir::same(bound_[static_cast<std::size_t>(v)], e);
    if (is_constant_var(v) && !ir::is(e, Op::int_const)) return false;
    // The algebra is that of conditions and mathematical integers: floats have no total order, data integers wrap.
    const bool wants_bool = v == pp || v == pq;
    if (wants_bool ? !e.node()->type.is_bool() : !e.node()->type.is_index()) return false;
    bound_[static_cast<std::size_t>(v)] = e;
    return true;
  }

  bool match(const Expr& pattern, const Expr& target) {
    if (const int v = pattern_var(pattern); v >= 0) return bind(v, target);
    if (ir::is(pattern, Op::int_const))
      return ir::is_int(target, pattern.node()->i) && pattern.node()->type == target.node()->type;
    if (ir::is(pattern, Op::add)) return match_sum(pattern, target);
    if (ir::op_of(pattern) != ir::op_of(target)) return false;
    const auto p = ir::args_of(pattern), t = ir::args_of(target);
    // Divisors first: what they bind says how the dividend is to be taken apart.
    for (std::size_t k = p.size(); k-- > 0;)
      if (!match(p[k], t[k])) return false;
    return true;
  }

  bool match_sum(const Expr& pattern, const Expr& target) {
    const Expr& first = ir::args_of(pattern)[0];
    const Expr& second = ir::args_of(pattern)[1];
    Linear sum = read(target);
    if (ir::is(first, Op::mul)) {
      const Expr& what = ir::args_of(first)[0];
      const Expr& by = ir::args_of(first)[1];
      const int by_var = pattern_var(by);
      if (by_var >= 0 && !bound_[static_cast<std::size_t>(by_var)].empty()) {
        Division d = divide(sum, read(bound_[static_cast<std::size_t>(by_var)]));
        if (d.quotient.terms.empty() && d.quotient.constant == 0) return false;
        return match(what, emit(d.quotient)) && match(second, emit(d.rest));
      }
      if (choice_ >= sum.terms.size()) return false;
      more_ = choice_ + 1 < sum.terms.size();
      const Term t = sum.terms[choice_];
      sum.terms.erase(sum.terms.begin() + static_cast<std::ptrdiff_t>(choice_));
      return match(what, t.atom) && match(by, ir::index(t.coef)) && match(second, emit(sum));
    }
    if (sum.terms.empty()) return false;
    const std::int64_t constant = sum.constant;
    sum.constant = 0;
    return match(first, emit(sum)) && match(second, ir::index(constant));
  }

  Expr instantiate(const Expr& e) const {
    if (const int v = pattern_var(e); v >= 0) {
      if (bound_[static_cast<std::size_t>(v)].empty())
        throw InternalError(std::string("rule ") + rule_.name + " leaves a variable unbound");
      return bound_[static_cast<std::size_t>(v)];
    }
    const auto args = ir::args_of(e);
    switch (args.size()) {
      case 0:
        return e;
      case 1:
        return ir::unary(ir::op_of(e), instantiate(args[0]));
      case 2:
        return ir::binary(ir::op_of(e), instantiate(args[0]), instantiate(args[1]));
      default:
        return ir::select(instantiate(args[0]), instantiate(args[1]), instantiate(args[2]));
    }
  }

  bool holds(const Expr& condition) {
    if (ir::is(condition, Op::logic_and)) return holds(ir::args_of(condition)[0]) && holds(ir::args_of(condition)[1]);
    const auto args = ir::args_of(condition);
    // x % c == k is asked of the congruences, never of the rules that it guards.
    if (ir::is(condition, Op::eq) && ir::is(args[0], Op::mod)) {
      const Expr value = instantiate(ir::args_of(args[0])[0]), by = instantiate(ir::args_of(args[0])[1]),
                 rest = instantiate(args[1]);
      std::int64_t c = 0, k = 0;
      if (!ir::is_int(by, &c) || !ir::is_int(rest, &k) || c == 0) return false;
      std::int64_t v = 0;
      if (ir::is_int(value, &v)) return floor_mod(v, c) == k;
      const Congruence m = engine_.congruence(engine_.linear(value));
      return m.modulus % c == 0 && floor_mod(m.remainder, c) == k;
    }
    const Expr a = instantiate(args[0]), b = instantiate(args[1]);
    std::int64_t va = 0, vb = 0;
    if (ir::is_int(a, &va) && ir::is_int(b, &vb)) {
      switch (ir::op_of(condition)) {
        case Op::lt:
          return va < vb;
        case Op::le:
          return va <= vb;
        case Op::eq:
          return va == vb;
        default:
          return va != vb;
      }
    }
    Linear slack = difference(engine_.linear(b), engine_.linear(a));
    switch (ir::op_of(condition)) {
      case Op::lt:
        slack.constant = checked_add(slack.constant, -1);
        return engine_.nonneg(slack);
      case Op::le:
        return engine_.nonneg(slack);
      case Op::ne: {
        slack.constant = checked_add(slack.constant, -1);
        if (engine_.nonneg(slack)) return true;
        Linear other = difference(engine_.linear(a), engine_.linear(b));
        other.constant = checked_add(other.constant, -1);
        return engine_.nonneg(other);
      }
      default:
        return slack.is_constant() && slack.constant == 0;
    }
  }

  Engine& engine_;
  const Rule& rule_;
  std::array<Expr, pattern_var_count> bound_;
  std::size_t choice_ = 0;
  bool more_ = false;
};

std::optional<Expr> Engine::rewrite(const Expr& e) {
  const Op op = ir::op_of(e);
  const auto args = ir::args_of(e);
  const bool swappable = args.size() == 2 && ir::is_commutative(op);
  for (const Rule* rule : rules_of(op)) {
    for (int order = 0; order < (swappable ? 2 : 1); ++order) {
      const Expr target = order ? ir::rebuild(e, std::array<Expr, 2>{args[1], args[0]}) : e;
      const auto operands = ir::args_of(target);
      if (operands.size() != args.size()) break;
      for (std::size_t choice = 0;; ++choice) {
        RuleMatch m(*this, *rule);
        if (args.size() == 2 && !m.suggest(operands[0], operands[1])) break;
        if (m.match(rule->pattern, target, choice) && m.holds() && AppliedRules::take(*rule)) return m.replacement();
        if (!m.more_choices()) break;
      }
    }
  }
  return std::nullopt;
}

bool Engine::normalize_terms(Linear& l) {
  for (std::size_t k = 0; k < l.terms.size(); ++k) {
    const Term t = l.terms[k];
    if (!ir::is(t.atom, Op::div) || t.coef == 1 || t.coef == -1) continue;
    for (const Rule* rule : rules_of(Op::mul)) {
      RuleMatch m(*this, *rule);
      const auto args = ir::args_of(t.atom);
      if (!m.suggest(args[0], args[1]) || !m.match_term(rule->pattern, t) || !m.holds() || !AppliedRules::take(*rule)) continue;
      l.terms.erase(l.terms.begin() + static_cast<std::ptrdiff_t>(k));
      gather(m.replacement(), 1, l);
      return true;
    }
  }
  return false;
}

bool Engine::normalize_pairs(Linear& l) {
  const auto compound = [](const Expr& e) {
    const Op op = ir::op_of(e);
    return op == Op::div || op == Op::mod || op == Op::min || op == Op::max;
  };
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    if (!compound(l.terms[i].atom)) continue;
    for (std::size_t j = 0; j < l.terms.size(); ++j) {
      if (i == j || !compound(l.terms[j].atom)) continue;
      for (const Rule* rule : rules_of(Op::add)) {
        const auto sides = ir::args_of(rule->pattern);
        RuleMatch m(*this, *rule);
        if (!m.match_term(sides[0], l.terms[i]) || !m.match_term(sides[1], l.terms[j]) || !m.holds() ||
            !AppliedRules::take(*rule))
          continue;
        Linear rest;
        rest.constant = l.constant;
        for (std::size_t k = 0; k < l.terms.size(); ++k)
          if (k != i && k != j) rest.terms.push_back(l.terms[k]);
        gather(m.replacement(), 1, rest);
        l = std::move(rest);
        return true;
      }
    }
  }
  return false;
}

}  // namespace ashlar::analysis
