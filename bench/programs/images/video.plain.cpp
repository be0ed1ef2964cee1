#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/programs/plain.h"

namespace {
constexpr int space[5][5] = {{2, 4, 6, 4, 2}, {4, 10, 14, 10, 4}, {6, 14, 20, 14, 6}, {4, 10, 14, 10, 4}, {2, 4, 6, 4, 2}};
std::int64_t mirrored(std::int64_t i, std::int64_t n) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; }
std::uint8_t byte(int v) { return static_cast<std::uint8_t>(std::clamp(v >> 8, 0, 255)); }
}  // namespace

PLAIN(a) {
  const std::int64_t h = 2 * a.size(0), w = 2 * a.size(1), wide = w + 4;
  const std::uint8_t* __restrict luma = a.in<std::uint8_t>(0), * __restrict blue = a.in<std::uint8_t>(1), * __restrict red = a.in<std::uint8_t>(2);
  const std::int32_t* __restrict alike = a.in<std::int32_t>(3);
  std::uint8_t* __restrict rgb = a.out<std::uint8_t>(0);
  static std::vector<std::uint8_t> kept;
  kept.resize(static_cast<std::size_t>(wide * (h + 4)));
  std::uint8_t* __restrict padded = kept.data();
  for (std::int64_t y = -2; y < h + 2; ++y) {
    const std::uint8_t* __restrict from = luma + mirrored(y, h) * w;
    std::uint8_t* __restrict to = padded + (y + 2) * wide;
    std::copy(from, from + w, to + 2);
    to[0] = from[1], to[1] = from[0], to[w + 2] = from[w - 1], to[w + 3] = from[w - 2];
  }
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const std::uint8_t* __restrict window = padded + y * wide + x;
      const int center = window[2 * wide + 2];
      int total = 0, weighted = 0;
      for (int dy = 0; dy < 5; ++dy)
        for (int dx = 0; dx < 5; ++dx) {
          const int v = window[dy * wide + dx], weight = space[dy][dx] * alike[std::abs(center - v)];
          total += weight, weighted += weight * v;
        }
      const std::int64_t half = y / 2 * (w / 2) + x / 2;
      const int c = 298 * ((weighted + total / 2) / total - 16) + 128, d = blue[half] - 128, e = red[half] - 128;
      std::uint8_t* __restrict to = rgb + (y * w + x) * 3;
      to[0] = byte(c + 409 * e), to[1] = byte(c - 100 * d - 208 * e), to[2] = byte(c + 516 * d);
    }
}
