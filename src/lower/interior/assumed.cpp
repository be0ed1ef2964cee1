// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is assumed of one tile, condition by condition.
//
// The conditions that differ between the points of a tile are gathered: guards, masks, and the min, max, mod and select through
// which a boundary condition computes its index. Each gives a scalar inequality that decides it for all points at once; those
// that follow from others are dropped. A load that is the same for all points takes part as the variable of a `let` outside.
//
// Invariant: under the test, every replaced expression equals the one it replaces at every point of the tile.
#include "lower/interior/interior.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>

#include "lower/passes.h"

namespace ashlar::lowering {

namespace {

bool uses_any(const Expr& e, const std::vector<Id>& vars) {
  return std::any_of(vars.begin(), vars.end(), [&](Id v) { return ir::uses_var(e, v); });
}

Expr at_most(const Expr& a, const Expr& b) { return ir::sub(b, a); }                       // a <= b, as a value >= 0
Expr below(const Expr& a, const Expr& b) { return ir::sub(ir::sub(b, a), ir::index(1)); }  // a < b

void terms_of_mask(const Expr& mask, std::vector<Expr>& terms) {
  if (!ir::is(mask, Op::logic_and)) return terms.push_back(mask);
  for (const Expr& a : ir::args_of(mask)) terms_of_mask(a, terms);
}

}  // namespace

Interior::Interior(const KFor& tile, const TileContext& at, Arms arms, UniformLoads* loads)
    : facts_(at.facts), arms_(arms), loads_(loads), ranges_(at.lanes) {
  loop(tile, true);
}

bool Interior::used(const Expr& variable) const {
  return std::any_of(slacks_.begin(), slacks_.end(),
                     [&](const Expr& slack) { return ir::uses_var(slack, variable.node()->id); });
}

Expr Interior::test() const {
  Expr all = ir::boolean(true);
  for (const Uniform& u : uniform_)
    if (used(u.variable)) all = ir::logic_and(all, u.known);
  for (const Expr& slack : slacks_) all = ir::logic_and(all, ir::ge(slack, ir::index(0)));
  return all;
}

std::vector<KStmt> Interior::body(const std::vector<KStmt>& list) const {
  Replacements all = replaced_;
  for (const auto& [e, variable] : values_)
    if (used(variable)) all.emplace(e, variable);
  return Replacing(all)(list);
}

// Differs between points of the tile, and can be decided for all of them.
bool Interior::moves(const Expr& e) const {
  return uses_any(e, points_) && !uses_any(e, other_points_) && !has_load(values_.empty() ? e : replaced(e));
}

bool Interior::reads(const Expr& e) {
  if (const auto it = reads_.find(e.node()); it != reads_.end()) return it->second;
  const auto args = ir::args_of(e);
  bool any = ir::is(e, Op::load);
  for (const Expr& a : args) any = reads(a) || any;
  return reads_[e.node()] = any;
}

void Interior::loop(const KFor& s, bool direct) {
  auto& points = direct ? points_ : other_points_;
  if (is_tile(s)) points.push_back(s.var);
  const bool vector = s.kind == ir::LoopKind::vectorized;
  if (vector) vectors_.push_back(s.var);
  inner_.push_back(s.var);
  const int outside = scope_;
  scope_ = ++scopes_;
  ranges_.insert(ranges_.begin(), range_of(s));
  gather(s.body, direct && is_tile(s));
  ranges_.erase(ranges_.begin());
  scope_ = outside;
  if (vector) vectors_.pop_back();
}

void Interior::gather(const std::vector<KStmt>& list, bool direct) {
  for (const KStmt& s : list) {
    if (const auto* inside = s.as<KFor>()) {
      loop(*inside, direct && is_tile(*inside));
      continue;
    }
    Seen seen;
    if (const auto* store = s.as<ir::KStore>()) stored(store->value);
    if (arms_ != Arms::idle) for_each_expr(s, [&](const Expr& e) { bottom_up(e, seen); });
    if (const auto* let = s.as<ir::KLet>()) inner_.push_back(let->var);
    if (const auto* branch = s.as<ir::KIf>()) {
      if (arms_ != Arms::idle) condition(branch->condition, true);
      branches_.push_back(branch->condition);
      gather(branch->body, direct);
      branches_.back() = ir::logic_not(branch->condition);
      gather(branch->otherwise, direct);
      branches_.pop_back();
      continue;
    }
    for (const auto* inside : s.bodies()) gather(*inside, direct);
  }
}

// The condition of a choice is decided before what stands in its arms, which may read under it.
void Interior::bottom_up(const Expr& e, Seen& seen) {
  if (!seen.insert(e.node()).second) return;
  if (ir::is(e, Op::select)) {
    bottom_up(ir::args_of(e)[0], seen);
    choice(e);
  }
  const std::vector<Expr> terms = terms_of(e);
  for (const Expr& a : terms.empty() ? ir::args_of(e) : std::span<const Expr>(terms)) bottom_up(a, seen);
  if (ir::is(e, Op::cast) && e.type().is_index()) uniform(e);
  terms.empty() ? expression(e) : steepest(e, terms);
}

// An index from data that all points share, once the conditions are decided under which they read it. i64 and u64 are left
// alone: the differences that a test is made of might not fit an index.
void Interior::uniform(const Expr& e) {
  const Type from = ir::args_of(e)[0].type();
  if (!loads_ || !from.is_data_integer() || from.bits > 32 || from.lanes > 1 || !reads(e) || values_.count(e)) return;
  const Expr value = analysis::simplify(Replacing(replaced_)(e), facts_);
  bool never = false;
  ir::walk(value, [&](const Expr& x) {
    never = never || (ir::is(x, Op::load) && ir::args_of(x).size() > 1 && ir::is_int(ir::args_of(x)[1], std::int64_t{0}));
    return true;
  });
  if (never || uses_any(value, inner_)) return;
  for (const Uniform& u : uniform_)
    if (ir::same(u.value, value)) {
      values_.emplace(e, u.variable);
      return;
    }
  // At the first point of the loops in the tile the program reads it under these conditions.
  std::vector<Expr> masks, terms = branches_;
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, Op::load) && ir::args_of(x).size() > 1) terms_of_mask(ir::args_of(x)[1], masks);
    return true;
  });
  for (const Expr& mask : masks)
    if (uses_any(mask, inner_)) terms.push_back(mask);  // the others are in the value
  Expr happens = ir::boolean(true);
  for (const Expr& term : terms) happens = ir::logic_and(happens, term);
  for (const analysis::VarRange& r : ranges_)
    happens = ir::logic_and(ir::le(r.range.lo, r.range.hi), ir::substitute(happens, {{r.id, r.range.lo}}));
  if (has_load(happens) || uses_any(happens, inner_)) return;
  const UniformLoads::Found found = loads_->variable_of(value, happens);
  if (found.variable.empty()) return;
  values_.emplace(e, found.variable);
  uniform_.push_back({value, found.variable, found.known});
}

