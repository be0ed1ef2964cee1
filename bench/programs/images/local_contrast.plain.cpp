#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

namespace {
std::int32_t floored(std::int32_t a, std::int32_t b) { return a / b - (a % b < 0 ? 1 : 0); }
}  // namespace

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1);
  const std::uint8_t* __restrict photo = a.in<std::uint8_t>(0);
  std::uint8_t* __restrict out = a.out<std::uint8_t>(0);
  static std::vector<std::int32_t> of_gray, of_rows, of_window;
  of_gray.resize(static_cast<std::size_t>(h * w)), of_rows.resize(static_cast<std::size_t>(h * w)),
      of_window.resize(static_cast<std::size_t>(w));
  std::int32_t* __restrict gray = of_gray.data(), * __restrict rows = of_rows.data(), * __restrict window = of_window.data();
  for (std::int64_t i = 0; i < h * w; ++i) gray[i] = (photo[3 * i] * 77 + photo[3 * i + 1] * 150 + photo[3 * i + 2] * 29) >> 8;
  for (std::int64_t y = 0; y < h; ++y) {
    const std::int32_t* __restrict g = gray + y * w;
    for (std::int64_t x = 0; x < w; ++x) {
      std::int32_t s = 0;
      if (x >= 3 && x + 3 < w)
        for (std::int64_t r = -3; r <= 3; ++r) s += g[x + r];
      else
        for (std::int64_t r = -3; r <= 3; ++r) s += g[std::clamp<std::int64_t>(x + r, 0, w - 1)];
      rows[y * w + x] = s;
    }
  }
  for (std::int64_t y = 0; y < h; ++y) {
    for (std::int64_t x = 0; x < w; ++x) window[x] = 0;
    for (std::int64_t r = -3; r <= 3; ++r) {
      const std::int32_t* __restrict from = rows + std::clamp<std::int64_t>(y + r, 0, h - 1) * w;
      for (std::int64_t x = 0; x < w; ++x) window[x] += from[x];
    }
    for (std::int64_t x = 0; x < w; ++x) {
      const std::int32_t mean = window[x] / 49;
      out[y * w + x] = static_cast<std::uint8_t>(std::clamp(mean + floored((gray[y * w + x] - mean) * 3, 2), 0, 255));
    }
  }
}
