// Random expressions under random facts: what simplify, constant bounds, congruences, bounds_over and prove say is held against
// the values of the expression. Deterministic; a failure prints the expression, the facts and the assignment.
#include <ashlar/analysis/interval.h>
#include <ashlar/ir/print.h>
#include <doctest/doctest.h>

#include <ashlar/analysis/evaluate.h>
#include "analysis/simplify/linear.h"
#include "tests/analysis/seeds.h"

using namespace ashlar;
using namespace ashlar::analysis;
using namespace ashlar::ir;

namespace {

constexpr std::uint64_t seeds = seeds_of(6000, 400);

// Two symbols and four loop variables: constant extents, extents in the symbols, multiples.
struct Scene {
  Expr N = var(1, "N"), f = var(2, "f"), io = var(3, "io"), ii = var(4, "ii"), x = var(5, "x"), y = var(6, "y");
  Facts facts;
  std::vector<VarRange> inner;  // y, x, ii: innermost first
  std::string said;

  explicit Scene(Random& r) {
    const std::int64_t multiple = r.coin(2) ? 1 : r.in(2, 8);
    facts.bound(1, 0, r.coin(2) ? std::optional<std::int64_t>(200) : std::nullopt);
    facts.multiple(1, multiple);
    facts.bound(2, 1, r.coin(2) ? std::optional<std::int64_t>(9) : std::nullopt);
    const std::int64_t tile = r.in(1, 9);
    const bool symbolic_tile = r.coin(3);
    const Expr edge = symbolic_tile ? f : index(tile);
    const Expr last = sub(ceil_div(N, edge), index(1));
    facts.range(3, index(0), last);
    const Expr inner_hi = sub(edge, index(1));
    facts.range(4, index(0), inner_hi);
    const std::int64_t lo = r.in(-4, 2), hi = lo + r.in(0, 9);
    facts.bound(5, lo, hi);
    const Expr y_lo = r.coin(2) ? index(-2) : sub(x, index(2)), y_hi = r.coin(2) ? index(7) : add(x, index(r.in(0, 5)));
    facts.range(6, y_lo, y_hi);
    inner = {{6, {y_lo, y_hi}}, {5, {index(lo), index(hi)}}, {4, {index(0), inner_hi}}};
    if (r.coin(3)) facts.assume(lt(add(mul(io, edge), ii), N));
    if (r.coin(4)) facts.assume(ge(N, f));
    if (r.coin(5)) facts.assume(le(x, y));
    said = "N multiple of " + std::to_string(multiple) + ", edge " + text(edge) + ", x in " + std::to_string(lo) + ".." +
           std::to_string(hi) + ", y in " + text(y_lo) + ".." + text(y_hi);
    for (const Expr& c : facts.conditions()) said += ", " + text(c);
  }

  Expr number(Random& r, int depth) {
    if (depth == 0 || r.coin(6)) {
      const Expr leaves[] = {N, f, io, ii, x, y, index(r.in(-9, 9)), index(r.in(1, 16))};
      return leaves[r.in(0, 7)];
    }
    const auto sub_expr = [&] { return number(r, depth - 1); };
    switch (r.in(0, 14)) {
      case 0:
      case 1:
      case 2:
        return add(sub_expr(), sub_expr());
      case 3:
      case 4:
        return sub(sub_expr(), sub_expr());
      case 5:
        return mul(sub_expr(), index(r.in(-8, 8)));
      case 6:
        return mul(sub_expr(), r.coin(2) ? f : sub_expr());
      case 7:
        return div(sub_expr(), index(r.in(-6, 9)));
      case 8:
        return mod(sub_expr(), index(r.in(-6, 9)));
      case 9:
        return r.coin(2) ? div(sub_expr(), f) : mod(sub_expr(), f);
      case 10:
        return min(sub_expr(), sub_expr());
      case 11:
        return max(sub_expr(), sub_expr());
      case 12:
        return binary(r.coin(3) ? Op::bit_and : r.coin(2) ? Op::bit_or : Op::bit_xor, sub_expr(), sub_expr());
      case 13: {  // as a swizzle has it
        const std::int64_t granule = std::int64_t{1} << r.in(0, 3);
        return binary(Op::bit_xor, sub_expr(), mul(mod(sub_expr(), index(std::int64_t{1} << r.in(0, 3))), index(granule)));
      }
      default:
        return select(condition(r, depth - 1), sub_expr(), sub_expr());
    }
  }
  Expr condition(Random& r, int depth) {
    const auto side = [&] { return number(r, depth); };
    switch (r.in(0, 8)) {
      case 0:
        return depth > 0 ? logic_and(condition(r, depth - 1), condition(r, depth - 1)) : lt(side(), side());
      case 1:
        return depth > 0 ? logic_or(condition(r, depth - 1), condition(r, depth - 1)) : le(side(), side());
      case 2:
        return depth > 0 ? logic_not(condition(r, depth - 1)) : gt(side(), side());
      case 3:
        return eq(side(), side());
      case 4:
        return ne(side(), side());
      case 5:
        return le(side(), side());
      case 6:
        return gt(side(), side());
      case 7:
        return ge(side(), side());
      default:
        return lt(side(), side());
    }
  }
  // Comparisons of close neighbors are often true: x + 2 <= max(x, y) + 4.
  Expr likely(Random& r, int depth) {
    const Expr e = number(r, depth);
    const Expr other = r.coin(2) ? max(e, number(r, depth)) : add(e, mod(number(r, depth), index(r.in(1, 5))));
    return le(r.coin(2) ? simplify(e, facts) : e, add(other, index(r.in(-1, 2))));
  }
};

std::vector<Assignment> assignments(const Scene& s, std::span<const Expr> about, int count) {
  std::vector<Expr> all(about.begin(), about.end());
  for (const Expr& v : {s.N, s.f, s.io, s.ii, s.x, s.y}) all.push_back(v);
  Sampler sampler(all, s.facts);
  std::vector<Assignment> out;
  for (std::uint64_t seed = 0; out.size() < static_cast<std::size_t>(count) && seed < 400; ++seed)
    if (sampler.sample(seed)) out.push_back(sampler.assignment());
  return out;
}

}  // namespace

