// signal/spikes.cpp: a median of five removes spikes of each channel, a smoothed level is held to a slow one, and a trigger
// with hysteresis says when the channel is active; how often it became so.
#include "bench/programs/program.h"

namespace {
using ashlar::Expr;

Expr median(const Expr& a, const Expr& b, const Expr& c, const Expr& d, const Expr& e) {
  const Expr low = max(min(a, b), min(c, d)), high = min(max(a, b), max(c, d));
  return max(min(low, high), min(max(low, high), e));
}
}  // namespace

PROGRAM(p) {
  const Symbol channels = p.size("channels", 21, {.min = 1}), samples = p.size("samples", 3001, {.min = 1});
  const Tensor raw = p.in("raw", i16, {channels, samples}, integers(-20000, 20000));
  const Tensor wide = boundary::repeat(raw, {1});
  const Tensor strength = compute("strength", {channels, samples}, [&](Var c, Var t) {
    const auto at = [&](int d) { return wide(c, t + d); };
    return abs(i32(median(at(-2), at(-1), at(0), at(1), at(2)))) * 256;
  });
  const Tensor level = recur(
      "level", {channels, samples}, Along{1}, Lag{1}, [&](Var c, Var t) { return strength(c, t); },
      [&](Prior y, Var c, Var t) { return y(c, t - 1) + ((strength(c, t) - y(c, t - 1)) >> 3); });
  const Tensor base = recur(
      "base", {channels, samples}, Along{1}, Lag{1}, [&](Var c, Var t) { return level(c, t); },
      [&](Prior y, Var c, Var t) { return y(c, t - 1) + ((level(c, t) - y(c, t - 1)) >> 8); });
  const Tensor active = recur(
      "active", {channels, samples}, Along{1}, Lag{1}, [&](Var, Var) { return u8(0); },
      [&](Prior on, Var c, Var t) {
        const Expr b = base(c, t);
        return select(level(c, t) > b + b / 4, 1, select(level(c, t) < b - b / 8, 0, on(c, t - 1)));
      });
  p.out(active);
  const Axis t{"t", 1, samples};
  p.out(compute("starts", {channels}, [&](Var c) { return sum(i32(active(c, t) > active(c, t - 1)), t); }));
}
