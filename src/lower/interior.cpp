// Vectors and unrolled tiles that lie wholly inside run without masks, guards and clamps.
//
//   for x in [0, +16) vectorized                      if xo * 16 - 1 >= 0 && xo * 16 + 15 < W
//     if xo * 16 + x < W                                for x in [0, +16) vectorized
//       out[...] = in[max(xo * 16 + x - 1, 0)]   ->       out[...] = in[xo * 16 + x - 1]
//                                                     else
//                                                       the loop as it was
//
// A tile is an unrolled or vectorized loop with those that stand directly in it. The conditions that differ between the points
// of a tile are gathered: guards, masks, and the min, max, mod and select through which a boundary condition computes its
// index. Each gives a scalar inequality that decides it for all points at once; those that follow from others are dropped. The
// guards pass then moves the test outwards and takes the loop around the tile apart.
//
// A choice whose arms both read has no likely side: the points of a tile all take the first arm, all the second, or some each.
//
//   for d in [0, +8) vectorized                                 if (do * 8 + 7 < 64)  in[do * 8 + d + 64]
//     out[...] = select(do * 8 + d < 64, in[... + 64],    ->    else if (do * 8 >= 64)  in[do * 8 + d - 64]
//                                        in[... - 64])          else  the loop as it was
//
// Outside, a vector none of whose lanes is active does not run, and points whose indices a Symbol divides (a reflected or
// wrapped row) run one after the other.
//
// Invariant: under the test, every replaced expression equals the one it replaces at every point of the tile.
#include "lower/passes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::lower_impl {
namespace {

using analysis::Facts;
using analysis::VarRange;
using ir::Id;
using ir::KStmt;
using ir::Op;

using Replacements = std::unordered_map<Expr, Expr, ir::ExprHash, ir::ExprSame>;

using Buffers = std::map<Id, ir::KBuffer>;

bool is_tile(const KStmt& s) {
  return s.kind == KStmt::Kind::for_ && (s.loop_kind == ir::LoopKind::vectorized || s.loop_kind == ir::LoopKind::unrolled);
}

// Threads meet in it: it must not stand under a test that threads decide differently.
bool has_collective(const KStmt& s) {
  const auto any = [](const std::vector<KStmt>& list) { return std::any_of(list.begin(), list.end(), has_collective); };
  return s.kind == KStmt::Kind::sync || s.kind == KStmt::Kind::call || any(s.body) || any(s.otherwise);
}

VarRange range_of(const KStmt& loop) {
  return {loop.var, {loop.begin, ir::sub(ir::add(loop.begin, loop.extent), ir::index(1))}};
}

// Of choices whose arms both read: nothing, or that all points take the first arm, or the second.
enum class Arms { any, first, second };

// Where a tile stands: what is known there, and the lanes of the vectors that it is in. A test that they decide differently
// would be a mask of what is stored, and of no load: what is assumed holds in all of them.
struct Place {
  Facts facts;
  std::vector<VarRange> lanes = {};
  Place inside(const KStmt& loop) const {
    Place inner = *this;
    const VarRange r = range_of(loop);
    inner.facts.range(r.id, r.range.lo, r.range.hi);
    if (loop.loop_kind == ir::LoopKind::vectorized) inner.lanes.insert(inner.lanes.begin(), r);
    return inner;
  }
};

// What is assumed of one tile.
class Interior {
 public:
  Interior(const KStmt& tile, const Place& at, Arms arms) : facts_(at.facts), arms_(arms), ranges_(at.lanes) {
    loop(tile, true);
  }
  bool anything() const { return !replaced_.empty() && !failed_; }
  bool has_equal_arms() const { return equal_arms_; }

  // The test, over the variables around the loop; false where it can never hold.
  Expr test() const {
    Expr all = ir::boolean(true);
    for (const Expr& slack : slacks_) all = ir::logic_and(all, ir::ge(slack, ir::index(0)));
    return all;
  }

