// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is a sum never negative? Everything that is proved comes down to this question. A depth-first search with a budget, each step
// replacing the sum by one that is never larger:
//
//   arms         c*min(a, b) with c > 0 is one of c*a, c*b: both must hold; with c < 0 it is at least either
//   hypotheses   a known h >= 0 is subtracted, scaled so that a term cancels
//   quotients    c*(a/c) lies in [a - c + 1, a]; a/c - b/c is at least (a - b)/c; a%c lies in [0, c - 1] (0 where c is 0), not
//   above a >= 0;
//                v/c lies in [0, n - 1] for a variable v in [0, c*n); more of them in quotients.cpp
//   promises     c*in_range(a, lo, hi) is at least c*lo or c*(hi - 1), and c*a
//   variables    a variable is replaced by the end of its range at which the sum is smallest, inner variables first
//
// Example: io*64 <= M - 1 for io <= (M + 63)/64 - 1 is M - 1 - io*64; io at its upper end: M + 63 - 64*((M + 63)/64); the
// quotient at its upper end: 0.
#include <algorithm>
#include <numeric>

#include "analysis/simplify/engine.h"
#include "analysis/simplify/memo.h"
#include <ashlar/ir/pairs.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr int steps_inside_simplify = 40;
constexpr int steps_inside_proof = 12;

struct Nested {
  explicit Nested(int& d) : depth(d) { ++depth; }
  ~Nested() { --depth; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  int& depth;
};

Direction flip(Direction d) { return d == Direction::up ? Direction::down : d == Direction::down ? Direction::up : d; }
Direction combine(Direction a, Direction b) {
  if (a == Direction::flat) return b;
  if (b == Direction::flat) return a;
  return a == b ? a : Direction::mixed;
}

// The cofactor of the variable in a monomial that holds it exactly once and nowhere deeper; empty otherwise.
Expr cofactor_of(const Expr& atom, Id id) {
  if (ir::is(atom, Op::var)) return atom.node()->id == id ? ir::index(1) : Expr{};
  if (!ir::is(atom, Op::mul)) return {};
  std::vector<Expr> f = factors(atom), rest;
  int found = 0;
  for (Expr& e : f) {
    if (ir::is(e, Op::var) && e.node()->id == id)
      ++found;
    else if (mentions(e, id))
      return {};
    else
      rest.push_back(std::move(e));
  }
  return found == 1 ? product_of(std::move(rest)) : Expr{};
}

void add_product(Linear& out, const Linear& a, const Linear& b, std::int64_t factor) { add_scaled(out, product(a, b), factor); }

}  // namespace

Engine::Engine(MemoTable& memo) : facts_(memo.facts), memo_(&memo) {}

// ---- direction ---------------------------------------------------------------------------------------------------------

Direction Engine::direction(const Linear& l, Id var) {
  Direction d = Direction::flat;
  for (const Term& t : l.terms) {
    const Direction a = direction(t.atom, var);
    d = combine(d, t.coef < 0 ? flip(a) : a);
    if (d == Direction::mixed) break;
  }
  return d;
}

Direction Engine::direction(const Expr& e, Id var) {
  const ir::Node* n = e.node();
  if (n->op == Op::var) return n->id == var ? Direction::up : Direction::flat;
  if (!is_scalar_index(e)) return mentions(e, var) ? Direction::mixed : Direction::flat;
  if (!ir::is_shared(n) || n->count == 0) return direction_of(e, var);
  const auto key = std::make_pair(n, var);
  if (const auto it = directions_.find(key); it != directions_.end()) return it->second;
  const Direction d = direction_of(e, var);
  directions_.emplace(key, d);
  ranged_.push_back(e);
  return d;
}

