// simulation/gravity.cpp: bodies that attract each other, softened, step by step: speeds first, then places; and the kinetic
// energy at each step.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol steps = p.size("steps", 9, {.min = 1}), N = p.size("N", 133, {.min = 1});
  const Tensor at = p.in("at", f64, {3, N}, uniform(-1, 1)), speed = p.in("speed", f64, {3, N}, uniform(-0.5, 0.5)),
               mass = p.in("mass", f64, {N}, uniform(0.01, 0.2));
  const Range later{Expr(1), steps + 1};
  const Axis j{"j", N};
  const auto orbit = recur(
      "orbit", {steps + 1, 3, N}, Along{0}, Lag{1}, [&](Var, Var d, Var i) { return values(at(d, i), speed(d, i)); },
      [&](Prior y, Var t, Var d, Var i) {
        const Tensor x = y[0], v = y[1];
        const Tensor weight = compute("weight", {later, N, N}, [&](Var s, Var b, Var o) {
          const auto apart = [&](int e) { return x(s - 1, e, o) - x(s - 1, e, b); };
          const Expr square = apart(0) * apart(0) + apart(1) * apart(1) + apart(2) * apart(2) + 0.01;
          return mass(o) / (square * sqrt(square));
        });
        const Tensor pull = compute("pull", {later, 3, N}, [&](Var s, Var e, Var b) {
          return sum(weight(s, b, j) * (x(s - 1, e, j) - x(s - 1, e, b)), j);
        });
        const Expr faster = v(t - 1, d, i) + 0.002 * pull(t, d, i);
        return values(x(t - 1, d, i) + 0.002 * faster, faster);
      });
  const Axis d{"d", 3}, i{"i", N};
  const Tensor x = orbit[0], v = orbit[1];
  p.out(compute("places", {3, N}, [&](Var e, Var b) { return x(steps, e, b); }));
  p.out(compute("energy", {steps + 1}, [&](Var t) { return sum(0.5 * mass(i) * (v(t, d, i) * v(t, d, i)), {d, i}); }));
}