// Of min(min(W - 1, m - r % m), r % m), which reflects an index, W - 1, m - r % m and r % m. Empty where less than two of
// them move with the point.
std::vector<Expr> Interior::terms_of(const Expr& e) const {
  std::vector<Expr> terms;
  if ((!ir::is(e, Op::min) && !ir::is(e, Op::max)) || !e.type().is_index() || !moves(e)) return terms;
  const auto add = [&](const auto& self, const Expr& x) -> void {
    for (const Expr& a : ir::args_of(x)) ir::op_of(a) == ir::op_of(e) ? self(self, a) : terms.push_back(a);
  };
  add(add, e);
  if (std::count_if(terms.begin(), terms.end(), [&](const Expr& x) { return uses_any(x, points_); }) < 2) terms.clear();
  return terms;
}

// How much it grows from point to point.
std::optional<std::int64_t> Interior::slope(const Expr& e) const {
  std::int64_t sum = 0;
  for (const Id v : points_) {
    if (!ir::uses_var(e, v)) continue;
    const Expr next = ir::substitute(e, {{v, ir::add(ir::var(v, "point"), ir::index(1))}});
    std::int64_t by = 0;
    if (!ir::is_int(analysis::simplify(ir::sub(next, e), facts_), &by)) return std::nullopt;
    sum += by;
  }
  return sum;
}

// Inside, an index grows with the point; what it is bent to outside does not.
void Interior::steepest(const Expr& e, const std::vector<Expr>& terms) {
  const Expr* best = nullptr;
  std::int64_t most = 0;
  for (const Expr& x : terms) {
    const auto s = slope(replaced(x));
    if (!s) return;
    if (*s > most) best = &x, most = *s;
  }
  if (!best) return;
  std::vector<Expr> nonnegative;
  for (const Expr& x : terms)
    if (x.node() != best->node()) nonnegative.push_back(ir::is(e, Op::min) ? at_most(*best, x) : at_most(x, *best));
  assume(e, *best, nonnegative);
}

// Assumes a condition to have one value in all lanes.
void Interior::condition(const Expr& c, bool value) {
  if (ir::is(c, Op::logic_not)) return condition(ir::args_of(c)[0], !value);
  if (value && ir::is(c, Op::logic_and))
    for (const Expr& a : ir::args_of(c)) condition(a, true);
  if (!value && ir::is(c, Op::logic_or))
    for (const Expr& a : ir::args_of(c)) condition(a, false);
  if (!ir::is_comparison(ir::op_of(c)) || !moves(c) || !ir::args_of(c)[0].type().is_index()) return;
  const Expr &a = ir::args_of(c)[0], &b = ir::args_of(c)[1];
  switch (ir::op_of(c)) {
    case Op::lt:
      value ? assume(c, ir::boolean(true), {below(a, b)}) : assume(c, ir::boolean(false), {at_most(b, a)});
      break;
    case Op::le:
      value ? assume(c, ir::boolean(true), {at_most(a, b)}) : assume(c, ir::boolean(false), {below(b, a)});
      break;
    case Op::gt:
      value ? assume(c, ir::boolean(true), {below(b, a)}) : assume(c, ir::boolean(false), {at_most(a, b)});
      break;
    case Op::ge:
      value ? assume(c, ir::boolean(true), {at_most(b, a)}) : assume(c, ir::boolean(false), {below(a, b)});
      break;
    case Op::eq: {  // x == 0, x == W - 1: only of points at a border
      if (value) break;
      const bool above =
          analysis::can_prove(ir::ge(analysis::bounds_over(replaced(ir::sub(a, b)), ranges_, facts_).lo, ir::index(0)), facts_);
      assume(c, ir::boolean(false), {above ? below(b, a) : below(a, b)});
      break;
    }
    default:
      break;
  }
}

