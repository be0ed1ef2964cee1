// statistics/moving.cpp: exponentially weighted mean and variance of each series, and how many deviations a value lies away.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol series = p.size("series", 64, {.min = 1}), steps = p.size("steps", 3000, {.min = 1});
  const Tensor x = p.in("x", f32, {series, steps}, uniform(-1, 1)), decay = p.in("decay", f32, {series}, uniform(0.02, 0.2));
  const auto [m, v] = recur(
      "moving", {series, steps}, Along{1}, Lag{1}, [&](Var s, Var t) { return values(x(s, t), f32(0)); },
      [&](Prior y, Var s, Var t) {
        const Expr apart = x(s, t) - y[0](s, t - 1), step = decay(s) * apart;
        return values(y[0](s, t - 1) + step, (1 - decay(s)) * (y[1](s, t - 1) + apart * step));
      });
  const Tensor mean = m, variance = v;
  p.out(compute("score", {series, steps}, [&](Var s, Var t) { return (x(s, t) - mean(s, t)) / sqrt(variance(s, t) + 1e-3f); }));
}
