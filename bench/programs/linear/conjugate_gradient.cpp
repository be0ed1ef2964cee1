// linear/conjugate_gradient.cpp: a dozen steps of conjugate gradients for the matrix of a Gaussian process: the solution, and
// the square of the residual after every step.
#include <cmath>

#include "bench/programs/program.h"

namespace {
std::vector<double> kernel(int n) {  // of n points of [0, 1), with noise on the diagonal
  std::mt19937_64 engine(17);
  std::vector<double> at, A;
  for (int i = 0; i < n; ++i) at.push_back(static_cast<double>(engine() >> 40) * 0x1p-24);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) A.push_back(std::exp(-(at[i] - at[j]) * (at[i] - at[j]) * 50) + (i == j ? 0.5 : 0));
  return A;
}
}  // namespace

PROGRAM(p) {
  const Symbol N = p.size("N", 251, {.min = 1}), steps = p.size("steps", 12, {.min = 1});
  const Tensor A = p.in("A", f64, {N, N}, numbers(kernel(251))), b = p.in("b", f64, {N}, uniform(-1, 1));
  const Axis k{"k", N};
  const auto [x, r, d] = recur(
      "cg", {steps + 1, N}, Along{0}, Lag{1}, [&](Var, Var i) { return values(f64(0), b(i), b(i)); },
      [&](Prior before, Var t, Var i) {
        const Range later{Expr(1), steps + 1};
        const Tensor solution = before[0], residual = before[1], direction = before[2];
        const Tensor Ad = compute("Ad", {later, N}, [&](Var s, Var j) { return sum(A(j, k) * direction(s - 1, k), k); });
        const Tensor rr = compute("rr", {later}, [&](Var s) { return sum(residual(s - 1, k) * residual(s - 1, k), k); });
        const Tensor dAd = compute("dAd", {later}, [&](Var s) { return sum(direction(s - 1, k) * Ad(s, k), k); });
        const Tensor rest =
            compute("rest", {later, N}, [&](Var s, Var j) { return residual(s - 1, j) - rr(s) / dAd(s) * Ad(s, j); });
        const Tensor next = compute("next", {later}, [&](Var s) { return sum(rest(s, k) * rest(s, k), k); });
        return values(solution(t - 1, i) + rr(t) / dAd(t) * direction(t - 1, i), rest(t, i),
                      rest(t, i) + next(t) / rr(t) * direction(t - 1, i));
      });
  const Tensor solution = x, residual = r;
  p.out(compute("last", {N}, [&](Var i) { return solution(steps, i); }));
  p.out(compute("norm", {steps + 1}, [&](Var t) { return sum(residual(t, k) * residual(t, k), k); }));
}
