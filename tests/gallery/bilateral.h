#pragma once
// The bilateral grid by loops in double: every pixel asks the cells around its place and value, each of which is a sum over
// all cells within two steps of it. Nothing is blurred one axis after another.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

inline std::vector<double> bilateral_by_loops(const std::vector<std::uint8_t>& in, std::int64_t h, std::int64_t w, int cell,
                                              int step) {
  const std::int64_t rows = (h + cell - 1) / cell + 1, columns = (w + cell - 1) / cell + 1, levels = 256 / step + 1;
  const auto at = [&](std::int64_t y, std::int64_t x, std::int64_t z) {
    return static_cast<std::size_t>((y * columns + x) * levels + z);
  };
  const auto nearest = [](double v) { return static_cast<std::int64_t>(std::floor(v + 0.5)); };
  const auto size = static_cast<std::size_t>(rows * columns * levels);
  std::vector<double> sum(size), count(size), wide_sum(size), wide_count(size);
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const double v = in[static_cast<std::size_t>(y * w + x)];
      const std::size_t k =
          at(nearest(static_cast<double>(y) / cell), nearest(static_cast<double>(x) / cell), nearest(v / step));
      sum[k] += v, count[k] += 1;
    }
  const double weight[] = {1, 4, 6, 4, 1};
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x)
      for (std::int64_t z = 0; z < levels; ++z)
        for (std::int64_t dy = std::max<std::int64_t>(y - 2, 0); dy <= std::min(y + 2, rows - 1); ++dy)
          for (std::int64_t dx = std::max<std::int64_t>(x - 2, 0); dx <= std::min(x + 2, columns - 1); ++dx)
            for (std::int64_t dz = std::max<std::int64_t>(z - 2, 0); dz <= std::min(z + 2, levels - 1); ++dz) {
              const double share = weight[dy - y + 2] * weight[dx - x + 2] * weight[dz - z + 2];
              wide_sum[at(y, x, z)] += share * sum[at(dy, dx, dz)], wide_count[at(y, x, z)] += share * count[at(dy, dx, dz)];
            }
  std::vector<double> out;
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const int v = in[static_cast<std::size_t>(y * w + x)];
      double s = 0, n = 0;
      for (int k = 0; k < 8; ++k) {
        const double fy = static_cast<double>(y % cell) / cell, fx = static_cast<double>(x % cell) / cell;
        const double fz = static_cast<double>(v % step) / step;
        const double share = (k & 1 ? fy : 1 - fy) * (k & 2 ? fx : 1 - fx) * (k & 4 ? fz : 1 - fz);
        const std::size_t c = at(y / cell + (k & 1), x / cell + (k >> 1 & 1), v / step + (k >> 2));
        s += share * wide_sum[c], n += share * wide_count[c];
      }
      out.push_back(s / n);
    }
  return out;
}

// What f32 may differ by, relatively. All that is added is positive, so relative errors do not grow: each rounding adds at most
// u = 2^-24. Along z four additions, along x and y five roundings each (four additions and a product by 6), in the volume three
// times a product and an addition; the same for the count; the quotient. 2 (4 + 5 + 5 + 6) + 1 = 41.
inline constexpr double bilateral_bound = 42 * 0x1p-24;
