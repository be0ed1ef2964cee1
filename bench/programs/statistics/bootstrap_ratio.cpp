// statistics/bootstrap_ratio.cpp: the ratio of two means in samples drawn with replacement by a table of numbers, and its
// standard error.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol n = p.size("n", 613, {.min = 1}), draws = p.size("draws", 500, {.min = 2});
  const Tensor x = p.in("x", f64, {n}, uniform(1, 2)), y = p.in("y", f64, {n}, uniform(0, 5));
  const Tensor which = p.in("which", u16, {draws, n}, integers(0, 613));

  const Axis k{"k", n}, d{"d", draws};
  const auto mean = [&](const char* name, const Tensor& of) {
    return compute(name, {draws}, [&](Var r) { return sum(of(in_range(which(r, k), 0, n)), k); });
  };
  const Tensor above = mean("above", y), below = mean("below", x);
  const Tensor ratio = compute("ratio", {draws}, [&](Var r) { return above(r) / below(r); });
  const Tensor total = compute("total", [&] { return sum(ratio(d), d); });
  const Tensor square = compute("square", [&] {
    const Expr apart = ratio(d) - total() / f64(draws);
    return sum(apart * apart, d);
  });
  p.out(ratio);
  p.out(compute("deviation", [&] { return sqrt(square() / f64(draws - 1)); }));
}
