// simulation/membrane.cpp: a membrane in steps of time; a step reads the two before it, the rim is held.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol steps = p.size("steps", 40, {.min = 3}), H = p.size("H", 100, {.min = 1}), W = p.size("W", 130, {.min = 1});
  const Tensor start = p.in("start", f32, {H, W}, uniform(-1, 1)), drive = p.in("drive", f32, {steps}, uniform(-0.1, 0.1));
  const Tensor u = recur(
      "u", {steps, H, W}, Along{0}, Lag{2}, [&](Var, Var y, Var x) { return start(y, x); },
      [&](Prior b, Var t, Var y, Var x) {
        const auto at = [&](const Expr& r, const Expr& c) { return b(t - 1, clamp(r, 0, H - 1), clamp(c, 0, W - 1)); };
        const Expr bend = at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1) - 4 * at(y, x);
        const Expr next = 1.99f * b(t - 1, y, x) - 0.99f * b(t - 2, y, x) + 0.2f * bend + drive(t);
        return select(y == 0 || y == H - 1 || x == 0 || x == W - 1, 0, next);
      });
  p.out(compute("after", {H, W}, [&](Var y, Var x) { return u(steps - 1, y, x); }));
}
