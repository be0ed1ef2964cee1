// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors and unrolled tiles that lie wholly inside run without masks, guards and clamps.
//
//   for x in [0, +16) vectorized                      if xo * 16 - 1 >= 0 && xo * 16 + 15 < W
//     if xo * 16 + x < W                                for x in [0, +16) vectorized
//       out[...] = in[max(xo * 16 + x - 1, 0)]   ->       out[...] = in[xo * 16 + x - 1]
//                                                     else
//                                                       the loop as it was
//
// A tile is an unrolled or vectorized loop with those that stand directly in it. interior/assumed.cpp says what is assumed of
// it, and under which test. The guards pass then moves the test outwards and takes the loop around the tile apart.
//
// A choice whose arms both read has no likely side: the points of a tile all take the first arm, all the second, or some each.
//
//   for d in [0, +8) vectorized                                 if (do * 8 + 7 < 64)  in[do * 8 + d + 64]
//     out[...] = select(do * 8 + d < 64, in[... + 64],    ->    else if (do * 8 >= 64)  in[do * 8 + d - 64]
//                                        in[... - 64])          else  the loop as it was
//
// Of a choice that is stored, of which one arm reads nothing, as of a triangle below a diagonal, the vectors that lie on that
// side get a version too, which computes nothing: select(j <= t, .., 0).
//
// A condition that all points share is decided around the tile (uniform_choices.h); a load that they share may be a part of the
// test (uniform_loads.h). What runs outside: outside.h, border.h.
#include "lower/interior/interior.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>

#include "lower/interior/border.h"
#include "lower/interior/outside.h"
#include "lower/passes.h"
#include "lower/interior/uniform_choices.h"

namespace ashlar::lower_impl {

using analysis::Facts;
using analysis::VarRange;
using ir::Id;
using ir::KStmt;

bool is_tile(const KStmt& s) {
  return s.kind == KStmt::Kind::for_ && (s.loop_kind == ir::LoopKind::vectorized || s.loop_kind == ir::LoopKind::unrolled);
}

bool has_collective(const KStmt& s) {
  const auto any = [](const std::vector<KStmt>& list) { return std::any_of(list.begin(), list.end(), has_collective); };
  return s.kind == KStmt::Kind::sync || s.kind == KStmt::Kind::call || any(s.body) || any(s.otherwise);
}

VarRange range_of(const KStmt& loop) {
  return {loop.var, {loop.begin, ir::sub(ir::add(loop.begin, loop.extent), ir::index(1))}};
}

TileContext TileContext::inside(const KStmt& loop) const {
  TileContext inner = *this;
  runs(inner.facts, loop);
  if (loop.loop_kind == ir::LoopKind::vectorized) inner.lanes.insert(inner.lanes.begin(), range_of(loop));
  return inner;
}

namespace {

// The tile under its test, and what `otherwise` makes of it where the test does not hold.
struct Assumed {
  Interior interior;
  Expr test;  // false: there is nothing to assume, or it never holds
  Assumed(const KStmt& s, const TileContext& at, Arms arms, UniformLoads* loads)
      : interior(s, at, arms, loads),
        test(interior.anything() ? analysis::simplify(interior.test(), at.facts) : ir::boolean(false)) {}
  bool helps(const KStmt& s) const { return !ir::is_int(test, std::int64_t{0}) && (ir::is_int(test, 1) || !has_collective(s)); }
};

class Tiles {
 public:
  Tiles(const Draft& draft, const LowerOptions& options, Id& next)
      : kernel_(draft.kernel), recurrent_(draft.recurrent), outside_{kernel_.buffers, options.masked_bits}, next_(next) {}

  void visit(std::vector<KStmt>& list, const TileContext& at) {
    for (KStmt& s : list) {
      if (is_tile(s)) {
        tile(s, at, 0);
      } else if (s.kind == KStmt::Kind::for_) {
        around_.push_back({&s, {}, at.facts});
        visit(s.body, at.inside(s));
        s = under_lets(std::move(s));
      } else {
        const bool launch = s.kind == KStmt::Kind::launch, decides = s.kind == KStmt::Kind::if_, before = alone_;
        alone_ = alone_ || launch;
        around_.push_back({nullptr, decides ? s.value : Expr(), at.facts});
        visit(s.body, at);
        if (decides) around_.back().condition = ir::logic_not(s.value);
        visit(s.otherwise, at);
        around_.pop_back();
        alone_ = before;
      }
    }
  }

 private:
  // The loop that `around_` ends with, and the lets that were found for it.
  KStmt under_lets(KStmt loop) {
    std::vector<KStmt> lets = std::move(around_.back().lets);
    around_.pop_back();
    while (!lets.empty()) {
      KStmt let = std::move(lets.back());
      lets.pop_back();
      let.body.push_back(std::move(loop));
      loop = std::move(let);
    }
    return loop;
  }

  // Looks for tiles below the serial loops of a tile.
  void below(KStmt& tile, const TileContext& at) {
    const bool before = alone_;
    alone_ = true;
    const TileContext inner = at.inside(tile);
    const auto descend = [&](const auto& self, std::vector<KStmt>& list) -> void {
      for (KStmt& s : list) {
        if (is_tile(s))
          below(s, inner);
        else if (s.kind == KStmt::Kind::for_)
          visit(s.body, inner.inside(s));
        else
          self(self, s.body), self(self, s.otherwise);
      }
    };
    descend(descend, tile.body);
    alone_ = before;
  }

