#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  constexpr std::int64_t radius = 7;
  const std::int64_t h = a.size(0), w = a.size(1), wide = w + 1;
  const std::uint8_t* __restrict in = a.in<std::uint8_t>(0);
  std::uint8_t* __restrict out = a.out<std::uint8_t>(0);
  static std::vector<std::uint32_t> kept;
  kept.assign(static_cast<std::size_t>((h + 1) * wide), 0);
  std::uint32_t* __restrict table = kept.data();
  for (std::int64_t y = 0; y < h; ++y) {
    std::uint32_t row = 0;
    for (std::int64_t x = 0; x < w; ++x) row += in[y * w + x], table[(y + 1) * wide + x + 1] = table[y * wide + x + 1] + row;
  }
  for (std::int64_t y = 0; y < h; ++y) {
    const std::int64_t top = std::max<std::int64_t>(y - radius, 0), bottom = std::min(y + radius + 1, h);
    const std::uint32_t *up = table + top * wide, *down = table + bottom * wide;
    for (std::int64_t x = 0; x < w; ++x) {
      const std::int64_t left = std::max<std::int64_t>(x - radius, 0), right = std::min(x + radius + 1, w);
      const std::uint32_t total = down[right] - up[right] - down[left] + up[left],
                          area = static_cast<std::uint32_t>((bottom - top) * (right - left));
      out[y * w + x] = static_cast<std::uint8_t>((total + area / 2) / area);
    }
  }
}
