// simulation/lattice_boltzmann.cpp: a liquid through a porous ground, driven to the right by pulses: nine directions at each
// cell, streamed, turned back at solid cells, and relaxed toward equilibrium (D2Q9, BGK); the picture is periodic.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol steps = p.size("steps", 7, {.min = 1}), H = p.size("H", 46, {.min = 1}), W = p.size("W", 75, {.min = 1});
  const Tensor noise = p.in("noise", f32, {9, H, W}, uniform(-0.05, 0.05)), ground = p.in("ground", u8, {H, W}, integers(0, 9)),
               drive = p.in("drive", f32, {steps}, uniform(0, 2));
  const Tensor cx = constant("cx", i32, {0, 1, 0, -1, 0, 1, -1, -1, 1}),
               cy = constant("cy", i32, {0, 0, 1, 0, -1, 1, 1, -1, -1});
  const Tensor back = constant("back", i32, {0, 3, 4, 1, 2, 7, 8, 5, 6});
  const std::vector<double> shares = {4 / 9., 1 / 9., 1 / 9., 1 / 9., 1 / 9., 1 / 36., 1 / 36., 1 / 36., 1 / 36.};
  const Tensor share = constant("share", f32, {9}, shares);
  const Axis k{"k", 9};
  const Range after{Expr(1), steps + 1};
  const Tensor f = recur(
      "f", {steps + 1, 9, H, W}, Along{0}, Lag{1}, [&](Var, Var q, Var y, Var x) { return share(q) * (1 + noise(q, y, x)); },
      [&](Prior g, Var t, Var q, Var y, Var x) {
        const Tensor in = compute("in", {after, 9, H, W}, [&](Var s, Var d, Var r, Var c) {
          const Expr above = (r - cy(d)) % H, left = (c - cx(d)) % W;
          return select(ground(above, left) == 0, g(s - 1, in_range(back(d), 0, 9), r, c), g(s - 1, d, above, left));
        });
        const Tensor density = compute("density", {after, H, W}, [&](Var s, Var r, Var c) { return sum(in(s, k, r, c), k); });
        const Tensor px =
            compute("px", {after, H, W}, [&](Var s, Var r, Var c) { return sum(f32(cx(k)) * in(s, k, r, c), k); });
        const Tensor py =
            compute("py", {after, H, W}, [&](Var s, Var r, Var c) { return sum(f32(cy(k)) * in(s, k, r, c), k); });
        const Expr ux = px(t, y, x) / density(t, y, x), uy = py(t, y, x) / density(t, y, x);
        const Expr along = 3 * (f32(cx(q)) * ux + f32(cy(q)) * uy);
        const Expr rest = share(q) * density(t, y, x) * (1 + along + 0.5f * along * along - 1.5f * (ux * ux + uy * uy));
        const Expr next = in(t, q, y, x) + 0.8f * (rest - in(t, q, y, x)) + 3e-4f * share(q) * f32(cx(q)) * drive(t - 1);
        return select(ground(y, x) == 0, g(t - 1, q, y, x), next);
      });
  p.out(compute("last", {9, H, W}, [&](Var q, Var y, Var x) { return f(steps, q, y, x); }));
}
