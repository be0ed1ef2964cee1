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
// If one arm of a stored choice reads nothing, select(j <= t, .., 0) in a triangle below a diagonal for example, the vectors
// that lie wholly on that side get a version too, which computes nothing.
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

namespace ashlar::lowering {

using analysis::VarRange;

bool is_tile(const KFor& loop) { return loop.kind == ir::LoopKind::vectorized || loop.kind == ir::LoopKind::unrolled; }

KFor* tile_of(KStmt& s) {
  auto* const loop = s.as<KFor>();
  return loop && is_tile(*loop) ? loop : nullptr;
}

bool has_collective(const KStmt& s) {
  if (s.is<ir::KSync>() || s.is<ir::KCall>()) return true;
  for (const auto* inside : s.bodies())
    if (std::any_of(inside->begin(), inside->end(), has_collective)) return true;
  return false;
}

VarRange range_of(const KFor& loop) {
  return {loop.var, {loop.begin, ir::sub(ir::add(loop.begin, loop.extent), ir::index(1))}};
}

TileContext TileContext::inside(const KFor& loop) const {
  TileContext inner = *this;
  runs(inner.facts, loop);
  if (loop.kind == ir::LoopKind::vectorized) inner.lanes.insert(inner.lanes.begin(), range_of(loop));
  return inner;
}

namespace {

// The tile under its test, and what `otherwise` makes of it where the test does not hold.
struct Assumed {
  Interior interior;
  Expr test;  // false: there is nothing to assume, or it never holds
  Assumed(const KStmt& s, const TileContext& at, Arms arms, UniformLoads* loads)
      : interior(s.get<KFor>(), at, arms, loads),
        test(interior.anything() ? analysis::simplify(interior.test(), at.facts) : ir::boolean(false)) {}
  bool helps(const KStmt& s) const { return !ir::is_int(test, std::int64_t{0}) && (ir::is_int(test, 1) || !has_collective(s)); }
};

class Tiles {
 public:
  Tiles(ir::Kernel& kernel, const LowerOptions& options) : kernel_(kernel), outside_{kernel_.buffers, options.masked_bits} {}

  void visit(std::vector<KStmt>& list, const TileContext& at) {
    for (KStmt& s : list) {
      if (tile_of(s)) {
        tile(s, at, 0);
      } else if (auto* loop = s.as<KFor>()) {
        around_.push_back({loop, s.where, {}, at.facts});
        visit(loop->body, at.inside(*loop));
        s = under_lets(std::move(s));
      } else if (auto* branch = s.as<KIf>()) {
        around_.push_back({nullptr, {}, branch->condition, at.facts});
        visit(branch->body, at);
        around_.back().condition = ir::logic_not(branch->condition);
        visit(branch->otherwise, at);
        around_.pop_back();
      } else {
        const bool before = alone_;
        alone_ = alone_ || s.is<ir::KLaunch>();
        around_.push_back({nullptr, {}, {}, at.facts});
        for (auto* inside : s.bodies()) visit(*inside, at);
        around_.pop_back();
        alone_ = before;
      }
    }
  }

 private:
  // The loop that `around_` ends with, and the lets that were found for it.
  KStmt under_lets(KStmt loop) {
    std::vector<KLet> lets = std::move(around_.back().lets);
    around_.pop_back();
    while (!lets.empty()) {
      KLet let = std::move(lets.back());
      lets.pop_back();
      const Where where = loop.where;
      let.body.push_back(std::move(loop));
      loop = {where, std::move(let)};
    }
    return loop;
  }

  // Looks for tiles below the serial loops of a tile.
  void below(KFor& tile, const TileContext& at) {
    const bool before = alone_;
    alone_ = true;
    const TileContext inner = at.inside(tile);
    const auto descend = [&](const auto& self, std::vector<KStmt>& list) -> void {
      for (KStmt& s : list) {
        if (auto* inside = tile_of(s))
          below(*inside, inner);
        else if (auto* loop = s.as<KFor>())
          visit(loop->body, inner.inside(*loop));
        else
          for (auto* part : s.bodies()) self(self, *part);
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
      if (known) part.get<KFor>().body = Replacing(*known)(part.get<KFor>().body);
      TileContext there = at;
      there.facts.assume(analysis::simplify(condition, at.facts));
      around_.push_back({nullptr, {}, condition, at.facts});
      tile(part, there, known ? depth + 1 : most);
      around_.pop_back();
      std::vector<KStmt> list;
      list.push_back(std::move(part));
      return list;
    };
    const Where where = s.where;
    KIf decided{choice->condition, branch(s, choice->condition, &choice->holds)};
    decided.otherwise = branch(s, ir::logic_not(choice->condition), choice->fails ? &*choice->fails : nullptr);
    s = {where, std::move(decided)};
  }

  void inside_and_outside(KStmt& s, const TileContext& at) {
    UniformLoads loads(around_, kernel_);
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
      below(rest.get<KFor>(), at);
      outside_.in_turn(rest, moved || is_tail(rest.get<KFor>(), at, any.interior.slacks()), at.facts, !moved);
      if (moved && rest.get<KFor>().kind == ir::LoopKind::serial)
        rest = chosen(moved->fits, std::move(moved->body), std::move(rest));
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
    KFor& loop = s.get<KFor>();
    if (!any.helps(s)) return below(loop, at);
    if (!alone_ && at.lanes.empty())
      moved = moved_inside(s, any.interior.slacks(), any.interior.body(loop.body), is_tail(loop, at, any.interior.slacks()),
                           at.facts, {around_, kernel_});
    if (alone_ || !any.interior.has_idle_arm(loops_around())) return under_test(s, at, any, loads, outside);
    const Assumed idle(s, at, Arms::idle, nullptr);
    if (!idle.helps(s)) return under_test(s, at, any, loads, outside);
    under_test(s, at, any, loads, [&](KStmt& rest) { under_test(rest, at, idle, loads, outside); });
  }

  // Is what is required of the tile that its lanes are there, and nothing of what they read?
  static bool is_tail(const KFor& tile, const TileContext& at, const std::vector<Expr>& slacks) {
    const auto* only = tile.body.size() == 1 ? tile.body.front().as<KIf>() : nullptr;
    if (!only || !only->otherwise.empty()) return false;
    KFor guard = tile;
    guard.body.front().get<KIf>().body.clear();
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
    KFor& tile = full.get<KFor>();
    tile.body = assumed.interior.body(tile.body);
    below(tile, at);
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
    const Where where = otherwise.where;
    KIf s{condition, std::move(body)};
    s.otherwise.push_back(std::move(otherwise));
    return {where, std::move(s)};
  }

  ir::Kernel& kernel_;
  const Outside outside_;
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

void specialize_interior(ir::Kernel& kernel, const LowerOptions& options) {
  const Facts facts = facts_of(kernel);
  Tiles(kernel, options).visit(kernel.body, TileContext{facts});
  skip_empty(kernel.body, facts);
}

}  // namespace ashlar::lowering
