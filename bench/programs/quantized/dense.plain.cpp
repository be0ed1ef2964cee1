#include <algorithm>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t rows = a.size(0), n = a.size(1), outputs = a.size(2);
  const std::uint8_t* __restrict x = a.in<std::uint8_t>(0);
  const std::int8_t* __restrict w = a.in<std::int8_t>(1);
  const std::int32_t* __restrict bias = a.in<std::int32_t>(2), * __restrict scale = a.in<std::int32_t>(3);
  const std::uint8_t* __restrict table = a.in<std::uint8_t>(4);
  std::uint8_t* __restrict y = a.out<std::uint8_t>(0);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t o = 0; o < outputs; ++o) {
      std::int32_t total = bias[o];
      for (std::int64_t k = 0; k < n; ++k) total += x[r * n + k] * w[o * n + k];
      y[r * outputs + o] = table[std::clamp(((total >> 6) * scale[o] >> 8) + 128, 0, 255)];
    }
}
