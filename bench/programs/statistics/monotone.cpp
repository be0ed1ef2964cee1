// statistics/monotone.cpp: a response that cannot fall with the dose, for many subjects: half-way between the largest value so
// far and the smallest still to come; and for each subject the largest distance of a value from it.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol doses = p.size("doses", 1501, {.min = 1}), subjects = p.size("subjects", 241);
  const Tensor x = p.in("x", f32, {doses, subjects}, uniform(0, 1));
  const Tensor below = scan("below", {doses, subjects}, Along{0}, Combine::max, [&](Var t, Var s) { return x(t, s); });
  const Tensor above =
      scan("above", {doses, subjects}, Along{0}.backwards(), Combine::min, [&](Var t, Var s) { return x(t, s); });
  const Tensor fit = compute("fit", {doses, subjects}, [&](Var t, Var s) { return (below(t, s) + above(t, s)) * 0.5f; });
  const Axis t{"t", doses};
  p.out(fit);
  p.out(compute("worst", {subjects}, [&](Var s) { return maximum(abs(x(t, s) - fit(t, s)), t).from(0); }));
}
