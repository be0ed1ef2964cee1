// signal/resample.cpp: stereo of 48 kHz without its mean, then at 44.1 kHz: 147 filters of 24 taps, one for each phase.
#include <cmath>
#include <numbers>

#include "bench/programs/program.h"

namespace {
std::vector<int> low_pass() {  // a windowed sinc at the times k - 11 - phase / 147, in 14 bits behind the point
  std::vector<int> taps;
  const double cut = 147.0 / 160, pi = std::numbers::pi;
  for (int phase = 0; phase < 147; ++phase)
    for (int k = 0; k < 24; ++k) {
      const double t = k - 11 - phase / 147.0, a = pi * cut * t;
      const double sinc = std::abs(t) < 1e-9 ? 1 : std::sin(a) / a, window = 0.5 + 0.5 * std::cos(pi * t / 12.5);
      taps.push_back(static_cast<int>(std::lround(16384 * cut * sinc * window)));
    }
  return taps;
}
}  // namespace

PROGRAM(p) {
  const Symbol blocks = p.size("blocks", 149, {.min = 1});
  const Tensor x = p.in("x", i16, {blocks * 160 + 24, 2}, integers(-12000, 12000));
  const Tensor taps = p.in("taps", i16, {147, 24}, numbers(low_pass()));
  const Tensor steady = recur(
      "steady", {x.extent(0), 2}, Along{0}, Lag{1}, [&](Var, Var) { return i32(0); },
      [&](Prior s, Var t, Var c) { return i32(x(t, c)) - i32(x(t - 1, c)) + s(t - 1, c) - (s(t - 1, c) >> 8); });
  const Axis k{"k", 24};
  const Tensor filtered = compute("filtered", {blocks * 147, 2}, [&](Var n, Var c) {
    return sum(i32(taps(n * 160 % 147, k)) * steady(n * 160 / 147 + k, c), k);
  });
  p.out(compute("y", {blocks * 147, 2}, [&](Var n, Var c) { return saturate(i16, rounding_shr(filtered(n, c), 14)); }));
}
