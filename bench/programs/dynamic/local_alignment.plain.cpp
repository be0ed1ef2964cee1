#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t pairs = a.size(0), n = a.size(1), m = a.size(2);
  const std::uint8_t* __restrict s = a.in<std::uint8_t>(0), * __restrict r = a.in<std::uint8_t>(1);
  const std::int8_t* __restrict table = a.in<std::int8_t>(2);
  std::int16_t* __restrict best = a.out<std::int16_t>(0);
  static std::vector<std::int16_t> space;
  space.resize(static_cast<std::size_t>(2 * (m + 1)));
  std::int16_t* __restrict h = space.data(), * __restrict f = h + m + 1;  // a row of each, overwritten by the next
  for (std::int64_t p = 0; p < pairs; ++p) {
    std::fill(h, h + m + 1, std::int16_t{0});
    std::fill(f, f + m + 1, std::int16_t{-10000});
    int top = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int8_t* __restrict score = table + s[p * n + i] * 24;
      int e = -10000, diagonal = h[0], left = h[0];
      for (std::int64_t j = 1; j <= m; ++j) {
        e = std::max(e - 1, left - 11);
        const int down = std::max(f[j] - 1, h[j] - 11);
        left = std::max(std::max(0, diagonal + score[r[p * m + j - 1]]), std::max(e, down));
        diagonal = h[j];
        f[j] = static_cast<std::int16_t>(down), h[j] = static_cast<std::int16_t>(left);
        top = std::max(top, left);
      }
    }
    best[p] = static_cast<std::int16_t>(top);
  }
}
