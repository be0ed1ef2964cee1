// fresh/linkage.cpp: sites of a genome that are inherited independently. A site is kept unless one of the 24 before it that is
// kept correlates with it by r^2 > 0.2; and the sum of its r^2 with those 24. Genotypes are 0, 1 or 2 copies of an allele.
#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> genotypes(int sites, int people) {  // most people have at a site what they have at the one before
  std::mt19937_64 engine(23);
  std::vector<std::int32_t> g;
  for (int s = 0; s < sites; ++s)
    for (int i = 0; i < people; ++i) {
      const bool same = s > 0 && engine() % 100 < 85;
      g.push_back(same ? g[g.size() - static_cast<std::size_t>(people)] : static_cast<std::int32_t>(engine() % 3));
    }
  return g;
}
}  // namespace

PROGRAM(p) {
  const Symbol S = p.size("S", 310, {.min = 1}), P = p.size("P", 485, {.min = 1});
  const Tensor g = p.in("g", i8, {S, P}, numbers(genotypes(310, 485)));
  const Axis i{"i", P};
  const Tensor total = compute("total", {S}, [&](Var s) { return sum(i32(g(s, i)), i); }),
               squares = compute("squares", {S}, [&](Var s) { return sum(i32(g(s, i)) * i32(g(s, i)), i); });
  const Tensor spread = compute("spread", {S}, [&](Var s) { return i64(P) * i64(squares(s)) - i64(total(s)) * i64(total(s)); });
  // Site s and the one k + 1 before it.
  const Tensor both =
      compute("both", {S, 24}, [&](Var s, Var k) { return sum(select(s > k, i32(g(s, i)) * i32(g(s - k - 1, i)), 0), i); });
  const Tensor shared = compute("shared", {S, 24}, [&](Var s, Var k) {
    const Expr together = i64(P) * i64(both(s, k)) - i64(total(s)) * i64(total(max(s - k - 1, 0)));
    return together * together;
  });
  const Tensor bound = compute("bound", {S, 24}, [&](Var s, Var k) { return spread(s) * spread(max(s - k - 1, 0)); });
  p.out(recur(
      "kept", {S}, Along{0}, Lag{0}, [&](Var) { return u8(0); },
      [&](Prior y, Var s) {
        const Axis k{"k", min(s, 24)};
        return 1 - maximum(select(5 * shared(s, k) > bound(s, k), y(s - k - 1), 0), k);
      }));
  p.out(compute("score", {S}, [&](Var s) {
    const Axis k{"k", min(s, 24)};
    return sum(f32(shared(s, k)) / f32(max(bound(s, k), 1)), k);
  }));
}
