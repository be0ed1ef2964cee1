// simulation/neighbors.cpp: forces between particles that a list of neighbors names, each list of its own length.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 3000, {.min = 1}), most = p.size("most", 40, {.min = 1});
  const Tensor at = p.in("at", f32, {3, N}, uniform(0, 10)), charge = p.in("charge", f32, {N}, uniform(-1, 1));
  const Tensor count = p.in("count", i32, {N}, integers(0, 41)), near = p.in("near", i32, {N, most}, integers(0, 3000));
  const Tensor force = compute("force", {3, N}, [&](Var d, Var i) {
    const Axis k{"k", in_range(count(i), 0, most + 1)};
    const Expr j = in_range(near(i, k), 0, N);
    const auto apart = [&](int e) { return at(e, j) - at(e, i); };
    const Expr square = apart(0) * apart(0) + apart(1) * apart(1) + apart(2) * apart(2) + 0.01f;
    return sum(charge(i) * charge(j) * (at(d, j) - at(d, i)) / (square * sqrt(square)), k);
  });
  p.out(force);
  p.within(1e-3);
}