  // With conditions that all points share decided around it, `depth` of them so far.
  void tile(KStmt& s, const TileContext& at, int depth) {
    constexpr int most = 3;
    const auto choice = alone_ || depth == most ? std::nullopt : uniform_choice(s, at.facts);
    if (!choice) return inside_and_outside(s, at);
    const auto branch = [&](KStmt part, const Expr& condition, const Replacements* known) {
      if (known) part.body = Replacing(*known)(part.body);
      TileContext there = at;
      there.facts.assume(analysis::simplify(condition, at.facts));
      around_.push_back({nullptr, condition, at.facts});
      tile(part, there, known ? depth + 1 : most);
      around_.pop_back();
      std::vector<KStmt> list;
      list.push_back(std::move(part));
      return list;
    };
    const Where where = s.where;
    KStmt decided = if_stmt(choice->condition, branch(s, choice->condition, &choice->holds), where);
    decided.otherwise = branch(s, ir::logic_not(choice->condition), choice->fails ? &*choice->fails : nullptr);
    s = std::move(decided);
  }

  void inside_and_outside(KStmt& s, const TileContext& at) {
    UniformLoads loads(around_, next_);
    const auto assumed = [&](Arms arms) {
      if (!alone_) {
        Assumed with(s, at, arms, &loads);
        if (loads.used(with.test) || with.interior.has_equal_arms()) return with;
      }
      return Assumed(s, at, arms, nullptr);
    };
    Assumed any = assumed(Arms::any);
    std::optional<Moved> moved;
    const auto outside = [&](KStmt& rest) {
      below(rest, at);
      outside_.in_turn(rest, moved || is_tail(rest, at, any.interior.slacks()), at.facts, !moved);
      if (moved && rest.loop_kind == ir::LoopKind::serial) rest = chosen(moved->fits, std::move(moved->body), std::move(rest));
    };
    if (any.interior.has_equal_arms()) {
      Assumed first = assumed(Arms::first), second = assumed(Arms::second);
      const bool either = first.helps(s), other = second.helps(s);
      if (either && other) {
        loads.keep(second.test);
        return under_test(s, at, first, loads, [&](KStmt& rest) { under_test(rest, at, second, loads, outside); });
      }
      if (either || other) return under_test(s, at, either ? first : second, loads, outside);
    }
    if (!any.helps(s)) return below(s, at);
    if (!alone_ && at.lanes.empty()) {
      KStmt full = s;
      full.body = any.interior.body(s.body);
      moved = moved_inside(s, any.interior.slacks(), full, is_tail(s, at, any.interior.slacks()), at.facts,
                           {around_, kernel_, recurrent_, next_});
    }
    if (alone_ || !any.interior.has_idle_arm(loops_around())) return under_test(s, at, any, loads, outside);
    const Assumed idle(s, at, Arms::idle, nullptr);
    if (!idle.helps(s)) return under_test(s, at, any, loads, outside);
    under_test(s, at, any, loads, [&](KStmt& rest) { under_test(rest, at, idle, loads, outside); });
  }

  // Is what is required of the tile that its lanes are there, and nothing of what they read?
  static bool is_tail(const KStmt& tile, const TileContext& at, const std::vector<Expr>& slacks) {
    if (tile.body.size() != 1 || tile.body.front().kind != KStmt::Kind::if_ || !tile.body.front().otherwise.empty())
      return false;
    KStmt guard = tile;
    guard.body.front().body.clear();
    const std::vector<Expr> own = Interior(guard, at, Arms::any, nullptr).slacks();
    return own.size() == slacks.size() && std::equal(own.begin(), own.end(), slacks.begin(), ir::same);
  }

  std::vector<Id> loops_around() const {
    std::vector<Id> all;
    for (const Around& a : around_)
      if (a.loop) all.push_back(a.loop->var);
    return all;
  }

  template <class F>
  void under_test(KStmt& s, const TileContext& at, const Assumed& assumed, UniformLoads& loads, F otherwise) {
    loads.keep(assumed.test);
    KStmt full = s;
    full.body = assumed.interior.body(s.body);
    below(full, at);
    if (ir::is_int(assumed.test, 1)) {
      s = std::move(full);
      return;
    }
    otherwise(s);
    std::vector<KStmt> in;
    in.push_back(std::move(full));
    s = chosen(assumed.test, std::move(in), std::move(s));
  }
  static KStmt chosen(const Expr& condition, std::vector<KStmt> body, KStmt otherwise) {
    KStmt s = if_stmt(condition, std::move(body), otherwise.where);
    s.otherwise.push_back(std::move(otherwise));
    return s;
  }

  const ir::Kernel& kernel_;
  const std::set<Id>& recurrent_;
  const Outside outside_;
  Id& next_;
  std::vector<Around> around_;
  bool alone_ = false;  // in a launch, or below a tile: what stands around is not asked
};

}  // namespace

Facts facts_of(const ir::Kernel& k) {
  ir::Program p;
  p.symbols = k.symbols;
  p.scalars = k.scalars;
  p.assumptions = k.assumptions;
  return analysis::facts_of_arguments(p);
}

void specialise_interior(Draft& draft, const LowerOptions& options) {
  const Facts facts = facts_of(draft.kernel);
  Id next = unused_id(draft.kernel);
  Tiles(draft, options, next).visit(draft.kernel.body, TileContext{facts});
  skip_empty(draft.kernel.body, facts);
}

}  // namespace ashlar::lower_impl
