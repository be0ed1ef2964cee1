// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simplification: every node once, bottom-up; sums in canonical form; then the rule table, until nothing applies.
#include <ashlar/analysis/simplify.h>

#include <algorithm>
#include <array>
#include <numeric>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "analysis/simplify/engine.h"
#include "analysis/simplify/memo.h"
#include "analysis/simplify/rules.h"
#include <ashlar/ir/pairs.h>
#include <ashlar/ir/work.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

bool is_sum(Op op) { return op == Op::int_const || op == Op::add || op == Op::sub || op == Op::neg || op == Op::mul; }

void arms_of(const Expr& e, Op op, std::vector<Expr>& out, ir::Pairs& met) {
  if (!ir::is(e, op)) {
    out.push_back(e);
    return;
  }
  if (met.again(e.node())) return;  // arms twice are arms once
  for (const Expr& a : ir::args_of(e)) arms_of(a, op, out, met);
}
void arms_of(const Expr& e, Op op, std::vector<Expr>& out) {
  ir::Pairs met;
  arms_of(e, op, out, met);
}

int count_choices(const Expr& e, int enough, ir::Pairs& met) {  // min, max, select, and conditions on them
  const ir::Node* n = e.node();
  int count = n->op == Op::min || n->op == Op::max || n->op == Op::select || ir::is_comparison(n->op);
  if (n->count == 0 || met.again(n)) return std::min(count, enough);
  for (std::uint32_t k = 0; k < n->count && count < enough; ++k) count += count_choices(n->args[k], enough - count, met);
  return std::min(count, enough);
}
int count_choices(const Expr& e, int enough) {
  ir::Pairs met;
  return count_choices(e, enough, met);
}

struct Depth {  // counts nested entries; a chain of rewrites this long means that two rules undo each other
  explicit Depth(int& d) : depth(d) {
    if (++depth > 400) throw InternalError("the rewrite rules do not come to an end");
  }
  ~Depth() { --depth; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  int& depth;
};

}  // namespace

Expr Engine::simplify(const Expr& e) {
  Expr r = visit(e);
  // What a sum pushes into a min may let the arms fall apart differently: then once more, from the result.
  for (int round = 0; round < 4 && (e.node()->type.is_index() || e.node()->type.is_bool()) && count_choices(r, 2) == 2;
       ++round) {
    done_[0].clear();
    const Expr next = visit(r);
    if (ir::same(next, r)) break;
    r = next;
  }
  return r;
}

Linear Engine::linear(const Expr& e) {
  Linear l;
  gather(e, 1, l);
  normalize(l);
  return l;
}

// ---- sums --------------------------------------------------------------------------------------------------------------

void Engine::gather(const Expr& e, std::int64_t factor, Linear& out) {
  const ir::Node* n = e.node();
  if (!is_scalar_index(e)) return add_term(out, visit(e), factor);
  if (is_sum(n->op) && n->op != Op::int_const && n->refs > 1) {  // shared: through the memo, lest sharing be walked as a tree
    return read_into(visit(e), factor, out);
  }
  switch (n->op) {
    case Op::int_const:
      out.constant = checked_add(out.constant, checked_mul(n->i, factor));
      return;
    case Op::add:
      gather(n->args[0], factor, out);
      gather(n->args[1], factor, out);
      return;
    case Op::sub:
      gather(n->args[0], factor, out);
      gather(n->args[1], checked_mul(factor, -1), out);
      return;
    case Op::neg:
      gather(n->args[0], checked_mul(factor, -1), out);
      return;
    case Op::mul: {
      std::int64_t c = 0;
      if (ir::is_int(n->args[1], &c)) return gather(n->args[0], checked_mul(factor, c), out);
      if (ir::is_int(n->args[0], &c)) return gather(n->args[1], checked_mul(factor, c), out);
      Linear a, b;
      gather(n->args[0], 1, a);
      gather(n->args[1], 1, b);
      if (a.terms.size() * b.terms.size() > 64) {  // too long to multiply out: the two sums stay factors of one atom
        add_term(out, product_of({emit(a), emit(b)}), factor);
        return;
      }
      add_scaled(out, product(a, b), factor);
      return;
    }
    default:
      read_into(visit(e), factor, out);
  }
}

