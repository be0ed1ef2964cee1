// Random accesses over small loops: every answer of the proof cascade is held against all pairs of iterations.
#include <ashlar/analysis/cascade.h>
#include <ashlar/ir/print.h>

#include <array>
#include <map>

#include <doctest/doctest.h>

#include <ashlar/analysis/evaluate.h>

#include "tests/analysis/seeds.h"

using namespace ashlar;
using namespace ashlar::analysis;
using namespace ashlar::ir;

namespace {

constexpr std::uint64_t seeds = seeds_of(700, 200);

const Expr v = var(1, "v"), t = var(2, "t"), s = var(3, "s");
const std::array<Id, 1> inner{2};

Expr term(Random& r) {
  const std::array leaves{v, t, s};
  const Expr e = mul(leaves[static_cast<std::size_t>(r.in(0, 2))], index(r.in(1, 3) * (r.in(0, 3) ? 1 : -1)));
  switch (r.in(0, 6)) {
    case 0:
      return div(e, index(1 << r.in(1, 3)));
    case 1:
      return mod(e, index(r.in(2, 8)));
    case 2:
      return min(e, index(r.in(0, 6)));
    default:
      return e;
  }
}
Expr subscript(Random& r) {
  Expr e = term(r);
  for (std::int64_t k = r.in(0, 2); k > 0; --k) {
    const Expr other = term(r);
    e = r.in(0, 5) ? add(e, other) : make(Op::bit_xor, index_type, std::array{e, other});
  }
  return r.in(0, 3) ? e : add(mul(v, index(8)), t);
}

struct Domain {
  std::int64_t v, t, s;
};
template <class Visit>
void points(const Domain& d, Visit&& visit) {
  for (std::int64_t a = 0; a < d.v; ++a)
    for (std::int64_t b = 0; b < d.t; ++b)
      for (std::int64_t c = 0; c < d.s; ++c) visit(Assignment{{1, "v", a}, {2, "t", b}, {3, "s", c}});
}

}  // namespace

TEST_CASE("disjoint agrees with every pair of iterations") {
  int proved = 0, refuted = 0, unknown = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random r{seed * 0x9e3779b97f4a7c15ull};
    const Domain d{r.in(1, 5), r.in(1, 8), r.in(1, 2)};
    Facts facts;
    facts.bound(1, 0, d.v - 1);
    facts.bound(2, 0, d.t - 1);
    facts.bound(3, 0, d.s - 1);
    Access a{"C", true, {subscript(r)}, {}}, b{"C", r.in(0, 1) == 0, {subscript(r)}, {}};
    if (r.in(0, 1))
      b = a;
    else if (r.in(0, 2) == 0)
      b.when = {lt(t, v)};
    if (r.in(0, 2) == 0) {
      a.at.push_back(subscript(r));
      b.at.push_back(r.in(0, 1) ? a.at.back() : subscript(r));
    }
    bool meet = false;
    std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> touched;
    const auto key = [&](const Access& x, const Assignment& at) {
      std::vector<std::int64_t> e{at[2].value};
      for (const Expr& i : x.at) e.push_back(*evaluate(i, at));
      return e;
    };
    points(d, [&](const Assignment& at) { touched[key(a, at)].push_back(at[0].value); });
    points(d, [&](const Assignment& at) {
      for (const Expr& c : b.when)
        if (!*evaluate(c, at)) return;
      for (const std::int64_t other : touched[key(b, at)]) meet = meet || other != at[0].value;
    });
    const Verdict answer = disjoint(a, b, v, inner, facts);
    INFO("seed " << seed << ": " << text(a.at[0]) << " against " << text(b.at[0]) << " v < " << d.v << " t < " << d.t << " s < "
                 << d.s << " by " << step_name(answer.step) << ": " << answer.why);
    if (answer.answer == Answer::proved) REQUIRE_FALSE(meet);
    if (answer.answer == Answer::refuted) REQUIRE(meet);
    (answer.answer == Answer::proved ? proved : answer.answer == Answer::refuted ? refuted : unknown)++;
  }
  MESSAGE("proved " << proved << ", refuted " << refuted << ", unknown " << unknown);
  CHECK(unknown == 0);  // the domain is small and constant
}

TEST_CASE("injective agrees with all points") {
  int proved = 0, refuted = 0;
  for (std::uint64_t seed = 1; seed <= seeds / 2; ++seed) {
    Random r{seed * 0xbf58476d1ce4e5b9ull};
    const Domain d{r.in(1, 5), r.in(1, 8), 1};
    Facts facts;
    facts.bound(1, 0, d.v - 1);
    facts.bound(2, 0, d.t - 1);
    facts.bound(3, 0, 0);
    std::vector<Expr> map{subscript(r), subscript(r)};
    bool twice = false;
    std::map<std::vector<std::int64_t>, int> image;
    points(d, [&](const Assignment& at) { twice = image[{*evaluate(map[0], at), *evaluate(map[1], at)}]++ > 0 || twice; });
    const Verdict answer = injective(std::array<Id, 2>{1, 2}, map, facts);
    INFO("seed " << seed << ": (" << text(map[0]) << ", " << text(map[1]) << ") by " << step_name(answer.step) << ": "
                 << answer.why);
    REQUIRE(answer.answer != Answer::unknown);
    REQUIRE((answer.answer == Answer::refuted) == twice);
    (twice ? refuted : proved)++;
  }
  CHECK(proved > 10);
  CHECK(refuted > 10);
}
