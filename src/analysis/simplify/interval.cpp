// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/interval.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/simplify/engine.h"
#include "analysis/simplify/memo.h"
#include <ashlar/ir/pairs.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

// The hull of one expression while one variable runs. Ends are not simplified here; the caller does.
class Eliminate {
 public:
  Eliminate(Engine& engine, Id var, const Interval& range) : engine_(engine), var_(var), range_(range) {}

  Interval of(const Expr& e) {
    if (ir::is(e, Op::var)) return e.node()->id == var_ ? range_ : Interval{e, e};
    if (!ir::is_shared(e.node()) || ir::args_of(e).empty()) return hull(e);
    if (const auto it = known_.find(e.node()); it != known_.end()) return it->second.second;
    return known_.emplace(e.node(), std::make_pair(e, hull(e))).first->second.second;
  }

 private:
  Interval hull(const Expr& e) {
    if (!mentions(e, var_)) return {e, e};
    if (!is_scalar_index(e)) return constant(e);
    // Where the whole moves one way as the variable grows, its ends are the values at the variable's ends: exact.
    // An open range is followed through the structure instead: min(v, 7) has an upper end whatever v has.
    const Direction d = range_.bounded() ? engine_.direction(e, var_) : Direction::mixed;
    if (d == Direction::up) return {at(e, range_.lo), at(e, range_.hi)};
    if (d == Direction::down) return {at(e, range_.hi), at(e, range_.lo)};
    switch (ir::op_of(e)) {
      case Op::add:
      case Op::sub:
      case Op::neg:
      case Op::mul:
        return sum(e);
      default:
        return atom(e);
    }
  }

  // The variable's range where a condition holds (or fails): comparisons of the variable itself with something that does not
  // move. Where the result is empty its ends cross; an interval between crossed ends lies inside the one of the other arm or
  // widens it.
  Interval clipped(const Expr& condition, bool holds) const {
    const auto args = ir::args_of(condition);
    if (holds && ir::is(condition, Op::logic_and)) {
      const Interval first = clipped(args[0], true);
      return Eliminate(engine_, var_, first).clipped(args[1], true);
    }
    if (ir::is(condition, Op::logic_not)) return clipped(args[0], !holds);
    Interval r = range_;
    if (!ir::is_comparison(ir::op_of(condition)) || !is_scalar_index(args[0])) return r;
    Op op = ir::op_of(condition);
    Expr other;
    if (ir::is(args[0], Op::var) && args[0].node()->id == var_ && !mentions(args[1], var_)) {
      other = args[1];
    } else if (ir::is(args[1], Op::var) && args[1].node()->id == var_ && !mentions(args[0], var_)) {
      other = args[0];
      op = op == Op::lt ? Op::gt : op == Op::le ? Op::ge : op == Op::gt ? Op::lt : op == Op::ge ? Op::le : op;
    } else {
      return r;
    }
    if (!holds)
      op = op == Op::lt   ? Op::ge
           : op == Op::le ? Op::gt
           : op == Op::gt ? Op::le
           : op == Op::ge ? Op::lt
           : op == Op::eq ? Op::ne
                          : Op::eq;
    const auto below = [&](const Expr& end) { r.hi = r.hi.empty() ? end : ir::min(r.hi, end); };
    const auto above = [&](const Expr& end) { r.lo = r.lo.empty() ? end : ir::max(r.lo, end); };
    switch (op) {
      case Op::lt:
        below(ir::sub(other, ir::index(1)));
        break;
      case Op::le:
        below(other);
        break;
      case Op::gt:
        above(ir::add(other, ir::index(1)));
        break;
      case Op::ge:
        above(other);
        break;
      case Op::eq:
        below(other);
        above(other);
        break;
      default:
        break;
    }
    return r;
  }

  Expr at(const Expr& e, const Expr& value) const { return value.empty() ? Expr{} : ir::substitute(e, {{var_, value}}); }

  Interval constant(const Expr& e) {
    const Range r = engine_.range(e);
    Interval i;
    if (r.has_lo()) i.lo = ir::index(r.lo);
    if (r.has_hi()) i.hi = ir::index(r.hi);
    return i;
  }

  // The constant ends of the engine know the variable's own range; they close what the structure leaves open.
  Interval close(Interval i, const Expr& e) {
    if (i.bounded()) return i;
    const Interval c = constant(e);
    if (i.lo.empty()) i.lo = c.lo;
    if (i.hi.empty()) i.hi = c.hi;
    return i;
  }

