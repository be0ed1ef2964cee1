// statistics/strata.cpp: where each value of a weighted survey stands in its stratum, from 0 to 1: a weighted histogram of
// every stratum, its running sums, and the middle of the bin that the value lies in.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol n = p.size("n", 70003);
  const Tensor x = p.in("x", f32, {n}, uniform(-3.2, 3.1)), weight = p.in("weight", f32, {n}, uniform(0.2, 3)),
               stratum = p.in("stratum", u8, {n}, integers(0, 6));

  const Tensor bin = compute("bin", {n}, [&](Var i) { return clamp(i32((x(i) + 3) * 25.f), 0, 149); });
  const auto of = [&](Var i) { return min(stratum(i), 5); };
  const Tensor mass = scatter("mass", {6, 150}, Combine::add, 0.0, {{"i", n}},
                              [&](Var i) { return put(f64(weight(i)), of(i), clamp(bin(i), 0, 149)); });
  const Tensor below = scan("below", {6, 150}, Along{1}, Combine::add, [&](Var s, Var b) { return mass(s, b); });
  const Tensor middle = compute(
      "middle", {6, 150}, [&](Var s, Var b) { return f32((below(s, b) - 0.5 * mass(s, b)) / max(below(s, 149), 1e-12)); });
  p.out(compute("place", {n}, [&](Var i) { return middle(of(i), clamp(bin(i), 0, 149)); }));
  p.out(below);
}
