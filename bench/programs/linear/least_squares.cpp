// linear/least_squares.cpp: ridge regressions, each of its own few samples: normal equations, their Cholesky factor, and two
// substitutions.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol problems = p.size("problems", 110, {.min = 1}), samples = p.size("samples", 37), N = p.size("N", 14, {.min = 1});
  const Tensor X = p.in("X", f64, {problems, samples, N}, uniform(-1, 1)),
               y = p.in("y", f64, {problems, samples}, uniform(-1, 1));
  const Axis s{"s", samples};
  const Tensor product =
      compute("product", {problems, N, N}, [&](Var q, Var i, Var j) { return sum(X(q, s, i) * X(q, s, j), s); });
  const Tensor right = compute("right", {problems, N}, [&](Var q, Var i) { return sum(X(q, s, i) * y(q, s), s); });
  const auto A = [&](const Expr& q, const Expr& i, const Expr& j) { return product(q, i, j) + select(i == j, 0.5, 0.0); };
  const Tensor L = recur(
      "L", {problems, N, N}, Along{2}, Lag{0}, [&](Var, Var, Var) { return f64(0); },
      [&](Prior l, Var q, Var i, Var j) {
        const Axis k{"k", j};
        const Expr pivot = sqrt(A(q, j, j) - sum(l(q, j, k) * l(q, j, k), k));
        const Expr below = (A(q, i, j) - sum(l(q, i, k) * l(q, j, k), k.where(i >= j))) / pivot;
        return select(i < j, 0, select(i == j, pivot, below));
      });
  const Tensor z = recur(
      "z", {problems, N}, Along{1}, Lag{0}, [&](Var, Var) { return f64(0); },
      [&](Prior before, Var q, Var i) {
        const Axis k{"k", i};
        return (right(q, i) - sum(L(q, i, k) * before(q, k), k)) / L(q, i, i);
      });
  p.out(recur(
      "x", {problems, N}, Along{1}.backwards(), Lag{0}, [&](Var, Var) { return f64(0); },
      [&](Prior after, Var q, Var i) {
        const Axis k{"k", i + 1, N};
        return (z(q, i) - sum(L(q, k, i) * after(q, k), k)) / L(q, i, i);
      }));
}