void Engine::normalize(Linear& l) {
  bool compound = false;
  for (const Term& t : l.terms)
    compound = compound || (!ir::is(t.atom, Op::var) && !ir::is(t.atom, Op::mul) && !ir::is(t.atom, Op::load));
  if (compound)
    for (int round = 0; round < 16; ++round)
      if (!normalize_terms(l) && !normalize_pairs(l) && !normalize_remainders(l) && !normalize_digits(l) &&
          !push_into_minmax(l))
        break;
  order(l);
}

// s * min(a, b) + t -> s * min(a + t/s, b + t/s) where s divides t and t cancels against a term of an arm; a constant moves in
// when nothing else is left beside the min. So an extent min(io*64 + 63, M - 1) - io*64 + 1 becomes min(64, M - io*64).
bool Engine::push_into_minmax(Linear& l) {
  for (std::size_t k = 0; k < l.terms.size(); ++k) {
    const Term t = l.terms[k];
    const Op op = ir::op_of(t.atom);
    if (op != Op::min && op != Op::max) continue;
    std::vector<Expr> arms;
    arms_of(t.atom, op, arms);
    std::vector<Linear> sums;
    for (const Expr& a : arms) sums.push_back(read(a));
    Linear moved, rest;
    for (std::size_t j = 0; j < l.terms.size(); ++j) {
      if (j == k) continue;
      bool cancels = false;
      for (const Linear& s : sums) {
        const std::int64_t* in_arm = coefficient(s, l.terms[j].atom);
        cancels = cancels || (in_arm && l.terms[j].coef % t.coef == 0 && *in_arm == -(l.terms[j].coef / t.coef));
      }
      if (cancels)
        moved.terms.push_back({l.terms[j].atom, l.terms[j].coef / t.coef});
      else
        rest.terms.push_back(l.terms[j]);
    }
    if (rest.terms.empty() && t.coef > 0 && l.constant % t.coef == 0)
      moved.constant = l.constant / t.coef;
    else
      rest.constant = l.constant;
    if (moved.terms.empty() && moved.constant == 0) continue;
    Expr inside;
    for (Linear& s : sums) {
      add_scaled(s, moved, 1);
      normalize(s);
      inside = inside.empty() ? emit(s) : minmax(op, inside, emit(s));
    }
    read_into(inside, t.coef, rest);
    l = std::move(rest);
    return true;
  }
  return false;
}

// ---- minimum and maximum -----------------------------------------------------------------------------------------------

// Of canonical operands. Arms are flattened, what is common to all is taken out (min.common, min.content), arms that never
// decide are dropped (min.decided, min.absorbs), the others stand in canonical order.
Expr Engine::minmax(Op op, const Expr& x, const Expr& y) {
  std::vector<Expr> arms;
  arms_of(x, op, arms);
  arms_of(y, op, arms);
  std::vector<Linear> sums;
  for (const Expr& a : arms) sums.push_back(read(a));

  std::vector<Linear> kept;
  for (Linear& candidate : sums) {
    bool dropped = false;
    for (std::size_t k = 0; k < kept.size() && !dropped;) {
      Linear d = difference(candidate, kept[k]);
      if (op == Op::max) {
        Linear turned;
        add_scaled(turned, d, -1);
        d = std::move(turned);
      }
      Linear turned;
      add_scaled(turned, d, -1);
      normalize(d);
      if (nonneg(d))
        dropped = true;  // the one that is kept already decides
      else if (normalize(turned); nonneg(turned))
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(k));
      else
        ++k;
    }
    if (!dropped) kept.push_back(candidate);
  }

  Linear common;
  for (const Term& t : std::vector<Term>(kept[0].terms)) {
    const bool everywhere = std::all_of(kept.begin(), kept.end(), [&](const Linear& s) {
      const std::int64_t* c = coefficient(s, t.atom);
      return c && *c == t.coef;
    });
    if (everywhere) common.terms.push_back(t);
  }
  for (Linear& s : kept) add_scaled(s, common, -1);
  Linear result = common;
  if (kept.size() == 1) {
    add_scaled(result, kept[0], 1);
    normalize(result);
    return emit(result);
  }
  std::int64_t g = 0;
  for (const Linear& s : kept) g = std::gcd(g, std::gcd(content(s), s.constant));
  std::vector<Expr> exprs;
  for (Linear& s : kept) {
    if (g > 1) {
      for (Term& t : s.terms) t.coef /= g;
      s.constant /= g;
    }
    exprs.push_back(emit(s));
  }
  std::stable_sort(exprs.begin(), exprs.end(), [](const Expr& a, const Expr& b) {
    const bool ca = ir::is_int(a), cb = ir::is_int(b);
    return ca != cb ? cb : compare(a, b) < 0;
  });
  Expr tree = exprs[0];
  for (std::size_t k = 1; k < exprs.size(); ++k) tree = ir::binary(op, tree, exprs[k]);
  if (common.terms.empty() && g <= 1) return tree;
  add_term(result, tree, std::max<std::int64_t>(g, 1));
  order(result);
  return emit(result);
}

