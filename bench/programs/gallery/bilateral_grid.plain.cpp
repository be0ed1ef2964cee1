#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

namespace {
// 1 4 6 4 1 along the middle one of three dimensions; 0 beyond its ends.
void blur(const float* __restrict from, float* __restrict to, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  constexpr float weight[5] = {1, 4, 6, 4, 1};
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < n; ++i) {
      float* __restrict row = to + (o * n + i) * inner;
      std::fill(row, row + inner, 0.f);
      for (std::int64_t d = std::max<std::int64_t>(-2, -i); d <= std::min<std::int64_t>(2, n - 1 - i); ++d)
        for (std::int64_t k = 0; k < inner; ++k) row[k] += weight[d + 2] * from[(o * n + i + d) * inner + k];
    }
}
}  // namespace

PLAIN(a) {
  constexpr std::int64_t cell = 8, step = 32, levels = 9;
  const std::int64_t h = a.size(0), w = a.size(1), rows = (h + cell - 1) / cell + 1, columns = (w + cell - 1) / cell + 1;
  const std::uint8_t* __restrict in = a.in<std::uint8_t>(0);
  float* __restrict out = a.out<float>(0);
  static std::vector<float> kept, other;  // of each cell the sum of values, and how many
  const std::int64_t plane = columns * levels * 2;
  kept.assign(static_cast<std::size_t>(rows * plane), 0), other.assign(static_cast<std::size_t>(rows * plane), 0);
  float* __restrict grid = kept.data();
  float* __restrict blurred = other.data();
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const int v = in[y * w + x];
      float* __restrict g =
          grid + (((y + cell / 2) / cell * columns + (x + cell / 2) / cell) * levels + (v + step / 2) / step) * 2;
      g[0] += static_cast<float>(v), g[1] += 1;
    }
  blur(grid, blurred, rows * columns, levels, 2);
  blur(blurred, grid, rows, columns, levels * 2);
  blur(grid, blurred, 1, rows, plane);
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const std::int64_t v = in[y * w + x], z = v / step;
      const float fy = static_cast<float>(y % cell) / cell, fx = static_cast<float>(x % cell) / cell,
                  fz = static_cast<float>(v % step) / step;
      const float* __restrict g = blurred + (y / cell * columns + x / cell) * levels * 2 + z * 2;
      float found[2];
      for (int k = 0; k < 2; ++k) {
        const auto at = [&](std::int64_t dy, std::int64_t dx) {
          const float* __restrict c = g + dy * plane + dx * levels * 2 + k;
          return c[0] * (1 - fz) + c[2] * fz;
        };
        found[k] = (at(0, 0) * (1 - fx) + at(0, 1) * fx) * (1 - fy) + (at(1, 0) * (1 - fx) + at(1, 1) * fx) * fy;
      }
      out[y * w + x] = found[0] / found[1];
    }
}
