// fresh/smoother.cpp: places and speeds of tracked objects from noisy sightings, some missing, some wrong: a Kalman filter
// forwards that skips what it does not believe, then the Rauch-Tung-Striebel smoother backwards.
#include "bench/programs/program.h"

namespace {
using ashlar::Expr;

constexpr double dt = 0.1, noise = 0.04;

struct State {  // the mean, and the covariances of place and speed
  Expr x, v, pp, pv, vv;
};

State ahead(const State& s) {
  return {s.x + dt * s.v, s.v, s.pp + 2 * dt * s.pv + dt * dt * s.vv + 2.5e-5, s.pv + dt * s.vv + 5e-4, s.vv + 1e-2};
}
}  // namespace

PROGRAM(p) {
  const Symbol T = p.size("T", 260, {.min = 1}), N = p.size("N", 187, {.min = 1});
  const Tensor z = p.in("z", f64, {T, N}, uniform(-1, 1));
  const Tensor seen = p.in("seen", u8, {T, N}, integers(0, 4));
  const auto filtered = recur(
      "filtered", {T, N}, Along{0}, Lag{1}, [&](Var t, Var n) { return values(z(t, n), f64(0), f64(1), f64(0), f64(1)); },
      [&](Prior y, Var t, Var n) {
        const auto a = ahead({y[0](t - 1, n), y[1](t - 1, n), y[2](t - 1, n), y[3](t - 1, n), y[4](t - 1, n)});
        const Expr s = a.pp + noise, e = z(t, n) - a.x, taken = seen(t, n) != 0 && e * e < 9 * s;
        const Expr k = select(taken, a.pp / s, 0), l = select(taken, a.pv / s, 0);
        return values(a.x + k * e, a.v + l * e, (1 - k) * a.pp, (1 - k) * a.pv, a.vv - l * a.pv);
      });
  const auto smooth = recur(
      "smooth", {T, N}, Along{0}.backwards(), Lag{1},
      [&](Var t, Var n) { return values(filtered[0](t, n), filtered[1](t, n)); },
      [&](Prior y, Var t, Var n) {
        const State f{filtered[0](t, n), filtered[1](t, n), filtered[2](t, n), filtered[3](t, n), filtered[4](t, n)};
        const State a = ahead(f);
        const Expr det = a.pp * a.vv - a.pv * a.pv, dx = y[0](t + 1, n) - a.x, dv = y[1](t + 1, n) - a.v;
        const Expr gx = (a.vv * dx - a.pv * dv) / det, gv = (a.pp * dv - a.pv * dx) / det;
        return values(f.x + (f.pp + dt * f.pv) * gx + f.pv * gv, f.v + (f.pv + dt * f.vv) * gx + f.vv * gv);
      });
  p.out(smooth[0]);
  p.out(smooth[1]);
}
