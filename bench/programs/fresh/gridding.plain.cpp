#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t side = a.size(0), count = a.size(1);
  constexpr int taps = 7, fine = 8;
  const float* __restrict uv = a.in<float>(0), * __restrict sample = a.in<float>(1), * __restrict kernel = a.in<float>(2);
  float* __restrict grid = a.out<float>(0);
  static std::vector<std::int32_t> of_hits;
  of_hits.assign(static_cast<std::size_t>(side * side), 0);
  std::int32_t* __restrict hits = of_hits.data();
  const auto cell = [&](float x) { return std::clamp<std::int64_t>(static_cast<std::int32_t>(x), 3, side - 4); };
  const auto part = [&](float x) {
    return static_cast<std::int32_t>((x - static_cast<float>(static_cast<std::int32_t>(x))) * fine);
  };
  for (std::int64_t n = 0; n < count; ++n) ++hits[cell(uv[2 * n + 1]) * side + cell(uv[2 * n])];
  std::fill(grid, grid + side * side * 2, 0.0f);
  float total = 0;
  for (std::int64_t n = 0; n < count; ++n) {
    const float u = uv[2 * n], v = uv[2 * n + 1];
    const std::int64_t x = cell(u), y = cell(v);
    const float weight = 1 / static_cast<float>(hits[y * side + x]);
    const float re = weight * sample[2 * n], im = weight * sample[2 * n + 1];
    total += weight;
    const float* __restrict across = kernel + part(u) * taps, * __restrict down = kernel + part(v) * taps;
    for (int dy = 0; dy < taps; ++dy) {
      float* __restrict row = grid + ((y + dy - 3) * side + x - 3) * 2;
      for (int dx = 0; dx < taps; ++dx) {
        const float k = down[dy] * across[dx];
        row[2 * dx] += k * re;
        row[2 * dx + 1] += k * im;
      }
    }
  }
  const float scale = 1 / total;
  for (std::int64_t i = 0; i < side * side * 2; ++i) grid[i] *= scale;
}