Direction Engine::direction_of(const Expr& e, Id var) {
  const ir::Node* n = e.node();
  if (!mentions(e, var)) return Direction::flat;
  switch (n->op) {
    case Op::add:
    case Op::sub:
    case Op::neg:
      return direction(read(e), var);
    case Op::mul: {
      const bool in_first = mentions(n->args[0], var), in_second = mentions(n->args[1], var);
      std::int64_t c = 0;
      if (ir::is_int(n->args[1], &c)) {
        const Direction d = direction(n->args[0], var);
        return c < 0 ? flip(d) : d;
      }
      if (in_first && in_second) {
        const Direction a = direction(n->args[0], var), b = direction(n->args[1], var);
        if (range(n->args[0]).lo >= 0 && range(n->args[1]).lo >= 0) return combine(a, b);
        return Direction::mixed;
      }
      const Range other = range(n->args[in_first ? 1 : 0]);
      const Direction d = direction(n->args[in_first ? 0 : 1], var);
      if (other.lo >= 0) return d;
      if (other.hi <= 0) return flip(d);
      return Direction::mixed;
    }
    case Op::div:
      if (range(n->args[1]).lo > 0 && !mentions(n->args[1], var)) return direction(n->args[0], var);
      return Direction::mixed;
    case Op::min:
    case Op::max:
      return combine(direction(n->args[0], var), direction(n->args[1], var));
    case Op::select:
      if (mentions(n->args[0], var)) return Direction::mixed;
      return combine(direction(n->args[1], var), direction(n->args[2], var));
    default:
      return Direction::mixed;
  }
}

// ---- the search --------------------------------------------------------------------------------------------------------

bool Engine::positive(const Expr& e) {
  Linear l = read(e);
  l.constant = checked_add(l.constant, -1);
  return nonneg(l);
}

bool Engine::nonneg(const Linear& l) {
  if (l.is_constant()) return l.constant >= 0;
  const Range r = range(l);
  if (r.has_lo() && r.lo >= 0) return true;
  if (r.has_hi() && r.hi < 0) return false;
  if (proof_depth_ >= 2) return false;
  const int outer = budget_;
  if (proof_depth_ == 0) {
    const bool answer = ask(l, std::max(outer, steps_inside_simplify));
    budget_ = outer;
    return answer;
  }
  const int given = budget_ = std::min(outer, steps_inside_proof);
  const Nested inside(proof_depth_);
  need_hypotheses();
  for (const Tried& t : tried_)
    if (t.given == given && t.depth == proof_depth_ && same(t.sum, l)) {
      budget_ = outer - t.spent;
      return t.answer;
    }
  const bool answer = search(l, 0, 0);
  tried_.push_back({l, given, proof_depth_, given - budget_, answer});
  budget_ = outer - (given - budget_);
  return answer;
}

// The same few differences are asked for again and again, by each expression that holds the min they decide. The answer follows
// from the sum, the facts and the budget alone: what earlier proofs of this engine simplified with few steps left is forgotten.
bool Engine::ask(const Linear& l, int budget) {
  {
    const Nested inside(proof_depth_);
    budget_ = budget;
    need_hypotheses();
  }
  if (!memo_) {
    held_ = memo_for(facts_);
    memo_ = held_.get();
  }
  Linear ordered = l;
  order(ordered);
  const Expr key = emit(ordered);
  const int asked = budget * 2 + (lift_ && hypotheses_of_data_);
  if (use_conditions_)
    if (const auto it = memo_->nonneg.find(key); it != memo_->nonneg.end())
      for (const auto& [steps, answer] : it->second)
        if (steps == asked) return answer;
  done_[1].clear();
  tried_.clear();
  budget_ = budget;
  bool answer = false;
  {
    const Nested inside(proof_depth_);
    answer = search(l, 0, 0);
  }
  if (use_conditions_) memo_->nonneg[key].emplace_back(asked, answer);
  return answer;
}

void Engine::need_hypotheses() {
  if (!use_conditions_ || (hypotheses_loaded_ && (hypotheses_lifted_ == lift_ || !hypotheses_of_data_))) return;
  const bool met_before = met_data_;
  met_data_ = false;
  load_hypotheses();
  hypotheses_of_data_ = met_data_;
  met_data_ = met_before;
}

void Engine::load_hypotheses() {
  hypotheses_loaded_ = true;
  hypotheses_lifted_ = lift_;
  hypotheses_.clear();
  if (facts_.conditions().empty()) return;
  // Read without the conditions themselves, or each would be seen to be true and say nothing.
  use_conditions_ = false;
  done_[1].clear();
  for (const Expr& c : facts_.conditions()) {
    if (!ir::is_comparison(ir::op_of(c)) || !is_scalar_index(ir::args_of(c)[0])) continue;
    const Op op = ir::op_of(c);
    if (op == Op::ne) {
      if (auto apart = one_sided(c)) hypotheses_.push_back(std::move(*apart));
      continue;
    }
    const bool ascending = op == Op::lt || op == Op::le;
    Linear slack;
    gather(ir::args_of(c)[ascending ? 1 : 0], 1, slack);
    gather(ir::args_of(c)[ascending ? 0 : 1], -1, slack);
    if (op == Op::lt || op == Op::gt) slack.constant = checked_add(slack.constant, -1);
    normalize(slack);
    if (op == Op::eq) {
      Linear turned;
      add_scaled(turned, slack, -1);
      hypotheses_.push_back(std::move(turned));
    }
    if (op != Op::eq) tighten(slack);
    if (!slack.is_constant()) hypotheses_.push_back(std::move(slack));
  }
  if (hypotheses_.size() > 64) hypotheses_.resize(64);
  done_[1].clear();
  use_conditions_ = true;
}

