#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1);
  const std::int32_t* __restrict image = a.in<std::int32_t>(0);
  std::int32_t* __restrict last = a.out<std::int32_t>(0);
  static std::vector<std::int32_t> rows;
  rows.resize(static_cast<std::size_t>(2 * w));
  for (std::int64_t y = 0; y < h; ++y) {
    const std::int32_t* __restrict row = image + y * w, * __restrict above = image + std::max<std::int64_t>(y - 1, 0) * w, * __restrict below = image + std::min(y + 1, h - 1) * w;
    const std::int32_t* __restrict before = rows.data() + (y + 1) % 2 * w;
    std::int32_t* __restrict now = y + 1 == h ? last : rows.data() + y % 2 * w;
    const auto point = [&](std::int64_t x, std::int64_t l, std::int64_t r) {
      const std::int32_t energy = std::abs(row[r] - row[l]) + std::abs(below[x] - above[x]);
      now[x] = y == 0 ? energy : energy + std::min(std::min(before[l], before[x]), before[r]);
    };
    point(0, 0, std::min<std::int64_t>(1, w - 1));
    for (std::int64_t x = 1; x + 1 < w; ++x) point(x, x - 1, x + 1);
    if (w > 1) point(w - 1, w - 2, w - 1);
  }
}
