#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

namespace {
std::int32_t requantized(std::int32_t acc, std::int32_t multiplier, std::int32_t shift, std::int32_t zero) {
  const auto high = static_cast<std::int32_t>((static_cast<std::int64_t>(acc) * multiplier + (1 << 30)) >> 31);
  return std::clamp(((high + (1 << (shift - 1))) >> shift) + zero, -128, 127);
}
}  // namespace

PLAIN(a) {
  const std::int64_t n = a.size(0), h = a.size(1), w = a.size(2), c = a.size(3), o = a.size(4);
  const std::int8_t* __restrict x = a.in<std::int8_t>(0), * __restrict dw = a.in<std::int8_t>(1), * __restrict pw = a.in<std::int8_t>(2);
  const std::int32_t* __restrict db = a.in<std::int32_t>(3), * __restrict dm = a.in<std::int32_t>(4), * __restrict ds = a.in<std::int32_t>(5), * __restrict pb = a.in<std::int32_t>(6), * __restrict pm = a.in<std::int32_t>(7), * __restrict ps = a.in<std::int32_t>(8);
  std::int8_t* __restrict y = a.out<std::int8_t>(0);
  static std::vector<std::int32_t> kept, of_point;
  kept.resize(static_cast<std::size_t>(c)), of_point.resize(static_cast<std::size_t>(o));
  std::int32_t* __restrict depth = kept.data();
  std::int32_t* __restrict sums = of_point.data();
  for (std::int64_t b = 0; b < n; ++b)
    for (std::int64_t i = 0; i < h; ++i)
      for (std::int64_t j = 0; j < w; ++j) {
        std::copy(db, db + c, depth);
        for (std::int64_t r = std::max<std::int64_t>(0, 1 - i); r < std::min<std::int64_t>(3, h + 1 - i); ++r)
          for (std::int64_t s = std::max<std::int64_t>(0, 1 - j); s < std::min<std::int64_t>(3, w + 1 - j); ++s) {
            const std::int8_t* __restrict in = x + ((b * h + i + r - 1) * w + j + s - 1) * c;
            for (std::int64_t q = 0; q < c; ++q) depth[q] += (in[q] - 3) * dw[(r * 3 + s) * c + q];
          }
        for (std::int64_t q = 0; q < c; ++q) depth[q] = requantized(depth[q], dm[q], ds[q], -5) + 5;
        std::copy(pb, pb + o, sums);
        for (std::int64_t q = 0; q < c; ++q)
          for (std::int64_t k = 0; k < o; ++k) sums[k] += depth[q] * pw[q * o + k];
        for (std::int64_t k = 0; k < o; ++k)
          y[((b * h + i) * w + j) * o + k] = static_cast<std::int8_t>(requantized(sums[k], pm[k], ps[k], 7));
      }
}
