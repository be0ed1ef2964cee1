// gallery/gauss_seidel.cpp: two sweeps over a grid, in place (apps/gallery/gauss_seidel.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol M = p.size("M", 131), N = p.size("N", 173);
  Tensor before = p.in("grid", f32, {M, N}, uniform(-1, 1));
  for (int k = 0; k < 2; ++k) {
    const Tensor old = before;
    before = recur(
        "u", {{"i", M}, {"j", N}}, Along{0, 1}, Lag{1}, [&](Var i, Var j) { return old(i, j); },
        [&](Prior u, Var i, Var j) {
          const auto mean = [&] { return (u(i - 1, j) + u(i, j - 1) + old(i + 1, j) + old(i, j + 1)) * 0.25f; };
          return select(i < M - 1, select(j < N - 1, mean(), old(i, j)), old(i, j));
        });
  }
  p.out(compute("after", {M, N}, [&](Var i, Var j) { return before(i, j); }));
}
