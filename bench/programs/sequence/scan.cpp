// sequence/scan.cpp: a selective state space: 16 states a channel, each decayed and fed at every step, read out by a sum.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol steps = p.size("steps", 256, {.min = 1}), channels = p.size("channels", 100, {.min = 1});
  const Tensor x = p.in("x", f32, {steps, channels}, uniform(-1, 1)),
               rate = p.in("rate", f32, {steps, channels}, uniform(0.01, 0.5));
  const Tensor A = p.in("A", f32, {channels, 16}, uniform(-2, -0.1)), B = p.in("B", f32, {steps, 16}, uniform(-1, 1)),
               C = p.in("C", f32, {steps, 16}, uniform(-1, 1));
  const Tensor h = recur(
      "h", {steps, channels, 16}, Along{0}, Lag{1}, [&](Var t, Var c, Var s) { return rate(t, c) * B(t, s) * x(t, c); },
      [&](Prior y, Var t, Var c, Var s) {
        return exp(rate(t, c) * A(c, s)) * y(t - 1, c, s) + rate(t, c) * B(t, s) * x(t, c);
      });
  const Axis s{"s", 16};
  p.out(compute("y", {steps, channels}, [&](Var t, Var c) { return sum(C(t, s) * h(t, c, s), s); }));
}
