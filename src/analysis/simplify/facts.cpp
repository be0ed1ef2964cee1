// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/facts.h>
#include <ashlar/ir/vscale.h>

#include <algorithm>
#include <span>
#include <numeric>

#include "analysis/simplify/linear.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

Expr opposite(const Expr& comparison) {  // of index: without NaN the order is total
  const Expr &a = ir::args_of(comparison)[0], &b = ir::args_of(comparison)[1];
  switch (ir::op_of(comparison)) {
    case Op::lt:
      return ir::ge(a, b);
    case Op::le:
      return ir::gt(a, b);
    case Op::gt:
      return ir::le(a, b);
    case Op::ge:
      return ir::lt(a, b);
    case Op::eq:
      return ir::ne(a, b);
    default:
      return ir::eq(a, b);
  }
}

}  // namespace

VarFacts& Facts::entry(ir::Id var) {
  for (VarFacts& v : vars_)
    if (v.id == var) return v;
  vars_.push_back({});
  vars_.back().id = var;
  return vars_.back();
}

const VarFacts* Facts::of(ir::Id var) const {
  for (const VarFacts& v : vars_)
    if (v.id == var) return &v;
  return nullptr;
}

namespace {

void narrow(VarFacts& v, std::optional<std::int64_t> min, std::optional<std::int64_t> max) {
  if (min && (!v.min || *v.min < *min)) v.min = min;
  if (max && (!v.max || *v.max > *max)) v.max = max;
}

}  // namespace

void Facts::bound(ir::Id var, std::optional<std::int64_t> min, std::optional<std::int64_t> max) {
  narrow(entry(var), min, max);
}

void Facts::range(ir::Id var, const Expr& lo, const Expr& hi) {
  std::int64_t a = 0, b = 0;
  const bool constant_lo = !lo.empty() && ir::is_int(lo, &a), constant_hi = !hi.empty() && ir::is_int(hi, &b);
  VarFacts& v = entry(var);
  narrow(v, constant_lo ? std::optional(a) : std::nullopt, constant_hi ? std::optional(b) : std::nullopt);
  if (!lo.empty() && !constant_lo) v.lo = lo;
  if (!hi.empty() && !constant_hi) v.hi = hi;
}

void Facts::multiple(ir::Id var, std::int64_t of) {
  if (of > 1) entry(var).multiple_of = std::lcm(entry(var).multiple_of, of);
}

namespace {

// v != c where c is an end of what is known of v: the end moves.
void differs(Facts& facts, ir::Id var, std::int64_t c) {
  const VarFacts* v = facts.of(var);
  if (!v) return;
  const bool least = v->min == c && c != INT64_MAX, most = v->max == c && c != INT64_MIN;
  if (least || most) facts.bound(var, least ? std::optional(c + 1) : std::nullopt, most ? std::optional(c - 1) : std::nullopt);
}

// v % k == r: the ends of v move to the next numbers of that remainder.
void has_remainder(Facts& facts, ir::Id var, std::int64_t k, std::int64_t r) {
  if (r == 0) facts.multiple(var, k);
  const VarFacts* v = facts.of(var);
  if (!v || r < 0 || r >= k) return;
  const auto distance = [&](std::int64_t from, std::int64_t to) { return ((to % k - from % k) % k + k) % k; };
  std::optional<std::int64_t> min, max;
  if (v->min && *v->min <= INT64_MAX - k) min = *v->min + distance(*v->min, r);
  if (v->max && *v->max >= INT64_MIN + k) max = *v->max - distance(r, *v->max);
  facts.bound(var, min, max);
}

}  // namespace

void Facts::assume(const Expr& condition) {
  const auto args = ir::args_of(condition);
  if (ir::is(condition, Op::logic_and)) {
    assume(args[0]);
    assume(args[1]);
    return;
  }
  if (ir::is(condition, Op::logic_not)) {
    const auto of = ir::args_of(args[0]);
    if (ir::is(args[0], Op::logic_or)) {
      assume(ir::logic_not(of[0]));
      assume(ir::logic_not(of[1]));
      return;
    }
    if (ir::is_comparison(ir::op_of(args[0])) && is_scalar_index(of[0])) return assume(opposite(args[0]));
  }
  if (ir::is_int(condition) && condition.node()->i != 0) return;
  conditions_.push_back(condition);
  if (!ir::is_comparison(ir::op_of(condition)) || !is_scalar_index(args[0])) return;
  // What says something about one variable alone also becomes a bound of it.
  std::int64_t c = 0, k = 0;
  const auto one_side = [&](const Expr& var, Op op, std::int64_t value) {
    const ir::Id id = var.node()->id;
    switch (op) {
      case Op::lt:
        if (value != INT64_MIN) bound(id, {}, value - 1);
        break;
      case Op::le:
        bound(id, {}, value);
        break;
      case Op::gt:
        if (value != INT64_MAX) bound(id, value + 1, {});
        break;
      case Op::ge:
        bound(id, value, {});
        break;
      case Op::eq:
        bound(id, value, value);
        break;
      case Op::ne:
        differs(*this, id, value);
        break;
      default:
        break;
    }
  };
  const auto mirrored = [](Op op) {
    switch (op) {
      case Op::lt:
        return Op::gt;
      case Op::le:
        return Op::ge;
      case Op::gt:
        return Op::lt;
      case Op::ge:
        return Op::le;
      default:
        return op;
    }
  };
  const Op op = ir::op_of(condition);
  if (ir::is(args[0], Op::var) && ir::is_int(args[1], &c))
    one_side(args[0], op, c);
  else if (ir::is(args[1], Op::var) && ir::is_int(args[0], &c))
    one_side(args[1], mirrored(op), c);
  else if (ir::is(args[0], Op::mod) && ir::is(ir::args_of(args[0])[0], Op::var) && ir::is_int(ir::args_of(args[0])[1], &k) &&
           k > 0 && ir::is_int(args[1], &c)) {
    const ir::Id of = ir::args_of(args[0])[0].node()->id;
    if (op == Op::eq) has_remainder(*this, of, k, c);
    if (op == Op::ne && k == 2 && (c == 0 || c == 1)) has_remainder(*this, of, k, 1 - c);
  }
}

