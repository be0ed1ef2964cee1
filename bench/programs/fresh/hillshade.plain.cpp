#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1);
  constexpr std::int32_t drop = 424;  // decimeters from a cell to the next one along the diagonal
  constexpr float unit = 1.0f / 240, low = 0.70710678f, side = 0.5f;
  const std::int16_t* __restrict z = a.in<std::int16_t>(0);
  float* __restrict shade = a.out<float>(0);
  std::int32_t* __restrict classes = a.out<std::int32_t>(1);
  static std::vector<std::int32_t> of_horizon;
  of_horizon.resize(static_cast<std::size_t>(2 * w));
  std::int32_t counts[5] = {};
  const auto point = [&](std::int64_t y, std::int64_t x, std::int64_t l, std::int64_t r, std::int32_t horizon) {
    const std::int16_t* __restrict up = z + std::max<std::int64_t>(y - 1, 0) * w;
    const std::int16_t* __restrict here = z + y * w;
    const std::int16_t* __restrict down = z + std::min(y + 1, h - 1) * w;
    const std::int32_t gx = up[r] + 2 * here[r] + down[r] - up[l] - 2 * here[l] - down[l];
    const std::int32_t gy = down[l] + 2 * down[x] + down[r] - up[l] - 2 * up[x] - up[r];
    const std::int32_t square = gx * gx + gy * gy;
    ++counts[(square > 400) + (square > 2500) + (square > 10000) + (square > 40000)];
    const float p = static_cast<float>(gx) * unit, q = static_cast<float>(gy) * unit;
    const float light = std::max((low + side * p + side * q) / std::sqrt(1 + p * p + q * q), 0.0f);
    shade[y * w + x] = light * (horizon > here[x] * 10 ? 0.4f : 1.0f);
  };
  for (std::int64_t y = 0; y < h; ++y) {
    const std::int16_t* __restrict here = z + y * w;
    const std::int32_t* __restrict before = of_horizon.data() + (y + 1) % 2 * w;
    std::int32_t* __restrict horizon = of_horizon.data() + y % 2 * w;
    horizon[0] = here[0] * 10;
    if (y == 0)
      for (std::int64_t x = 1; x < w; ++x) horizon[x] = here[x] * 10;
    else
      for (std::int64_t x = 1; x < w; ++x) horizon[x] = std::max(before[x - 1] - drop, here[x] * 10);
    point(y, 0, 0, std::min<std::int64_t>(1, w - 1), horizon[0]);
    for (std::int64_t x = 1; x < w - 1; ++x) point(y, x, x - 1, x + 1, horizon[x]);
    if (w > 1) point(y, w - 1, w - 2, w - 1, horizon[w - 1]);
  }
  for (int c = 0; c < 5; ++c) classes[c] = counts[c];
}