void Interior::expression(const Expr& e) {
  const auto args = ir::args_of(e);
  if (args.size() != 2 || !e.type().is_index() || !moves(e)) return;
  const bool left = uses_any(args[0], points_), right = uses_any(args[1], points_);
  if (left == right) return;
  const Expr &a = left ? args[0] : args[1], &b = left ? args[1] : args[0];  // a moves with the point
  // A row that is clamped costs its vectors nothing: they need not be inside.
  const bool one_of_all_lanes = !vectors_.empty() && !uses_any(e, vectors_);
  switch (ir::op_of(e)) {
    case Op::min:
      if (!one_of_all_lanes) assume(e, a, {at_most(a, b)});
      break;
    case Op::max:
      if (!one_of_all_lanes) assume(e, a, {at_most(b, a)});
      break;
    case Op::mod:
      if (left) assume(e, a, {a, below(a, b)});
      break;
    case Op::div:
      if (left) assume(e, ir::index(0), {a, below(a, b)});
      break;
    default:
      break;
  }
}

// The arm that is likely inside: of data the one that reads, of an index the shorter one.
void Interior::choice(const Expr& e) {
  const auto args = ir::args_of(e);
  const bool yes = reads(args[1]), no = reads(args[2]);
  if (yes != no)
    condition(args[0], yes);
  else if (yes && moves(args[0]))
    equal_arms(args[0]);
  else if (e.type().is_index() && moves(e))
    condition(args[0], ir::node_count(args[1]) <= ir::node_count(args[2]));
}

// What is stored, below choices that all points share.
void Interior::stored(const Expr& e) {
  if (!ir::is(e, Op::select)) return;
  const auto args = ir::args_of(e);
  if (!uses_any(args[0], points_)) return stored(args[1]), stored(args[2]);
  const bool yes = reads(args[1]), no = reads(args[2]);
  if (yes == no || !moves(args[0])) return;
  idle_.push_back(args[0]);
  if (arms_ == Arms::idle) condition(args[0], no);
}

bool Interior::has_idle_arm(const std::vector<Id>& around) const {
  return std::any_of(idle_.begin(), idle_.end(), [&](const Expr& c) {
    return std::count_if(around.begin(), around.end(), [&](Id v) { return ir::uses_var(c, v); }) >= 2;
  });
}

void Interior::equal_arms(const Expr& c) {
  equal_arms_ = true;
  if (arms_ != Arms::any) condition(c, arms_ == Arms::first);
}

// The same expression may stand in several loops, with other ranges: it is assumed in all of them or nothing is.
void Interior::assume(const Expr& e, const Expr& equals, const std::vector<Expr>& nonnegative) {
  const auto [known, fresh] = assumed_in_.emplace(e, scope_);
  if (!fresh && known->second == scope_) return;
  known->second = scope_;
  std::vector<Expr> slacks;
  for (const Expr& n : nonnegative) {
    const Expr slack = analysis::bounds_over(replaced(n), ranges_, facts_).lo;
    std::int64_t value = 0;
    const bool constant = !slack.empty() && ir::is_int(slack, &value);
    // Never so, as of (x + t) % 2 in a vector of 16: nothing is assumed of it, but of what else there is.
    const auto never = [&] { return constant ? value < 0 : analysis::can_prove(ir::lt(slack, ir::index(0)), facts_); };
    if (slack.empty() || has_load(slack) || never()) {
      failed_ |= replaced_.count(e) != 0;
      refused_.insert(e);
      return;
    }
    if (!constant) slacks.push_back(slack);
  }
  if (refused_.count(e)) return;
  replaced_.emplace(e, equals);
  for (const Expr& s : slacks) require(s);
}

void Interior::require(const Expr& slack) {
  if (analysis::can_prove(ir::ge(slack, ir::index(0)), facts_)) return;
  for (Expr& kept : slacks_) {
    std::int64_t more = 0;
    if (!ir::is_int(analysis::simplify(ir::sub(slack, kept), facts_), &more)) continue;
    if (more < 0) kept = slack;
    return;
  }
  slacks_.push_back(slack);
}

Expr Interior::replaced(const Expr& e) const {
  if (replaced_.empty() && values_.empty()) return e;
  if (values_.empty()) return Replacing(replaced_)(e);
  Replacements all = replaced_;
  all.insert(values_.begin(), values_.end());
  return Replacing(all)(e);
}

}  // namespace ashlar::lowering