Facts::Part Facts::about(std::vector<ir::Id> ids) const {
  const auto wanted = [&](ir::Id id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
  std::vector<ir::Id> mentioned;  // by all conditions, one after another
  std::vector<std::size_t> ends;
  for (const Expr& c : conditions_) {
    std::vector<ir::Id> of;
    add_variables(c, of);
    mentioned.insert(mentioned.end(), of.begin(), of.end());
    ends.push_back(mentioned.size());
  }
  const auto of_condition = [&](std::size_t k) {
    return std::span(mentioned).subspan(k ? ends[k - 1] : 0, ends[k] - (k ? ends[k - 1] : 0));
  };
  const auto bears = [&](std::span<const ir::Id> of) { return of.empty() || std::any_of(of.begin(), of.end(), wanted); };
  Part part;
  part.vars.reserve(vars_.size());
  for (std::size_t next = 0; next < ids.size();) {
    for (; next < ids.size(); ++next) {
      const VarFacts* v = this->of(ids[next]);
      if (!v) continue;
      part.vars.push_back(v);
      if (!v->lo.empty()) add_variables(v->lo, ids);
      if (!v->hi.empty()) add_variables(v->hi, ids);
    }
    for (std::size_t k = 0; k < ends.size(); ++k)
      if (bears(of_condition(k)))
        for (ir::Id id : of_condition(k))
          if (!wanted(id)) ids.push_back(id);
  }
  std::sort(part.vars.begin(), part.vars.end());  // in the order they were bound
  for (std::size_t k = 0; k < conditions_.size(); ++k)
    if (bears(of_condition(k))) part.conditions.push_back(&conditions_[k]);
  return part;
}

Facts::Facts(const Part& part) {
  vars_.reserve(part.vars.size());
  for (const VarFacts* v : part.vars) vars_.push_back(*v);
  for (const Expr* c : part.conditions) conditions_.push_back(*c);
}

namespace {
Expr lifted(const Expr& e) { return ir::is(e, Op::int_const) ? ir::index(e.node()->i) : ir::cast(ir::index_type, e); }

void assume_lifted(Facts& facts, const Expr& condition, bool holds) {
  const auto args = ir::args_of(condition);
  if (ir::is(condition, Op::logic_not)) return assume_lifted(facts, args[0], !holds);
  if (ir::is(condition, holds ? Op::logic_and : Op::logic_or)) {
    assume_lifted(facts, args[0], holds);
    assume_lifted(facts, args[1], holds);
    return;
  }
  if (!ir::is_comparison(ir::op_of(condition))) return;
  const Type t = args[0].type();
  if (!t.is_data_integer() || t.lanes != 1 || (t.is_unsigned() && t.bits == 64)) return;  // an index keeps the bits of a u64
  const Expr both[] = {lifted(args[0]), lifted(args[1])};
  const Expr above = ir::make(ir::op_of(condition), bool_, both);
  facts.assume(holds ? above : opposite(above));
}
}  // namespace

void assume_of_data(Facts& facts, const Expr& condition) {
  facts.assume(condition);
  assume_lifted(facts, condition, true);
}

Facts facts_of_arguments(const ir::Program& program) {
  Facts f;
  for (const auto& [id, s] : program.symbols) {
    f.bound(id, std::max<std::int64_t>(s.min, 0), s.max == INT64_MAX ? std::nullopt : std::optional(s.max));
    f.multiple(id, s.multiple_of);
  }
  f.bound(ir::vscale_id, 1, ir::max_vscale);
  for (const Expr& condition : program.assumptions) f.assume(condition);
  return f;
}

}  // namespace ashlar::analysis