  static Interval plus(const Interval& a, const Interval& b) {
    Interval r;
    if (!a.lo.empty() && !b.lo.empty()) r.lo = ir::add(a.lo, b.lo);
    if (!a.hi.empty() && !b.hi.empty()) r.hi = ir::add(a.hi, b.hi);
    return r;
  }
  static Interval times(const Interval& a, std::int64_t c) {
    Interval r;
    const Expr k = ir::index(c);
    const Expr &lo = c < 0 ? a.hi : a.lo, &hi = c < 0 ? a.lo : a.hi;
    if (!lo.empty()) r.lo = ir::mul(lo, k);
    if (!hi.empty()) r.hi = ir::mul(hi, k);
    return r;
  }

  // Terms that move together in one direction are taken together, so that i*N - i costs nothing.
  Interval sum(const Expr& e) {
    const Linear l = read(e);
    Linear up, down, fixed;
    Interval total{ir::index(l.constant), ir::index(l.constant)};
    for (const Term& t : l.terms) {
      Direction d = engine_.direction(t.atom, var_);
      if (d != Direction::flat && !range_.bounded()) d = Direction::mixed;
      const bool rises = (d == Direction::up) == (t.coef > 0);
      if (d == Direction::flat)
        fixed.terms.push_back(t);
      else if (d == Direction::mixed)
        total = plus(total, times(factor(t.atom), t.coef));
      else
        (rises ? up : down).terms.push_back(t);
    }
    const Expr f = emit(fixed), u = emit(up), w = emit(down);
    total = plus(total, {f, f});
    if (!up.terms.empty()) total = plus(total, {at(u, range_.lo), at(u, range_.hi)});
    if (!down.terms.empty()) total = plus(total, {at(w, range_.hi), at(w, range_.lo)});
    return close(total, e);
  }

  Interval factor(const Expr& e) {
    if (!ir::is(e, Op::mul)) return of(e);
    // One factor that is not negative and does not hold the variable, times a hull.
    std::vector<Expr> inside, outside;
    for (const Expr& f : factors(e)) (mentions(f, var_) ? inside : outside).push_back(f);
    if (inside.size() == 1) {
      const Expr scale = product_of(outside);
      const Range r = engine_.range(scale);
      const Interval h = of(inside[0]);
      Interval i;
      if (r.lo >= 0) {
        if (!h.lo.empty()) i.lo = ir::mul(h.lo, scale);
        if (!h.hi.empty()) i.hi = ir::mul(h.hi, scale);
      } else if (r.hi <= 0) {
        if (!h.hi.empty()) i.lo = ir::mul(h.hi, scale);
        if (!h.lo.empty()) i.hi = ir::mul(h.lo, scale);
      } else if (h.bounded()) {
        const Expr a = ir::mul(h.lo, scale), b = ir::mul(h.hi, scale);
        i = {ir::min(a, b), ir::max(a, b)};
      }
      return close(i, e);
    }
    return constant(e);
  }

