// fresh/pitch.cpp: the pitch of every frame of a recording (YIN). A frame is compared with itself at 128 lags; the squared
// difference is divided by the mean of those at shorter lags; the first lag that lies below a threshold, or else the best one,
// is refined by a parabola.
#include <cmath>

#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> voice(int samples) {  // a tone that glides, its second partial, and noise
  std::mt19937_64 engine(11);
  std::vector<std::int32_t> x;
  double phase = 0;
  for (int t = 0; t < samples; ++t) {
    phase += 6.283185307179586 / (60 + 30 * std::sin(t * 0.0005));
    x.push_back(static_cast<std::int32_t>(500 * std::sin(phase) + 250 * std::sin(2 * phase + 1)) +
                static_cast<std::int32_t>(engine() % 201) - 100);
  }
  return x;
}
}  // namespace

PROGRAM(p) {
  const Symbol F = p.size("F", 61, {.min = 1});
  const Tensor x = p.in("x", i16, {128 * F + 256}, numbers(voice(128 * 61 + 256)));
  const Axis j{"j", 256};
  const Tensor apart = compute("apart", {F, 128}, [&](Var f, Var l) {
    const Expr d = i32(x(128 * f + j)) - i32(x(128 * f + j + l + 1));
    return sum(d * d, j);
  });
  const Tensor before =
      scan("before", {F, 128}, Along{1}, Combine::add, [&](Var f, Var l) { return i64(apart(f, l)); }, Scan::inclusive);
  const Tensor norm =
      compute("norm", {F, 128}, [&](Var f, Var l) { return f32(apart(f, l)) * f32(l + 1) / f32(max(before(f, l), 1)); });
  const Axis l{"l", 15, 127};
  const Tensor first = compute("first", {F}, [&](Var f) { return minimum(select(norm(f, l) < 0.15f, i32(l), 127), l); });
  const auto least = compute("least", {F}, [&](Var f) { return argmin(norm(f, l), l); });
  const Tensor lag = compute("lag", {F}, [&](Var f) { return select(first(f) < 127, first(f), i32(least[1](f))) + 1; });
  p.out(lag);
  p.out(compute("period", {F}, [&](Var f) {
    const Expr at = clamp(lag(f), 16, 127) - 1;
    const Expr left = norm(f, at - 1), middle = norm(f, at), right = norm(f, at + 1), bend = left - 2 * middle + right;
    return f32(lag(f)) + select(abs(bend) > 1e-6f, 0.5f * (left - right) / bend, 0);
  }));
}
