// signal/echo.cpp: each channel with its own delay, and an envelope that follows it.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol channels = p.size("channels", 128), steps = p.size("steps", 8192);
  const Tensor x = p.in("x", f32, {channels, steps}, uniform(-1, 1));
  const Tensor delay = p.in("delay", i32, {channels}, integers(1, 100));
  const Tensor echo = compute("echo", {channels, steps}, [&](Var r, Var t) {
    return x(r, t) + 0.5f * select(t >= delay(r), x(r, clamp(t - delay(r), 0, steps - 1)), 0);
  });
  p.out(recur(
      "envelope", {channels, steps}, Along{1}, Lag{1}, [&](Var r, Var t) { return abs(echo(r, t)); },
      [&](Prior y, Var r, Var t) { return max(abs(echo(r, t)), y(r, t - 1) * 0.999f); }));
}