  Interval atom(const Expr& e) {
    const auto args = ir::args_of(e);
    Interval r;
    if ((ir::is(e, Op::div) || ir::is(e, Op::mod)) && ir::is(args[0], Op::var) && args[0].node()->id == var_ &&
        !mentions(args[1], var_) && !range_.lo.empty() && engine_.range(range_.lo).lo >= 0) {
      if (Linear count; engine_.runs_over_multiple(e, range_.hi, &count))
        return {ir::index(0), ir::sub(ir::is(e, Op::div) ? emit(count) : args[1], ir::index(1))};
    }
    switch (ir::op_of(e)) {
      case Op::div:
        if (engine_.range(args[1]).lo > 0 && !mentions(args[1], var_)) {
          const Interval a = of(args[0]);
          if (!a.lo.empty()) r.lo = ir::div(a.lo, args[1]);
          if (!a.hi.empty()) r.hi = ir::div(a.hi, args[1]);
        }
        break;
      case Op::mod:
        if (engine_.range(args[1]).lo > 0 && !mentions(args[1], var_)) {
          const Range c = engine_.range(e);
          r.lo = ir::index(std::max<std::int64_t>(c.lo, 0));
          r.hi = ir::sub(args[1], ir::index(1));
          if (c.has_hi()) r.hi = ir::is_int(r.hi) ? ir::index(c.hi) : ir::min(r.hi, ir::index(c.hi));
        }
        break;
      case Op::min:
      case Op::max: {
        const Interval a = of(args[0]), b = of(args[1]);
        const bool is_min = ir::is(e, Op::min);
        const auto both = [&](const Expr& x, const Expr& y) {
          return x.empty() || y.empty() ? Expr{} : ir::binary(ir::op_of(e), x, y);
        };
        const auto either = [&](const Expr& x, const Expr& y) {
          return x.empty() ? y : y.empty() ? x : ir::binary(ir::op_of(e), x, y);
        };
        r.lo = is_min ? both(a.lo, b.lo) : either(a.lo, b.lo);
        r.hi = is_min ? either(a.hi, b.hi) : both(a.hi, b.hi);
        break;
      }
      case Op::select: {
        // An arm is only taken where its side of the condition holds.
        const Interval a = arm(args[1], args[0], true), b = arm(args[2], args[0], false);
        if (!a.lo.empty() && !b.lo.empty()) r.lo = ir::min(a.lo, b.lo);
        if (!a.hi.empty() && !b.hi.empty()) r.hi = ir::max(a.hi, b.hi);
        break;
      }
      case Op::in_range: {
        const Interval a = of(args[0]), lo = of(args[1]), hi = of(args[2]);
        r.lo = a.lo.empty() ? lo.lo : lo.lo.empty() ? a.lo : ir::max(a.lo, lo.lo);
        const Expr last = hi.hi.empty() ? Expr{} : ir::sub(hi.hi, ir::index(1));
        r.hi = a.hi.empty() ? last : last.empty() ? a.hi : ir::min(a.hi, last);
        break;
      }
      case Op::abs: {
        const Interval a = of(args[0]);
        r.lo = ir::index(0);
        if (a.bounded()) r.hi = ir::max(a.hi, ir::neg(a.lo));
        break;
      }
      default:
        break;
    }
    return close(r, e);
  }

  // Of an arm, where its side of the condition holds. Choices inside of choices that share what they choose among have 2^n ways
  // through them: the conditions of those far inside do not count.
  Interval arm(const Expr& e, const Expr& condition, bool holds) {
    const Interval range = clipped(condition, holds);
    const auto same_end = [](const Expr& x, const Expr& y) { return x.node() == y.node(); };
    if (clips_ >= 4 || (same_end(range.lo, range_.lo) && same_end(range.hi, range_.hi))) return of(e);
    Eliminate inner(engine_, var_, range);
    inner.clips_ = clips_ + 1;
    return inner.of(e);
  }

  Engine& engine_;
  Id var_;
  Interval range_;
  int clips_ = 0;
  std::unordered_map<const ir::Node*, std::pair<Expr, Interval>> known_;
};

Facts with_ranges(const Facts& facts, std::span<const VarRange> ranges) {
  Facts f = facts;
  // Outer variables first: the ranges of inner ones are stated over them.
  for (std::size_t k = ranges.size(); k-- > 0;) {
    const VarRange& v = ranges[k];
    if (!v.range.lo.empty() || !v.range.hi.empty()) f.range(v.id, v.range.lo, v.range.hi);
  }
  return f;
}

Interval eliminate_all(const Expr& simplified, std::span<const VarRange> eliminate, Engine& engine) {
  Interval r{simplified, simplified};
  for (const VarRange& v : eliminate) {
    const bool point = r.lo.node() == r.hi.node();
    if (!r.lo.empty() && mentions(r.lo, v.id)) {
      const Interval lo = Eliminate(engine, v.id, v.range).of(r.lo);
      r.lo = lo.lo.empty() ? Expr{} : engine.simplify(lo.lo);
      if (point) {
        r.hi = lo.hi.empty() ? Expr{} : engine.simplify(lo.hi);
        continue;
      }
    }
    if (!r.hi.empty() && mentions(r.hi, v.id)) {
      const Interval hi = Eliminate(engine, v.id, v.range).of(r.hi);
      r.hi = hi.hi.empty() ? Expr{} : engine.simplify(hi.hi);
    }
  }
  return r;
}

Expr meet(Op op, const Expr& a, const Expr& b, const Facts& facts) { return simplify(ir::binary(op, a, b), facts); }

// What is larger is not the size of a tile but of a type that data is indexed with.
constexpr std::int64_t most_constant = 65'536;

