#include <algorithm>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t H = a.size(0), W = a.size(1);
  const std::uint8_t* __restrict x = a.in<std::uint8_t>(0);
  const std::int32_t* __restrict w = a.in<std::int32_t>(1);
  std::uint8_t* __restrict y = a.out<std::uint8_t>(0);
  for (std::int64_t j = 0; j < H; ++j) {
    const std::uint8_t* __restrict rows[3];
    for (int r = 0; r < 3; ++r) rows[r] = x + std::clamp<std::int64_t>(j + r - 1, 0, H - 1) * W * 3;
    for (const std::int64_t i : {std::int64_t{0}, W - 1})
      for (int c = 0; c < 3; ++c) {
        std::int32_t s = 0;
        for (int r = 0; r < 3; ++r)
          for (int k = 0; k < 3; ++k) s += w[r * 3 + k] * rows[r][std::clamp<std::int64_t>(i + k - 1, 0, W - 1) * 3 + c];
        y[(j * W + i) * 3 + c] = static_cast<std::uint8_t>(std::clamp(s >> 8, 0, 255));
      }
    for (std::int64_t i = 3; i < 3 * W - 3; ++i) {
      std::int32_t s = 0;
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) s += w[r * 3 + k] * rows[r][i + 3 * k - 3];
      y[j * W * 3 + i] = static_cast<std::uint8_t>(std::clamp(s >> 8, 0, 255));
    }
  }
}