  std::vector<KStmt> body(const std::vector<KStmt>& list) {
    std::vector<KStmt> out;
    for (const KStmt& s : list) {
      KStmt copy = s;
      for_each_expr(copy, [&](Expr& e) { e = visit(e); });
      if (!copy.mask.empty() && ir::is_int(copy.mask, 1)) copy.mask = Expr();
      copy.body = body(s.body);
      copy.otherwise = body(s.otherwise);
      std::int64_t known = 0;
      if (s.kind == KStmt::Kind::if_ && ir::is_int(copy.value, &known)) {
        for (KStmt& k : known ? copy.body : copy.otherwise) out.push_back(std::move(k));
        continue;
      }
      out.push_back(std::move(copy));
    }
    return out;
  }

 private:
  static bool uses_any(const Expr& e, const std::vector<Id>& vars) {
    return std::any_of(vars.begin(), vars.end(), [&](Id v) { return ir::uses_var(e, v); });
  }
  // Differs between points of the tile, and can be decided for all of them.
  bool moves(const Expr& e) const { return uses_any(e, points_) && !uses_any(e, other_points_) && !has_load(e); }

  void loop(const KStmt& s, bool direct) {
    auto& points = direct ? points_ : other_points_;
    if (is_tile(s)) points.push_back(s.var);
    const int outside = scope_;
    scope_ = ++scopes_;
    ranges_.insert(ranges_.begin(), range_of(s));
    gather(s.body, direct && is_tile(s));
    ranges_.erase(ranges_.begin());
    scope_ = outside;
  }

  void gather(const std::vector<KStmt>& list, bool direct) {
    for (const KStmt& s : list) {
      if (s.kind == KStmt::Kind::for_) {
        loop(s, direct && is_tile(s));
        continue;
      }
      std::unordered_set<const ir::Node*> seen;
      for_each_expr(s, [&](const Expr& e) { bottom_up(e, seen); });
      if (s.kind == KStmt::Kind::if_) condition(s.value, true);
      gather(s.body, direct);
      gather(s.otherwise, direct);
    }
  }

  void bottom_up(const Expr& e, std::unordered_set<const ir::Node*>& seen) {
    if (!seen.insert(e.node()).second) return;
    bool reads = ir::is(e, Op::load);
    const std::vector<Expr> terms = terms_of(e);
    for (const Expr& a : terms.empty() ? ir::args_of(e) : std::span<const Expr>(terms)) {
      bottom_up(a, seen);
      reads = reads || reads_.count(a.node());
    }
    if (reads) reads_.insert(e.node());
    terms.empty() ? expression(e) : steepest(e, terms);
  }

