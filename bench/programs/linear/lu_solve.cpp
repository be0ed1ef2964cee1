// linear/lu_solve.cpp: A x = B for many columns of B, by the factors of A without exchanges of rows: L below the diagonal, U on
// and above it, in one matrix.
#include "bench/programs/program.h"

namespace {
std::vector<double> dominant(int n) {
  std::mt19937_64 engine(11);
  std::vector<double> A(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      A[static_cast<std::size_t>(i) * n + j] = static_cast<double>(engine() >> 40) * 0x1p-23 - 1 + (i == j ? n / 2 : 0);
  return A;
}
}  // namespace

PROGRAM(p) {
  const Symbol N = p.size("N", 157, {.min = 1}), columns = p.size("columns", 33);
  const Tensor A = p.in("A", f32, {N, N}, numbers(dominant(157))), B = p.in("B", f32, {N, columns}, uniform(-1, 1));
  const Tensor lu = recur(
      "lu", {N, N}, Along{0, 1}, Lag{0}, [&](Var, Var) { return f32(0); },
      [&](Prior f, Var i, Var j) {
        const Axis k{"k", min(i, j)};
        const Expr rest = A(i, j) - sum(f(i, k) * f(k, j), k);
        return select(i > j, rest / f(j, j), rest);
      });
  const Tensor z = recur(
      "z", {N, columns}, Along{0}, Lag{0}, [&](Var, Var) { return f32(0); },
      [&](Prior before, Var i, Var r) {
        const Axis k{"k", i};
        return B(i, r) - sum(lu(i, k) * before(k, r), k);
      });
  p.out(recur(
      "x", {N, columns}, Along{0}.backwards(), Lag{0}, [&](Var, Var) { return f32(0); },
      [&](Prior after, Var i, Var r) {
        const Axis k{"k", i + 1, N};
        return (z(i, r) - sum(lu(i, k) * after(k, r), k)) / lu(i, i);
      }));
}
