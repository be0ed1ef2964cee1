// gallery/layer_norm.cpp: rows normalized by moments that a reducer merges (apps/gallery/layer_norm.cpp).
#include "bench/programs/program.h"

namespace {
using namespace ashlar;
// Of two parts: how many, their mean, and the sum of the squares of distances from it.
Values<3> merged(Values<3> a, Values<3> b) {
  const Expr n = a[0] + b[0], share = select(n == 0, 0, b[0] / n), apart = b[1] - a[1];
  return values(n, a[1] + apart * share, a[2] + b[2] + apart * apart * a[0] * share);
}
}  // namespace

PROGRAM(p) {
  const Symbol M = p.size("M", 803), N = p.size("N", 321, {.min = 1});
  const Tensor x = p.in("x", f32, {M, N}, uniform(-1, 3)), scale = p.in("scale", f32, {N}, uniform(0.5, 2)),
               shift = p.in("shift", f32, {N}, uniform(-1, 1));
  const Axis k{"k", N};
  const auto moments = reducer("moments", {f32, f32, f32}, {0, 0, 0}, merged, Order::any);
  auto [n, m, d] = compute("moments", {M}, [&](Var i) { return moments(values(1, x(i, k), 0), k); });
  p.out(compute("layer_norm", {M, N},
                [&](Var i, Var j) { return (x(i, j) - m(i)) * rsqrt(d(i) / n(i) + 1e-5f) * scale(j) + shift(j); }));
}
