// fresh/experts.cpp: a layer of experts: each token is normalized by groups, sent to the expert that its gate likes best,
// through that expert's two matrices with mish between them, and added to itself by the gate's share; how many tokens each
// expert got.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 211, {.min = 1}), E = p.size("E", 9, {.min = 1});
  const Tensor x = p.in("x", f32, {N, 48}, uniform(-2, 2)), scale = p.in("scale", f32, {48}, uniform(0.5, 1.5)),
               shift = p.in("shift", f32, {48}, uniform(-0.2, 0.2));
  const Tensor gate = p.in("gate", f32, {E, 48}, uniform(-0.4, 0.4)), up = p.in("up", f32, {E, 48, 96}, uniform(-0.25, 0.25)),
               down = p.in("down", f32, {E, 96, 48}, uniform(-0.2, 0.2));
  const Axis j{"j", 12}, d{"d", 48}, e{"e", E}, h{"h", 96};
  const Tensor total = compute("total", {N, 4}, [&](Var n, Var g) { return sum(x(n, g * 12 + j), j); });
  const Tensor mean = compute("mean", {N, 4}, [&](Var n, Var g) { return total(n, g) / 12; });
  const Tensor spread = compute("spread", {N, 4}, [&](Var n, Var g) {
    const Expr off = x(n, g * 12 + j) - mean(n, g);
    return sum(off * off, j);
  });
  const Tensor normal = compute("normal", {N, 48}, [&](Var n, Var c) {
    return (x(n, c) - mean(n, c / 12)) / sqrt(spread(n, c / 12) / 12 + 1e-5f) * scale(c) + shift(c);
  });
  const Tensor logit = einsum("nd,ed->ne", normal, gate);
  const auto best = compute("best", {N}, [&](Var n) { return argmax(logit(n, e), e); });
  const Tensor mass = compute("mass", {N}, [&](Var n) { return sum(exp(logit(n, e) - best[0](n)), e); });
  const auto chosen = [&](const Expr& n) { return in_range(best[1](n), 0, E); };
  const Tensor inner = compute("inner", {N, 96}, [&](Var n, Var k) { return sum(normal(n, d) * up(chosen(n), d, k), d); });
  const Tensor mish = compute("mish", {N, 96}, [&](Var n, Var k) {
    const Expr v = inner(n, k), grown = exp(min(v, 20)), g = grown * (grown + 2);
    return v * (g / (g + 2));
  });
  const Tensor outer = compute("outer", {N, 48}, [&](Var n, Var c) { return sum(mish(n, h) * down(chosen(n), h, c), h); });
  p.out(compute("y", {N, 48}, [&](Var n, Var c) { return x(n, c) + outer(n, c) / mass(n); }));
  p.out(scatter("load", {E}, Combine::add, 0, {N}, [&](Var n) { return put(1, chosen(n)); }));
}
