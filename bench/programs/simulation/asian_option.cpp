// simulation/asian_option.cpp: the price of options on the mean of a stock that end worthless where it reaches 130, by random
// paths: splitmix64, Box-Muller, and a volatility that is looked up by time and price.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol paths = p.size("paths", 370, {.min = 1}), steps = p.size("steps", 52, {.min = 1});
  const Tensor seed = p.in("seed", u64, {paths}, integers(0, std::int64_t{1} << 52)),
               volatility = p.in("volatility", f64, {steps, 17}, uniform(0.1, 0.4)),
               strike = p.in("strike", f64, {9}, uniform(85, 115));
  const Expr dt = 1.0 / f64(steps);
  const auto walk = recur(
      "walk", {steps + 1, paths}, Along{0}, Lag{1}, [&](Var, Var n) { return values(seed(n), f64(100), f64(0), u8(1)); },
      [&](Prior y, Var t, Var n) {
        const Expr state = y[0](t - 1, n) + 0x9E3779B97F4A7C15u, stock = y[1](t - 1, n);
        Expr z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z = z ^ (z >> 31);
        const Expr u = (f64(z >> 32) + 1) * 0x1p-32, v = f64(z & 0xffffffffu) * 0x1p-32;
        const Expr normal = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
        const Expr s = volatility(t - 1, clamp(i32(stock * 0.1), 0, 16));
        const Expr next = stock * exp((0.03 - 0.5 * s * s) * dt + s * sqrt(dt) * normal);
        return values(state, next, y[2](t - 1, n) + next, select(next < 130, y[3](t - 1, n), 0));
      });
  const Tensor total = walk[2], alive = walk[3];
  const Axis n{"n", paths};
  const Tensor gain = compute(
      "gain", {9}, [&](Var k) { return sum(select(alive(steps, n) != 0, max(total(steps, n) * dt - strike(k), 0), 0), n); });
  p.out(compute("price", {9}, [&](Var k) { return gain(k) / f64(paths) * 0.9704455335485082; }));
}
