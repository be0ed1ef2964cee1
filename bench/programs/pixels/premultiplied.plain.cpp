#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0) * a.size(1);
  const std::uint8_t* __restrict x = a.in<std::uint8_t>(0);
  std::uint8_t* __restrict y = a.out<std::uint8_t>(0);
  for (std::int64_t i = 0; i < n; ++i)
    for (int c = 0; c < 4; ++c) {
      const std::uint16_t t = static_cast<std::uint16_t>(x[4 * i + c] * (c < 3 ? x[4 * i + 3] : 255) + 128);
      y[4 * i + c] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(t + (t >> 8)) >> 8);
    }
}