// Every choice of one arm for each min that is added and each max that is subtracted: each choice is an upper bound.
void choices(const Linear& l, std::vector<Linear>& out, Engine& engine, std::size_t limit) {
  for (std::size_t k = 0; k < l.terms.size(); ++k) {
    const Term t = l.terms[k];
    if (!(ir::is(t.atom, Op::min) && t.coef > 0) && !(ir::is(t.atom, Op::max) && t.coef < 0)) continue;
    if (out.size() >= limit) break;
    for (const Expr& arm : ir::args_of(t.atom)) {
      Linear one = l;
      one.terms.erase(one.terms.begin() + static_cast<std::ptrdiff_t>(k));
      add_scaled(one, engine.linear(arm), t.coef);
      choices(engine.linear(emit(one)), out, engine, limit);
    }
    return;
  }
  out.push_back(l);
}

}  // namespace

Interval bounds_over(const Expr& e, std::span<const VarRange> eliminate, const Facts& facts) {
  if (e.empty()) return {};
  std::vector<Id> own;
  add_variables(e, own);
  const auto moves = [&](const VarRange& v) { return std::find(own.begin(), own.end(), v.id) != own.end(); };
  if (std::none_of(eliminate.begin(), eliminate.end(), moves)) {
    const Expr s = simplify(e, facts);
    return {s, s};
  }
  // A variable by itself has the ends of its range, wherever that is empty too: that it had a value would say more of them.
  if (const auto v = std::find_if(eliminate.begin(), eliminate.end(), [&](const VarRange& r) { return r.id == e.node()->id; });
      ir::is(e, Op::var) && v != eliminate.end() && v->range.bounded()) {
    std::vector<VarRange> rest(eliminate.begin(), v);
    rest.insert(rest.end(), v + 1, eliminate.end());
    return {bounds_over(v->range.lo, rest, facts).lo, bounds_over(v->range.hi, rest, facts).hi};
  }
  const auto same_range = [](const VarRange& a, const VarRange& b) {
    const SameWithNames same;
    return a.id == b.id && same(a.range.lo, b.range.lo) && same(a.range.hi, b.range.hi);
  };
  const auto memo = memo_for(e, with_ranges(facts, eliminate));
  const auto& known = memo->bounds;
  if (const auto it = known.find(e); it != known.end())
    for (const MemoTable::Bounds& b : it->second)
      if (std::equal(b.eliminated.begin(), b.eliminated.end(), eliminate.begin(), eliminate.end(), same_range))
        return b.interval;
  Interval result;
  try {
    result = memo->ask([&](Engine& engine) {
      engine.lift_data();
      return eliminate_all(engine.simplify(e), eliminate, engine);
    });
  } catch (const Overflow&) {
    result = {};  // unbounded
  }
  memo->bounds[e].push_back({{eliminate.begin(), eliminate.end()}, result});
  return result;
}

Interval hull(const Interval& a, const Interval& b, const Facts& facts) {
  Interval r;
  if (!a.lo.empty() && !b.lo.empty()) r.lo = meet(Op::min, a.lo, b.lo, facts);
  if (!a.hi.empty() && !b.hi.empty()) r.hi = meet(Op::max, a.hi, b.hi, facts);
  return r;
}

Interval intersect(const Interval& a, const Interval& b, const Facts& facts) {
  Interval r;
  r.lo = a.lo.empty() ? b.lo : b.lo.empty() ? a.lo : meet(Op::max, a.lo, b.lo, facts);
  r.hi = a.hi.empty() ? b.hi : b.hi.empty() ? a.hi : meet(Op::min, a.hi, b.hi, facts);
  return r;
}

Expr upper_bound(const Expr& e, std::span<const VarRange> eliminate, const Facts& facts) {
  if (e.empty()) return {};
  try {
    const Facts all = with_ranges(facts, eliminate);
    Engine engine(all);
    engine.lift_data();
    std::vector<Linear> candidates;
    choices(engine.linear(e), candidates, engine, 64);
    std::optional<std::int64_t> constant;
    Expr symbolic;
    for (const Linear& c : candidates) {
      const Expr hi = eliminate_all(emit(c), eliminate, engine).hi;
      if (hi.empty()) continue;
      std::int64_t v = 0;
      if (ir::is_int(hi, &v))
        constant = constant ? std::min(*constant, v) : v;
      else
        symbolic = symbolic.empty() ? hi : engine.simplify(ir::min(symbolic, hi));
    }
    if (!constant) return symbolic;
    return *constant <= most_constant || symbolic.empty() ? ir::index(*constant)
                                                          : engine.simplify(ir::min(symbolic, ir::index(*constant)));
  } catch (const Overflow&) { return {}; }
}

}  // namespace ashlar::analysis