// ---- nodes -------------------------------------------------------------------------------------------------------------

Expr Engine::visit(const Expr& e) {
  const ir::Node* n = e.node();
  ++ir::work.simplified;
  if (n->op == Op::int_const || n->op == Op::float_const) return e;
  if (n->op == Op::var) {
    if (!is_scalar_index(e)) return e;
    const Range r = range(e);
    return r.is_constant() ? ir::index(r.lo) : e;
  }
  auto& done = done_[proof_depth_ > 0];
  if (const auto it = done.find(n); it != done.end()) return it->second;
  const Depth guard(rewrite_depth_);
  Expr r;
  if (is_scalar_index(e)) {
    switch (n->op) {
      case Op::add:
      case Op::sub:
      case Op::neg:
      case Op::mul: {
        Linear l;
        if (n->op == Op::mul) {
          Linear a, b;
          gather(n->args[0], 1, a);
          gather(n->args[1], 1, b);
          if (a.terms.size() * b.terms.size() > 64)
            add_term(l, product_of({emit(a), emit(b)}), 1);
          else
            l = product(a, b);
        } else {
          gather(n->args[0], n->op == Op::neg ? -1 : 1, l);
          if (n->op != Op::neg) gather(n->args[1], n->op == Op::sub ? -1 : 1, l);
        }
        normalize(l);
        r = emit(l);
        break;
      }
      case Op::div:
      case Op::mod: {
        const Expr a = visit(n->args[0]), b = visit(n->args[1]);
        r = ir::binary(n->op, a, b);
        if (ir::is(r, n->op) && !ir::is_int(b, INT64_MIN))  // which has no opposite
          if (auto next = rewrite(r)) r = visit(*next);
        break;
      }
      case Op::min:
      case Op::max:
        r = minmax(n->op, visit(n->args[0]), visit(n->args[1]));
        break;
      case Op::select:
        r = visit_select(e);
        break;
      case Op::shl:
      case Op::shr: {  // by a constant: multiplication and floor division, which the rules know
        std::int64_t c = 0;
        if (ir::is_int(n->args[1], &c) && c >= 0 && c <= 62) {
          const Expr power = ir::index(std::int64_t{1} << c);
          r = visit(ir::binary(n->op == Op::shl ? Op::mul : Op::div, n->args[0], power));
        } else {
          r = visit_data(e);
        }
        break;
      }
      case Op::in_range: {
        const Expr value = visit(n->args[0]), lo = visit(n->args[1]), hi = visit(n->args[2]);
        const Range v = range(value), l = range(lo), h = range(hi);
        if (v.has_lo() && v.has_hi() && l.has_hi() && v.lo >= l.hi && h.has_lo() && v.hi < h.lo)
          r = value;
        else
          r = ir::rebuild(e, std::array<Expr, 3>{value, lo, hi});
        break;
      }
      case Op::cast:
        met_data_ = met_data_ || n->args[0].node()->type.is_data_integer();
        if (const Expr next = lift_ ? lifted(e) : Expr(); !next.empty())
          r = visit(next);
        else
          r = visit_data(e);
        break;
      case Op::bit_not:  // all digits of two's complement changed
        r = visit(ir::sub(ir::index(-1), n->args[0]));
        break;
      case Op::bit_and:
      case Op::bit_or:
      case Op::bit_xor: {
        const Expr a = visit(n->args[0]), b = visit(n->args[1]);
        r = compare(a, b) <= 0 ? ir::binary(n->op, a, b) : ir::binary(n->op, b, a);
        if (ir::is(r, n->op))
          if (auto next = rewrite(r)) r = visit(*next);
        break;
      }
      default:
        r = visit_data(e);
    }
  } else if (n->type.is_bool() && n->type.lanes == 1) {
    if (ir::is_comparison(n->op)) {
      r = visit_compare(e);
    } else if (n->op == Op::logic_and || n->op == Op::logic_or || n->op == Op::logic_not) {
      const Expr a = visit(n->args[0]);
      if (n->count == 1)
        r = ir::unary(n->op, a);
      else
        r = ir::binary(n->op, a, visit(n->args[1]));
      if (ir::is(r, n->op))
        if (auto next = rewrite(r)) r = visit(*next);
    } else {
      r = n->op == Op::select ? visit_select(e) : visit_data(e);
    }
    if (use_conditions_ && !ir::is(r, Op::int_const))
      for (const Expr& known : facts_.conditions())
        if (ir::same(known, e) || ir::same(known, r)) r = ir::boolean(true);
  } else {
    r = n->op == Op::select ? visit_select(e) : visit_data(e);
  }
  if (ir::same(r, e)) r = e;  // keep the node and its line
  done.emplace(n, r);
  keep_.push_back(e);
  if (r.node() != n && done.emplace(r.node(), r).second) keep_.push_back(r);
  return r;
}

