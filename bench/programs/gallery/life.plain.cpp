#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1), wide = w + 2;
  static std::vector<std::uint8_t> kept;
  kept.resize(static_cast<std::size_t>((h + 2) * wide));
  std::uint8_t* __restrict rim = kept.data();
  const std::uint8_t* from = a.in<std::uint8_t>(0);
  std::uint8_t* __restrict out = a.out<std::uint8_t>(0);
  for (int g = 0; g < 2; ++g, from = out) {
    for (std::int64_t y = -1; y <= h; ++y) {
      const std::uint8_t* row = from + (y + h) % h * w;
      std::uint8_t* __restrict to = rim + (y + 1) * wide;
      to[0] = row[w - 1], to[w + 1] = row[0];
      std::copy(row, row + w, to + 1);
    }
    for (std::int64_t y = 0; y < h; ++y)
      for (std::int64_t x = 0; x < w; ++x) {
        const std::uint8_t *u = rim + y * wide + x, *m = u + wide, *d = m + wide;
        const auto around = static_cast<std::uint8_t>(u[0] + u[1] + u[2] + m[0] + m[2] + d[0] + d[1] + d[2]);
        out[y * w + x] = around == 3 ? 1 : around == 2 ? m[1] : 0;
      }
  }
}
