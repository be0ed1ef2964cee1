// Two second-order sections behind each other over a signal of several channels, in direct form I.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol channels = p.size("channels", 64), steps = p.size("steps", 4096);
  const Tensor x = p.in("x", f32, {channels, steps}, uniform(-1, 1));
  // b0, b1, b2, a1, a2 of each section
  const Tensor c = p.in("c", f32, {2, 5}, numbers<double>({0.2, 0.4, 0.2, -0.3, 0.1, 0.5, -0.1, 0.3, 0.2, 0.25}));
  Tensor signal = x;
  for (int s = 0; s < 2; ++s) {
    const Tensor from = signal;
    const Tensor fed = compute("fed", {channels, steps}, [&](Var r, Var t) {
      return c(s, 0) * from(r, t) + c(s, 1) * select(t > 0, from(r, t - 1), 0) + c(s, 2) * select(t > 1, from(r, t - 2), 0);
    });
    signal = recur(
        "section", {channels, steps}, Along{1}, Lag{2},
        [&](Var r, Var t) { return fed(r, t) - c(s, 3) * select(t > 0, fed(r, t - 1), 0); },
        [&](Prior y, Var r, Var t) { return fed(r, t) - c(s, 3) * y(r, t - 1) - c(s, 4) * y(r, t - 2); });
  }
  p.out(signal);
}