// a != b where the ranges of the variables say a >= b, or a <= b: then a >= b + 1, or a <= b - 1.
std::optional<Linear> Engine::one_sided(const Expr& differ) {
  const int given = budget_;
  std::optional<Linear> found;
  for (const std::int64_t sign : {1, -1}) {
    Linear slack;
    gather(ir::args_of(differ)[0], sign, slack);
    gather(ir::args_of(differ)[1], -sign, slack);
    normalize(slack);
    budget_ = steps_inside_proof;
    if (slack.is_constant() || !search(slack, 0, 0)) continue;
    slack.constant = checked_add(slack.constant, -1);
    tighten(slack);
    found = std::move(slack);
    break;
  }
  budget_ = given;
  return found;
}

// t + c >= 0 where t + c = s modulo m says t + c >= s.
void Engine::tighten(Linear& l) {
  const Congruence c = congruence(l);
  if (c.modulus > 1) l.constant = checked_add(l.constant, -c.remainder);
}

bool Engine::search(const Linear& l, std::uint64_t used, int depth) {
  if (l.is_constant()) return l.constant >= 0;
  const Range r = range(l);
  if (r.has_lo() && r.lo >= 0) return true;
  if (r.has_hi() && r.hi < 0) return false;
  if (--budget_ < 0 || depth > 16) return false;
  bool decided = false;
  if (search_minmax(l, used, depth, &decided)) return true;
  if (decided) return false;
  return search_hypotheses(l, used, depth) || search_quotients(l, used, depth) || search_promises(l, used, depth) ||
         search_variables(l, used, depth);
}

// in_range(a, lo, hi) is a, at least lo and below hi.
bool Engine::search_promises(const Linear& l, std::uint64_t used, int depth) {
  for (std::size_t k = 0; k < l.terms.size(); ++k) {
    const Term& t = l.terms[k];
    if (!ir::is(t.atom, Op::in_range)) continue;
    const auto args = ir::args_of(t.atom);
    for (const Expr& end : {t.coef > 0 ? args[1] : ir::sub(args[2], ir::index(1)), args[0]}) {
      Linear rest = l;
      rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(k));
      gather(end, t.coef, rest);
      normalize(rest);
      if (search(rest, used, depth + 1)) return true;
      if (budget_ <= 0) return false;
    }
  }
  return false;
}

bool Engine::search_minmax(const Linear& l, std::uint64_t used, int depth, bool* decided) {
  for (const bool all : {true, false}) {
    for (std::size_t k = 0; k < l.terms.size(); ++k) {
      const Term& t = l.terms[k];
      const Op op = ir::op_of(t.atom);
      if (op != Op::min && op != Op::max && op != Op::select) continue;
      const bool both = op == Op::select || (op == Op::min) == (t.coef > 0);
      if (both != all) continue;
      bool answer = both;
      for (std::size_t arm = op == Op::select ? 1 : 0; arm < ir::args_of(t.atom).size() && answer == both; ++arm) {
        Linear one = l;
        one.terms.erase(one.terms.begin() + static_cast<std::ptrdiff_t>(k));
        read_into(ir::args_of(t.atom)[arm], t.coef, one);
        normalize(one);
        answer = search(one, used, depth + 1);
      }
      if (both) {
        *decided = true;
        return answer;
      }
      if (answer) return true;
    }
  }
  return false;
}