  // Of min(min(W - 1, m - r % m), r % m), which reflects an index, W - 1, m - r % m and r % m. Empty where less than two of
  // them move with the point.
  std::vector<Expr> terms_of(const Expr& e) const {
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
  std::optional<std::int64_t> slope(const Expr& e) const {
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
  void steepest(const Expr& e, const std::vector<Expr>& terms) {
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
  void condition(const Expr& c, bool value) {
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
        const bool above = analysis::can_prove(
            ir::ge(analysis::bounds_over(replaced(ir::sub(a, b)), ranges_, facts_).lo, ir::index(0)), facts_);
        assume(c, ir::boolean(false), {above ? below(b, a) : below(a, b)});
        break;
      }
      default:
        break;
    }
  }

  static Expr at_most(const Expr& a, const Expr& b) { return ir::sub(b, a); }                       // a <= b, as a value >= 0
  static Expr below(const Expr& a, const Expr& b) { return ir::sub(ir::sub(b, a), ir::index(1)); }  // a < b

  void expression(const Expr& e) {
    const auto args = ir::args_of(e);
    if (ir::is(e, Op::select)) return choice(e);
    if (args.size() != 2 || !e.type().is_index() || !moves(e)) return;
    const bool left = uses_any(args[0], points_), right = uses_any(args[1], points_);
    if (left == right) return;
    const Expr &a = left ? args[0] : args[1], &b = left ? args[1] : args[0];  // a moves with the point
    switch (ir::op_of(e)) {
      case Op::min:
        assume(e, a, {at_most(a, b)});
        break;
      case Op::max:
        assume(e, a, {at_most(b, a)});
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
  void choice(const Expr& e) {
    const auto args = ir::args_of(e);
    const bool yes = reads_.count(args[1].node()), no = reads_.count(args[2].node());
    if (yes != no)
      condition(args[0], yes);
    else if (yes && moves(args[0]))
      equal_arms(args[0]);
    else if (e.type().is_index() && moves(e))
      condition(args[0], ir::node_count(args[1]) <= ir::node_count(args[2]));
  }

  void equal_arms(const Expr& c) {
    equal_arms_ = true;
    if (arms_ != Arms::any) condition(c, arms_ == Arms::first);
  }

  // The same expression may stand in several loops, with other ranges: it is assumed in all of them or nothing is.
  void assume(const Expr& e, const Expr& equals, const std::vector<Expr>& nonnegative) {
    const auto [known, fresh] = assumed_in_.emplace(e, scope_);
    if (!fresh && known->second == scope_) return;
    known->second = scope_;
    std::vector<Expr> slacks;
    for (const Expr& n : nonnegative) {
      const Expr slack = analysis::bounds_over(replaced(n), ranges_, facts_).lo;
      std::int64_t value = 0;
      const bool constant = !slack.empty() && ir::is_int(slack, &value);
      if (slack.empty() || has_load(slack) || (constant && value < 0)) {
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

  void require(const Expr& slack) {
    if (analysis::can_prove(ir::ge(slack, ir::index(0)), facts_)) return;
    for (Expr& kept : slacks_) {
      std::int64_t more = 0;
      if (!ir::is_int(analysis::simplify(ir::sub(slack, kept), facts_), &more)) continue;
      if (more < 0) kept = slack;
      return;
    }
    slacks_.push_back(slack);
  }

  Expr replaced(const Expr& e) const {
    return ir::transform(e, [&](const Expr& x) {
      const auto it = replaced_.find(x);
      return it == replaced_.end() ? x : it->second;
    });
  }

  Expr visit(const Expr& e) {
    if (auto it = done_.find(e.node()); it != done_.end()) return it->second;
    Expr result = e;
    if (const auto it = replaced_.find(e); it != replaced_.end()) {
      result = visit(it->second);
    } else if (const auto args = ir::args_of(e); !args.empty()) {
      std::vector<Expr> fresh;
      for (const Expr& a : args) fresh.push_back(visit(a));
      if (ir::is(e, Op::load) && fresh.size() == 2 && ir::is_int(fresh[1], 1)) fresh.pop_back();
      result = fresh.size() == args.size() ? ir::rebuild(e, fresh)
                                           : ir::load(e.node()->id, e.node()->name, e.type(), fresh, e.node()->where);
    }
    keep_.push_back(e);
    done_.emplace(e.node(), result);
    return result;
  }

  const Facts& facts_;
  const Arms arms_;
  bool equal_arms_ = false;
  std::vector<Id> points_;                     // the variables of the tile
  std::vector<Id> other_points_;               // of tiles below serial loops in it, which are looked at on their own
  std::unordered_set<const ir::Node*> reads_;  // what there is a load in
  std::vector<VarRange> ranges_;               // of all loops from the current statement to the tile, innermost first
  Replacements replaced_;
  std::unordered_map<Expr, int, ir::ExprHash, ir::ExprSame> assumed_in_;  // the loop where an expression was last looked at
  std::unordered_set<Expr, ir::ExprHash, ir::ExprSame> refused_;
  bool failed_ = false;
  int scope_ = 0, scopes_ = 0;  // the loop whose body is looked at, by number
  std::vector<Expr> slacks_;    // each >= 0 is required
  std::unordered_map<const ir::Node*, Expr> done_;
  std::vector<Expr> keep_;  // keeps the keys alive
};

// Lanes are divided by a number that is not known: no target has that in vectors, so each lane would be divided by itself,
// those that are left out as well.
bool divides_lanes(const KStmt& s, Id lane) {
  bool found = false;
  for_each_expr(s, [&](const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      if ((ir::is(e, Op::div) || ir::is(e, Op::mod)) && e.type().is_index())
        found = found || (!ir::is(ir::args_of(e)[1], Op::int_const) && ir::uses_var(ir::args_of(e)[0], lane));
      return !found;
    });
  });
  const auto any = [&](const std::vector<KStmt>& list) {
    return std::any_of(list.begin(), list.end(), [&](const KStmt& x) { return divides_lanes(x, lane); });
  };
  return found || any(s.body) || any(s.otherwise);
}

// Points outside one after the other, where lanes would be no faster. Registers have no address that moves with a loop.
void in_turn(KStmt& s, const Buffers& buffers) {
  if (s.kind == KStmt::Kind::for_ && s.loop_kind == ir::LoopKind::vectorized && divides_lanes(s, s.var)) {
    bool registers = false;
    const auto look = [&](const auto& self, const KStmt& x) -> void {
      const auto in_registers = [&](Id b) {
        const auto at = buffers.find(b);
        return at != buffers.end() && at->second.storage == ir::Storage::registers;
      };
      registers = registers || (x.kind == KStmt::Kind::store && in_registers(x.buffer)) || x.kind == KStmt::Kind::call;
      for_each_expr(x, [&](const Expr& root) {
        ir::walk(root, [&](const Expr& e) {
          return registers = registers || (ir::is(e, Op::load) && in_registers(e.node()->id)), true;
        });
      });
      for (const KStmt& k : x.body) self(self, k);
      for (const KStmt& k : x.otherwise) self(self, k);
    };
    look(look, s);
    if (!registers) s.loop_kind = ir::LoopKind::serial;
  }
  for (KStmt& k : s.body) in_turn(k, buffers);
  for (KStmt& k : s.otherwise) in_turn(k, buffers);
}

void visit(std::vector<KStmt>& list, const Place& at, const Buffers& buffers);
void tile(KStmt& s, const Place& at, const Buffers& buffers);

void visit_body(KStmt& loop, const Place& at, const Buffers& buffers) { visit(loop.body, at.inside(loop), buffers); }

// Looks for tiles below the serial loops of a tile.
void visit_below(KStmt& tile, const Place& at, const Buffers& buffers) {
  const Place inner = at.inside(tile);
  auto descend = [&](auto&& self, std::vector<KStmt>& list) -> void {
    for (KStmt& s : list) {
      if (is_tile(s))
        visit_below(s, inner, buffers);
      else if (s.kind == KStmt::Kind::for_)
        visit_body(s, inner, buffers);
      else
        self(self, s.body), self(self, s.otherwise);
    }
  };
  descend(descend, tile.body);
}

void visit(std::vector<KStmt>& list, const Place& at, const Buffers& buffers) {
  for (KStmt& s : list) {
    if (s.kind == KStmt::Kind::for_ && !is_tile(s)) {
      visit_body(s, at, buffers);
      continue;
    }
    if (!is_tile(s)) {
      visit(s.body, at, buffers);
      visit(s.otherwise, at, buffers);
      continue;
    }
    tile(s, at, buffers);
  }
}

struct Assumed {
  Interior interior;
  Expr test;  // false: there is nothing to assume, or it never holds
  Assumed(const KStmt& s, const Place& at, Arms arms)
      : interior(s, at, arms), test(interior.anything() ? analysis::simplify(interior.test(), at.facts) : ir::boolean(false)) {}
  bool helps(const KStmt& s) const { return !ir::is_int(test, std::int64_t{0}) && (ir::is_int(test, 1) || !has_collective(s)); }
};

// The tile under the test, and the one that `otherwise` makes of it where the test does not hold.
template <class F>
void under_test(KStmt& s, const Place& at, const Buffers& buffers, Assumed& assumed, F otherwise) {
  KStmt full = s;
  full.body = assumed.interior.body(s.body);
  visit_below(full, at, buffers);
  if (ir::is_int(assumed.test, 1)) {
    s = std::move(full);
    return;
  }
  otherwise(s);
  const Where where = s.where;
  std::vector<KStmt> inside, outside;
  inside.push_back(std::move(full));
  outside.push_back(std::move(s));
  s = if_stmt(assumed.test, std::move(inside), where);
  s.otherwise = std::move(outside);
}

void tile(KStmt& s, const Place& at, const Buffers& buffers) {
  const auto below = [&](KStmt& rest) { visit_below(rest, at, buffers); };
  const auto outside = [&](KStmt& rest) { below(rest), in_turn(rest, buffers); };
  Assumed any(s, at, Arms::any);
  if (any.interior.has_equal_arms()) {
    Assumed first(s, at, Arms::first), second(s, at, Arms::second);
    const bool either = first.helps(s), other = second.helps(s);
    if (either && other)
      return under_test(s, at, buffers, first, [&](KStmt& rest) { under_test(rest, at, buffers, second, outside); });
    if (either || other) return under_test(s, at, buffers, either ? first : second, outside);
  }
  if (!any.helps(s)) return below(s);
  under_test(s, at, buffers, any, outside);
}

// A vector none of whose lanes is active is left out, and so are unrolled ones side by side: the condition of the first lane,
// or the last one, is asked before, and the guards pass makes it a bound of the loop around.
//
//   for x in [0, +16) vectorized                 if xo * 16 < W
//     if xo * 16 + x < W  X              ->        for x in [0, +16) vectorized
//                                                    if xo * 16 + x < W  X
void skip_empty(std::vector<KStmt>& list, const Facts& facts) {
  for (KStmt& s : list) {
    if (s.kind != KStmt::Kind::for_) {
      skip_empty(s.body, facts), skip_empty(s.otherwise, facts);
      continue;
    }
    if (!is_tile(s)) {
      Facts inner = facts;
      const VarRange range = range_of(s);
      inner.range(range.id, range.range.lo, range.range.hi);
      skip_empty(s.body, inner);
      continue;
    }
    std::vector<VarRange> ranges;  // innermost first
    const KStmt* at = &s;
    bool lanes = false;
    for (; is_tile(*at) && at->body.size() == 1; at = &at->body.front()) {
      ranges.insert(ranges.begin(), range_of(*at));
      lanes = at->loop_kind == ir::LoopKind::vectorized;
    }
    if (!lanes || at->kind != KStmt::Kind::if_ || !at->otherwise.empty() || has_collective(s)) continue;
    Expr some = ir::boolean(true);
    const auto ask = [&](const auto& self, const Expr& c) -> void {
      const auto args = ir::args_of(c);
      if (ir::is(c, Op::logic_and)) return self(self, args[0]), self(self, args[1]);
      const bool less = ir::is(c, Op::lt), greater = ir::is(c, Op::ge);
      if ((!less && !greater) || !args[0].type().is_index() || has_load(c)) return;
      if (std::none_of(ranges.begin(), ranges.end(), [&](const VarRange& r) { return ir::uses_var(c, r.id); })) return;
      const Expr slack = less ? ir::sub(ir::sub(args[1], args[0]), ir::index(1)) : ir::sub(args[0], args[1]);
      const Expr most = analysis::bounds_over(slack, ranges, facts).hi;
      if (!most.empty() && !has_load(most)) some = ir::logic_and(some, ir::ge(most, ir::index(0)));
    };
    ask(ask, at->value);
    some = analysis::simplify(some, facts);
    if (ir::is_int(some, 1)) continue;
    const Where where = s.where;
    std::vector<KStmt> active;
    active.push_back(std::move(s));
    s = if_stmt(some, std::move(active), where);
  }
}

}  // namespace

Facts facts_of(const ir::Kernel& k) {
  ir::Program p;
  p.symbols = k.symbols;
  p.scalars = k.scalars;
  p.assumptions = k.assumptions;
  return analysis::facts_of_arguments(p);
}

void specialise_interior(Draft& draft) {
  const Facts facts = facts_of(draft.kernel);
  visit(draft.kernel.body, Place{facts}, draft.kernel.buffers);
  skip_empty(draft.kernel.body, facts);
}

}  // namespace ashlar::lower_impl
