// fresh/american_put.cpp: American put options by the binomial tree of Cox, Ross and Rubinstein: the worth of every node from
// the two after it, or of the exercise; a rate for every move; the value today, and its derivative by the stock. Node (t, j) is
// after j rises of t moves.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 75, {.min = 1}), T = p.size("T", 128, {.min = 1});
  const Tensor spot = p.in("spot", f64, {N}, uniform(80, 120)), strike = p.in("strike", f64, {N}, uniform(80, 120)),
               volatility = p.in("volatility", f64, {N}, uniform(0.15, 0.6)),
               rate = p.in("rate", f64, {T}, uniform(0.01, 0.08));
  const Expr dt = 1.0 / f64(T);
  const Tensor up = compute("up", {N}, [&](Var n) { return volatility(n) * sqrt(dt); });
  const Tensor growth = compute("growth", {T}, [&](Var t) { return exp(rate(t) * dt); });
  const Tensor chance = compute("chance", {N, T}, [&](Var n, Var t) {
    const Expr u = exp(up(n)), d = 1 / u;
    return (growth(t) - d) / (u - d);
  });
  const Tensor price = compute("price", {N, 2 * T + 1}, [&](Var n, Var i) { return spot(n) * exp(up(n) * f64(i - T)); });
  const Tensor v = recur(
      "v", {N, T + 1, T + 1}, Along{1}.backwards(), Lag{1},
      [&](Var n, Var, Var j) { return max(strike(n) - price(n, 2 * j), 0); },
      [&](Prior y, Var n, Var t, Var j) {
        const Expr held = (chance(n, t) * y(n, t + 1, j + 1) + (1 - chance(n, t)) * y(n, t + 1, j)) / growth(t);
        return select(j <= t, max(strike(n) - price(n, 2 * j - t + T), held), 0);
      });
  p.out(compute("value", {N}, [&](Var n) { return v(n, 0, 0); }));
  p.out(compute("delta", {N}, [&](Var n) { return (v(n, 1, 1) - v(n, 1, 0)) / (price(n, T + 1) - price(n, T - 1)); }));
}
