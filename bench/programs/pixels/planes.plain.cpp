#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0) * a.size(1);
  const float* __restrict x = a.in<float>(0);
  std::uint8_t* __restrict y = a.out<std::uint8_t>(0);
  for (std::int64_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c)
      y[3 * i + c] = static_cast<std::uint8_t>(std::clamp(static_cast<int>(std::nearbyint(x[c * n + i] * 255.f)), 0, 255));
}
