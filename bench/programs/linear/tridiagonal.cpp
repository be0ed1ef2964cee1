// linear/tridiagonal.cpp: many tridiagonal systems, each along a row; elimination forwards, substitution backwards (Thomas).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol systems = p.size("systems", 192, {.min = 1}), N = p.size("N", 600, {.min = 1});
  const Tensor lower = p.in("lower", f64, {systems, N}, uniform(-1, 1)),
               diagonal = p.in("diagonal", f64, {systems, N}, uniform(3, 4)),
               upper = p.in("upper", f64, {systems, N}, uniform(-1, 1)),
               right = p.in("right", f64, {systems, N}, uniform(-1, 1));
  const auto [c, d] = recur(
      "eliminated", {systems, N}, Along{1}, Lag{1},
      [&](Var s, Var i) { return values(upper(s, i) / diagonal(s, i), right(s, i) / diagonal(s, i)); },
      [&](Prior y, Var s, Var i) {
        const Expr pivot = diagonal(s, i) - lower(s, i) * y[0](s, i - 1);
        return values(upper(s, i) / pivot, (right(s, i) - lower(s, i) * y[1](s, i - 1)) / pivot);
      });
  const Tensor share = c, rest = d;
  p.out(recur(
      "x", {systems, N}, Along{1}.backwards(), Lag{1}, [&](Var s, Var i) { return rest(s, i); },
      [&](Prior x, Var s, Var i) { return rest(s, i) - share(s, i) * x(s, i + 1); }));
}