bool Engine::search_hypotheses(const Linear& l, std::uint64_t used, int depth) {
  for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
    if (used >> h & 1) continue;
    std::int64_t tried_l = 0, tried_h = 0;
    for (const Term& t : l.terms) {
      for (const Term& u : hypotheses_[h].terms) {
        if ((t.coef > 0) != (u.coef > 0) || !ir::same(t.atom, u.atom)) continue;
        const std::int64_t g = std::gcd(t.coef, u.coef);
        const std::int64_t by_l = std::abs(u.coef / g), by_h = std::abs(t.coef / g);
        if (by_l == tried_l && by_h == tried_h) continue;
        tried_l = by_l;
        tried_h = by_h;
        Linear rest;
        add_scaled(rest, l, by_l);
        add_scaled(rest, hypotheses_[h], -by_h);
        normalize(rest);
        if (search(rest, used | std::uint64_t{1} << h, depth + 1)) return true;
        if (budget_ <= 0) return false;
      }
    }
  }
  return false;
}

// v / c or v % c of a variable in [0, c * count), as the loop that two fused loops became: it has a value, so c and count are
// at least 1, the quotient lies below count and the remainder below c.
bool Engine::runs_over_multiple(const Expr& e, const Expr& last, Linear* count) {
  if (!ir::is(e, Op::div) && !ir::is(e, Op::mod)) return false;
  const Linear c = read(ir::args_of(e)[1]);
  if (last.empty() || c.is_constant() || range(c).lo < 0) return false;
  Linear end = linear(last);
  end.constant = checked_add(end.constant, 1);
  Division d = divide(end, c);
  if (!d.rest.terms.empty() || d.rest.constant != 0) return false;
  *count = std::move(d.quotient);
  return true;
}

bool Engine::search_quotients(const Linear& l, std::uint64_t used, int depth) {
  // a/c - b/c >= (a - b)/c
  for (const Term& t : l.terms) {
    if (!ir::is(t.atom, Op::div) || t.coef < 0) continue;
    const Expr& c = ir::args_of(t.atom)[1];
    for (const Term& u : l.terms) {
      if (u.coef > 0 || !ir::is(u.atom, Op::div) || !ir::same(ir::args_of(u.atom)[1], c) || range(c).lo < 1) continue;
      const std::int64_t m = std::min(t.coef, -u.coef);
      Linear rest = l;
      add_term(rest, Expr(t.atom), -m);
      add_term(rest, Expr(u.atom), m);
      gather(ir::div(ir::sub(ir::args_of(t.atom)[0], ir::args_of(u.atom)[0]), c), m, rest);
      normalize(rest);
      if (search(rest, used, depth + 1)) return true;
    }
  }
  for (std::size_t k = 0; k < l.terms.size(); ++k) {
    if (search_known_remainder(l, k, used, depth) || search_quotient_by_symbol(l, k, used, depth)) return true;
    const Term& t = l.terms[k];
    for (const Expr& factor : factors(t.atom)) {
      const Expr whole = ir::is(factor, Op::div) || ir::is(factor, Op::mod) ? ir::args_of(factor)[0] : Expr();
      const VarFacts* loop = !whole.empty() && ir::is(whole, Op::var) ? facts_.of(whole.node()->id) : nullptr;
      if (Linear count;
          loop && ir::same(factor, t.atom) && range(whole).lo >= 0 && runs_over_multiple(factor, loop->hi, &count)) {
        Linear rest = l;
        rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(k));
        if (t.coef < 0) {
          add_scaled(rest, ir::is(factor, Op::div) ? count : read(ir::args_of(factor)[1]), t.coef);
          rest.constant = checked_add(rest.constant, -t.coef);
        }
        normalize(rest);
        if (search(rest, used, depth + 1)) return true;
      }
      if (ir::is(factor, Op::div)) {
        const Linear a = read(ir::args_of(factor)[0]), c = read(ir::args_of(factor)[1]);
        Linear rest;
        if (c.is_constant() && ir::same(factor, t.atom)) {
          if (c.constant <= 0) continue;
          // s*l with s = c/gcd(coef, c) has the term m*c*(a/c).
          const std::int64_t s = c.constant / std::gcd(t.coef, c.constant);
          add_scaled(rest, l, s);
          const std::int64_t coef = checked_mul(t.coef, s), m = coef / c.constant;
          add_term(rest, t.atom, -coef);
          add_scaled(rest, a, m);
          if (m > 0) rest.constant = checked_add(rest.constant, checked_mul(m, 1 - c.constant));
        } else {
          // coef * f * (a/f) * r with f > 0, r >= 0
          const Division d = divide(read(t.atom), product(read(factor), c));
          if (!d.rest.terms.empty() || d.rest.constant != 0 || range(emit(c)).lo < 1) continue;
          if (range(d.quotient).lo < 0) continue;
          rest = l;
          rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(k));
          Linear end = a;
          if (t.coef > 0) {
            add_scaled(end, c, -1);
            end.constant = checked_add(end.constant, 1);
          }
          add_product(rest, end, d.quotient, t.coef);
        }
        normalize(rest);
        if (search(rest, used, depth + 1)) return true;
      } else if (ir::is(factor, Op::mod) && ir::same(factor, t.atom)) {
        const Expr& c = ir::args_of(factor)[1];
        if (range(c).lo < 0) continue;
        Linear rest = l;
        rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(k));
        if (t.coef < 0) {  // a%c <= a - m*c where a >= m*c; a%0 = 0
          Linear dividend = read(ir::args_of(factor)[0]);
          const std::int64_t least = range(dividend).lo;
          std::int64_t n = 0;
          if (least >= 0) {
            if (ir::is_int(c, &n) && n > 0) dividend.constant = checked_add(dividend.constant, -(least - least % n));
            Linear at_most = rest;
            add_scaled(at_most, dividend, t.coef);
            normalize(at_most);
            if (search(at_most, used, depth + 1)) return true;
          }
        }
        if (t.coef < 0) {
          if (!positive(c)) continue;
          add_scaled(rest, read(c), t.coef);
          rest.constant = checked_add(rest.constant, -t.coef);
        }
        normalize(rest);
        if (search(rest, used, depth + 1)) return true;
      }
    }
  }
  return false;
}

