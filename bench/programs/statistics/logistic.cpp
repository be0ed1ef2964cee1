// statistics/logistic.cpp: logistic regression: the mean loss of all samples, and its gradient with a ridge penalty.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol samples = p.size("samples", 5037, {.min = 1}), features = p.size("features", 43);
  const Tensor x = p.in("x", f32, {samples, features}, uniform(-1, 1)), label = p.in("label", u8, {samples}, integers(0, 2));
  const Tensor w = p.in("w", f32, {features}, uniform(-1, 1)), b = p.in("b", f32, {1}, uniform(-1, 1));

  const Axis k{"k", features}, i{"i", samples};
  const Tensor z = compute("z", {samples}, [&](Var n) { return sum(x(n, k) * w(k), k).from(b(0)); });
  const Tensor residual = compute("residual", {samples}, [&](Var n) { return sigmoid(z(n)) - f32(label(n)); });
  const Tensor pull = compute("pull", {features}, [&](Var f) { return sum(residual(i) * x(i, f), i); });
  const Tensor wrong = compute("wrong", {1}, [&](Var) { return sum(residual(i), i); });
  const Tensor cost =
      compute("cost", {1}, [&](Var) { return sum(max(z(i), 0) - z(i) * f32(label(i)) + log(1 + exp(-abs(z(i)))), i); });
  p.out(compute("gradient", {features}, [&](Var f) { return pull(f) / f32(samples) + 0.01f * w(f); }));
  p.out(compute("slope", {1}, [&](Var o) { return wrong(o) / f32(samples); }));
  p.out(compute("loss", {1}, [&](Var o) { return cost(o) / f32(samples); }));
}