Expr Engine::visit_data(const Expr& e) {
  const auto args = ir::args_of(e);
  if (args.empty()) return e;
  std::vector<Expr> fresh;
  fresh.reserve(args.size());
  bool constant = !ir::is(e, Op::load) && e.node()->type.lanes == 1;
  for (const Expr& a : args) {
    fresh.push_back(visit(a));
    constant = constant && (ir::is(fresh.back(), Op::int_const) || ir::is(fresh.back(), Op::float_const));
  }
  if (constant) {
    std::vector<ir::Value> values;
    for (const Expr& a : fresh) values.push_back(ir::value_of(a));
    const Type t = e.node()->type;
    if (const auto v = ir::evaluate(ir::op_of(e), t, values))
      return t.is_float() ? ir::float_const(t, v->f, e.node()->where) : ir::int_const(t, v->i, e.node()->where);
  }
  return ir::rebuild(e, fresh);
}

Expr Engine::visit_select(const Expr& e) {
  const ir::Node* n = e.node();
  const Expr condition = visit(n->args[0]);
  std::int64_t c = 0;
  if (ir::is_int(condition, &c)) return visit(n->args[c ? 1 : 2]);
  Expr a = visit(n->args[1]), b = visit(n->args[2]);
  if (ir::same(a, b)) return a;
  Expr r = ir::rebuild(e, std::array<Expr, 3>{condition, a, b});
  if (ir::is(r, Op::select) && (is_scalar_index(r) || n->type.is_bool()))
    if (auto next = rewrite(r)) return visit(*next);
  return r;
}

// ---- the entry ---------------------------------------------------------------------------------------------------------

Expr simplify(const Expr& e, const Facts& facts) {
  if (e.empty() || ir::is(e, Op::int_const) || ir::is(e, Op::float_const)) return e;
  const bool keep = memorable(e);
  std::shared_ptr<MemoTable> memo;
  if (keep) {
    memo = memo_for(e, facts);
    if (const auto it = memo->simplified.find(e); it != memo->simplified.end()) return it->second;
  }
  Expr result = e;
  try {
    result = memo ? memo->ask([&](Engine& engine) { return engine.simplify(e); }) : Engine(facts).simplify(e);
  } catch (const Overflow&) {
    result = e;  // a coefficient beyond 64 bits: the expression stays as it was written
  }
  if (keep) memo->simplified.emplace(e, result);
  return result;
}

std::optional<std::int64_t> constant_min(const Expr& e, const Facts& facts) {
  try {
    Engine engine(facts);
    engine.lift_data();
    const Range r = engine.range(engine.simplify(e));
    return r.has_lo() ? std::optional(r.lo) : std::nullopt;
  } catch (const Overflow&) { return std::nullopt; }
}

std::optional<std::int64_t> constant_max(const Expr& e, const Facts& facts) {
  try {
    Engine engine(facts);
    engine.lift_data();
    const Range r = engine.range(engine.simplify(e));
    return r.has_hi() ? std::optional(r.hi) : std::nullopt;
  } catch (const Overflow&) { return std::nullopt; }
}

Congruence congruence(const Expr& e, const Facts& facts) {
  try {
    Engine engine(facts);
    engine.lift_data();
    return engine.congruence(engine.simplify(e));
  } catch (const Overflow&) { return {}; }
}

}  // namespace ashlar::analysis