TEST_CASE("simplify keeps the value, bounds hold it, the congruence describes it") {
  int undecided = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random r{seed * 0x9e3779b97f4a7c15ull};
    Scene s(r);
    const Expr e = s.number(r, static_cast<int>(r.in(1, 5)));
    const Expr simple = simplify(e, s.facts);
    const auto lo = constant_min(e, s.facts), hi = constant_max(e, s.facts);
    const Congruence m = congruence(e, s.facts);
    const Interval box = bounds_over(e, s.inner, s.facts);
    const Expr top = upper_bound(e, s.inner, s.facts);
    INFO("seed " << seed << ": " << text(e) << "  ->  " << text(simple) << " where " << s.said);
    CHECK(same(simplify(simple, s.facts), simple));
    for (const Assignment& at : assignments(s, {}, 24)) {
      INFO("at " << text(at));
      const auto v = evaluate(e, at);
      if (!v) {
        ++undecided;
        continue;
      }
      const auto w = evaluate(simple, at);
      REQUIRE(w.has_value());
      REQUIRE(*v == *w);
      if (lo) REQUIRE(*lo <= *v);
      if (hi) REQUIRE(*v <= *hi);
      if (m.modulus == 0)
        REQUIRE(*v == m.remainder);
      else
        REQUIRE(floor_mod(*v - m.remainder, m.modulus) == 0);
      if (!box.lo.empty()) {
        INFO("lower end " << text(box.lo));
        REQUIRE(*evaluate(box.lo, at) <= *v);
      }
      if (!box.hi.empty()) {
        INFO("upper end " << text(box.hi));
        REQUIRE(*v <= *evaluate(box.hi, at));
      }
      if (!top.empty()) {
        INFO("upper bound " << text(top));
        REQUIRE(*v <= *evaluate(top, at));
      }
    }
  }
  CHECK(undecided < 100);
}

TEST_CASE("prove never proves what is false, and every refutation comes with a witness") {
  int proved = 0, refuted = 0, unknown = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random r{seed * 0xbf58476d1ce4e5b9ull};
    Scene s(r);
    const Expr c = r.coin(2) ? s.condition(r, static_cast<int>(r.in(0, 3))) : s.likely(r, static_cast<int>(r.in(0, 3)));
    const Proof p = prove(c, s.facts);
    const Expr simple = simplify(c, s.facts);
    INFO("seed " << seed << ": " << text(c) << "  ->  " << text(simple) << " where " << s.said << ": " << p.why);
    (p.answer == Answer::proved ? proved : p.answer == Answer::refuted ? refuted : unknown)++;
    if (p.answer == Answer::refuted) CHECK((p.why.find(" = ") != std::string::npos || is_int(simple)));
    for (const Assignment& at : assignments(s, {}, 24)) {
      INFO("at " << text(at));
      const auto v = evaluate(c, at);
      if (!v) continue;
      REQUIRE(*evaluate(simple, at) == *v);
      if (p.answer == Answer::proved) REQUIRE(*v != 0);
    }
  }
  MESSAGE("proved " << proved << ", refuted " << refuted << ", unknown " << unknown);
  CHECK(proved > static_cast<int>(seeds / 10));
  CHECK(refuted > static_cast<int>(seeds / 10));
}
