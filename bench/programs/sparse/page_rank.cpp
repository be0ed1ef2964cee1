// sparse/page_rank.cpp: the power method on a graph that lists for each page the pages which link to it. What pages without
// links hold goes to all. With the ranks comes how much each step changed.
#include "bench/programs/program.h"

PROGRAM(p) {
  const std::int64_t count = 2750;
  std::mt19937_64 random(41);
  std::vector<std::int32_t> begins{0}, sources, degrees(static_cast<std::size_t>(count), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::uint64_t k = random() % 4 == 0 ? random() % 40 : random() % 6; k > 0; --k) {
      const std::uint64_t from = random() % 2500;  // the last 250 pages link to none
      sources.push_back(static_cast<std::int32_t>(from)), ++degrees[from];
    }
    begins.push_back(static_cast<std::int32_t>(sources.size()));
  }
  const Symbol pages = p.size("pages", count, {.min = 1}), Z = p.size("Z", begins.back()), steps = p.size("steps", 12);
  const Tensor first = p.in("first", i32, {pages + 1}, numbers(begins)), source = p.in("source", i32, {Z}, numbers(sources)),
               links = p.in("links", i32, {pages}, numbers(degrees));

  const Tensor rank = recur(
      "rank", {steps + 1, pages}, Along{0}, Lag{1}, [&](Var, Var) { return 1 / f32(pages); },
      [&](Prior r, Var t, Var i) {
        const Axis j{"j", pages}, e{"e", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)};
        const Expr base = (0.15f + 0.85f * sum(select(links(j) == 0, r(t - 1, j), 0), j)) / f32(pages);
        const Expr from = in_range(source(e), 0, pages);
        return base + 0.85f * sum(r(t - 1, from) / f32(max(links(from), 1)), e);
      });
  const Axis page{"page", pages};
  p.out(compute("last", {pages}, [&](Var i) { return rank(steps, i); }));
  p.out(compute("change", {steps}, [&](Var t) { return sum(abs(rank(t + 1, page) - rank(t, page)), page); }));
}
