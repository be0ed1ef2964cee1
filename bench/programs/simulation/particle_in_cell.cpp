// simulation/particle_in_cell.cpp: a step of charged particles on a periodic grid: their charge is spread over the four points
// around each, smoothed, its gradient is the field, and the field between those points moves the particle.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 17000), H = p.size("H", 45, {.min = 1}), W = p.size("W", 59, {.min = 1});
  const Tensor x = p.in("x", f32, {N}, uniform(0, 59)), y = p.in("y", f32, {N}, uniform(0, 45));
  const Tensor u = p.in("u", f32, {N}, uniform(-2, 2)), v = p.in("v", f32, {N}, uniform(-2, 2));
  const auto row = [&](const Expr& n) { return clamp(i32(y(n)), 0, H - 1); };
  const auto column = [&](const Expr& n) { return clamp(i32(x(n)), 0, W - 1); };
  const auto down = [&](const Expr& n) { return y(n) - f32(row(n)); };
  const auto across = [&](const Expr& n) { return x(n) - f32(column(n)); };
  const Tensor density = scatter("density", {H, W}, Combine::add, 0.f, {N}, [&](Var n) {
    const Expr r = row(n), c = column(n), fy = down(n), fx = across(n);
    return puts(put((1 - fy) * (1 - fx), r, c), put((1 - fy) * fx, r, (c + 1) % W), put(fy * (1 - fx), (r + 1) % H, c),
                put(fy * fx, (r + 1) % H, (c + 1) % W));
  });
  const Tensor round = boundary::wrap(density);
  const Tensor smooth = compute("smooth", {H, W}, [&](Var r, Var c) {
    return 0.5f * round(r, c) + 0.125f * (round(r, c - 1) + round(r, c + 1) + round(r - 1, c) + round(r + 1, c));
  });
  const Tensor torus = boundary::wrap(smooth);
  const auto field = compute("field", {H, W}, [&](Var r, Var c) {
    return values(0.5f * (torus(r, c - 1) - torus(r, c + 1)), 0.5f * (torus(r - 1, c) - torus(r + 1, c)));
  });
  const auto moved = compute("moved", {N}, [&](Var n) {
    const Expr r = row(n), c = column(n), fy = down(n), fx = across(n), below = (r + 1) % H, right = (c + 1) % W;
    const auto between = [&](const Tensor& f) {
      return (1 - fy) * ((1 - fx) * f(r, c) + fx * f(r, right)) + fy * ((1 - fx) * f(below, c) + fx * f(below, right));
    };
    const Expr pu = u(n) + 0.1f * between(field[0]), pv = v(n) + 0.1f * between(field[1]);
    const Expr px = x(n) + 0.1f * pu, py = y(n) + 0.1f * pv;
    return values(px - f32(W) * floor(px / f32(W)), py - f32(H) * floor(py / f32(H)), pu, pv);
  });
  p.out(density);
  for (const Tensor& t : moved) p.out(t);
}