bool Engine::search_variables(const Linear& l, std::uint64_t used, int depth) {
  const std::vector<VarFacts>& vars = facts_.vars();
  std::vector<Id> used_ids;
  for (const Term& t : l.terms) add_variables(t.atom, used_ids);
  for (std::size_t k = vars.size(); k-- > 0;) {
    const VarFacts& v = vars[k];
    if (v.lo.empty() && v.hi.empty() && !v.min && !v.max) continue;
    if (std::find(used_ids.begin(), used_ids.end(), v.id) == used_ids.end()) continue;
    const Direction d = direction(l, v.id);
    Linear with, without;
    bool plain = true;  // the variable occurs only as a factor of monomials
    for (const Term& t : l.terms) {
      if (!mentions(t.atom, v.id)) {
        without.terms.push_back(t);
        continue;
      }
      const Expr c = cofactor_of(t.atom, v.id);
      if (c.empty()) {
        plain = false;
        without.terms.push_back(t);
      } else {
        read_into(c, t.coef, with);
      }
    }
    without.constant = l.constant;
    bool grows = d == Direction::up;
    if (d == Direction::mixed) {
      // Only the part that is linear in the variable is taken to its end; the rest keeps it.
      if (with.terms.empty() && with.constant == 0) continue;
      const Range slope = range(with);
      if (slope.lo < 0 && slope.hi > 0) {
        Linear down;
        add_scaled(down, with, -1);
        if (proof_depth_ < 2 && nonneg(with))
          grows = true;
        else if (proof_depth_ < 2 && nonneg(down))
          grows = false;
        else
          continue;
      } else {
        grows = slope.lo >= 0;
      }
    }
    bool any = false;
    for (const bool symbolic : {true, false}) {
      Expr end;
      if (symbolic)
        end = grows ? v.lo : v.hi;
      else if (grows ? v.min.has_value() : v.max.has_value())
        end = ir::index(grows ? *v.min : *v.max);
      if (end.empty()) continue;
      any = true;
      Linear rest;
      if (plain || d == Direction::mixed) {
        rest = without;
        add_product(rest, with, linear(end), 1);
      } else {
        gather(ir::substitute(emit(l), {{v.id, end}}), 1, rest);
      }
      normalize(rest);
      if (search(rest, used, depth + 1)) return true;
      if (budget_ <= 0) return false;
    }
    if (any && d != Direction::mixed) return false;
  }
  return false;
}

Truth Engine::decide_linear(const Linear& l) {
  if (nonneg(l)) return Truth::yes;
  const Range r = range(l);
  if (r.has_hi() && r.hi < 0) return Truth::no;
  Linear turned;
  add_scaled(turned, l, -1);
  turned.constant = checked_add(turned.constant, -1);
  return nonneg(turned) ? Truth::no : Truth::open;
}

Truth Engine::decide(const Expr& condition) {
  const Expr s = visit(condition);
  std::int64_t v = 0;
  if (ir::is_int(s, &v)) return v ? Truth::yes : Truth::no;
  return Truth::open;
}

}  // namespace ashlar::analysis
