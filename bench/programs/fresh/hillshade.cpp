// fresh/hillshade.cpp: a terrain lit from the north-west at 45 degrees: Horn's slopes, the shadows that ridges cast along the
// diagonal, and how many cells lie in each class of steepness. Cells are 30 m wide, elevations whole meters.
#include <cmath>

#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> terrain(int h, int w) {
  std::mt19937_64 engine(31);
  std::vector<std::int32_t> z;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      z.push_back(
          static_cast<std::int32_t>(900 + 350 * std::sin(x * 0.05) * std::cos(y * 0.07) + 120 * std::sin(0.21 * x + 0.17 * y)) +
          static_cast<std::int32_t>(engine() % 9));
  return z;
}
}  // namespace

PROGRAM(p) {
  const Symbol H = p.size("H", 301, {.min = 1}), W = p.size("W", 413, {.min = 1});
  const Tensor z = p.in("z", i16, {H, W}, numbers(terrain(301, 413)));
  const Tensor wide = boundary::repeat(z);
  const auto at = [&](const Expr& y, const Expr& x) { return i32(wide(y, x)); };
  const auto gradient = compute("gradient", {H, W}, [&](Var y, Var x) {
    const Expr gx =
        at(y - 1, x + 1) + 2 * at(y, x + 1) + at(y + 1, x + 1) - at(y - 1, x - 1) - 2 * at(y, x - 1) - at(y + 1, x - 1);
    const Expr gy =
        at(y + 1, x - 1) + 2 * at(y + 1, x) + at(y + 1, x + 1) - at(y - 1, x - 1) - 2 * at(y - 1, x) - at(y - 1, x + 1);
    return values(gx, gy);
  });
  const Tensor horizon = recur(
      "horizon", {H, W}, Along{0}, Lag{1}, [&](Var y, Var x) { return i32(z(y, x)) * 10; },
      [&](Prior up, Var y, Var x) {
        const Expr here = i32(z(y, x)) * 10;
        return select(x > 0, max(up(y - 1, x - 1) - 424, here), here);
      });
  p.out(compute("shade", {H, W}, [&](Var y, Var x) {
    const Expr px = f32(gradient[0](y, x)) * (1.0f / 240), py = f32(gradient[1](y, x)) * (1.0f / 240);
    const Expr light = max((0.70710678f + 0.5f * px + 0.5f * py) / sqrt(1 + px * px + py * py), 0);
    return light * select(horizon(y, x) > i32(z(y, x)) * 10, 0.4f, 1.0f);
  }));
  const auto steepness = [&](Var y, Var x) {
    const Expr gx = gradient[0](y, x), gy = gradient[1](y, x), square = gx * gx + gy * gy;
    return i32(square > 400) + i32(square > 2500) + i32(square > 10000) + i32(square > 40000);
  };
  p.out(scatter("classes", {5}, Combine::add, 0, {H, W}, [&](Var y, Var x) { return put(1, clamp(steepness(y, x), 0, 4)); }));
}
