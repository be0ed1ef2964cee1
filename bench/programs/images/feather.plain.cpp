#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1), wide = w + 2;
  const std::uint8_t* __restrict mask = a.in<std::uint8_t>(0), * __restrict front = a.in<std::uint8_t>(1), * __restrict back = a.in<std::uint8_t>(2);
  std::uint8_t* __restrict out = a.out<std::uint8_t>(0);
  static std::vector<std::uint16_t> kept;
  kept.assign(static_cast<std::size_t>(wide * (h + 2)), 10000);
  std::uint16_t* __restrict d = kept.data();
  static std::vector<std::uint8_t> of_shares;
  of_shares.resize(static_cast<std::size_t>(3 * w));
  std::uint8_t* __restrict share = of_shares.data();
  for (std::int64_t y = 0; y < h; ++y) {
    const std::uint16_t* __restrict above = d + y * wide;
    std::uint16_t* __restrict row = d + (y + 1) * wide;
    for (std::int64_t x = 1; x <= w; ++x) {
      const int near = std::min(std::min(above[x - 1], above[x + 1]) + 4, above[x] + 3);
      row[x] = static_cast<std::uint16_t>(mask[y * w + x - 1] > 0 ? 0 : near);
    }
    int left = 10000;
    for (std::int64_t x = 1; x <= w; ++x) {
      left = std::min<int>(row[x], left + 3);
      row[x] = static_cast<std::uint16_t>(left);
    }
  }
  for (std::int64_t y = h - 1; y >= 0; --y) {
    const std::uint16_t* __restrict below = d + (y + 2) * wide;
    std::uint16_t* __restrict row = d + (y + 1) * wide;
    for (std::int64_t x = 1; x <= w; ++x)
      row[x] =
          static_cast<std::uint16_t>(std::min<int>(row[x], std::min(std::min(below[x - 1], below[x + 1]) + 4, below[x] + 3)));
    int right = 10000;
    for (std::int64_t x = w; x >= 1; --x) {
      right = std::min<int>(row[x], right + 3);
      row[x] = static_cast<std::uint16_t>(right);
    }
    for (std::int64_t x = 0; x < w; ++x)
      share[3 * x] = share[3 * x + 1] = share[3 * x + 2] = static_cast<std::uint8_t>(std::min(row[x + 1] * 5, 255));
    const std::uint8_t* __restrict f = front + y * w * 3, * __restrict b = back + y * w * 3;
    std::uint8_t* __restrict to = out + y * w * 3;
    for (std::int64_t i = 0; i < 3 * w; ++i)
      to[i] = static_cast<std::uint8_t>((f[i] * (255 - share[i]) + b[i] * share[i] + 127) / 255);
  }
}
