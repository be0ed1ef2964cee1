// signal/echo_cancel.cpp: an adaptive filter (LMS) for each line, whose 32 weights learn how the far end leaks into the
// microphone; what is left of the microphone, and the weights at the end.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol lines = p.size("lines", 6, {.min = 1}), steps = p.size("steps", 1900, {.min = 1});
  const Tensor far = p.in("far", f32, {lines, steps + 31}, uniform(-1, 1)),
               mic = p.in("mic", f32, {lines, steps}, uniform(-1, 1));
  const Axis k{"k", 32};
  // w(c, t): the weights that sample t meets
  const Tensor w = recur(
      "w", {lines, steps + 1, 32}, Along{1}, Lag{1}, [&](Var, Var, Var) { return f32(0); },
      [&](Prior before, Var c, Var t, Var j) {
        const Expr error = mic(c, t - 1) - sum(before(c, t - 1, k) * far(c, t - 1 + k), k);
        return before(c, t - 1, j) + 0.02f * error * far(c, t - 1 + j);
      });
  const Tensor guess = compute("guess", {lines, steps}, [&](Var c, Var t) { return sum(w(c, t, k) * far(c, t + k), k); });
  p.out(compute("residue", {lines, steps}, [&](Var c, Var t) { return mic(c, t) - guess(c, t); }));
  p.out(compute("last", {lines, 32}, [&](Var c, Var j) { return w(c, steps, j); }));
  p.within(1e-3);
}
