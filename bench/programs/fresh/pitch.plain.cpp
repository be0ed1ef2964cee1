#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t frames = a.size(0);
  constexpr int hop = 128, window = 256, lags = 128, shortest = 15;
  const std::int16_t* __restrict sound = a.in<std::int16_t>(0);
  std::int32_t* __restrict lag = a.out<std::int32_t>(0);
  float* __restrict period = a.out<float>(1);
  for (std::int64_t f = 0; f < frames; ++f) {
    const std::int16_t* __restrict x = sound + f * hop;
    float norm[lags];
    std::int64_t before = 0;
    for (int l = 0; l < lags; ++l) {
      std::int32_t apart = 0;
      for (int j = 0; j < window; ++j) {
        const std::int32_t d = x[j] - x[j + l + 1];
        apart += d * d;
      }
      before += apart;
      norm[l] = static_cast<float>(apart) * static_cast<float>(l + 1) / static_cast<float>(std::max<std::int64_t>(before, 1));
    }
    int best = shortest;
    for (int l = shortest; l < lags - 1; ++l) {
      if (norm[l] < 0.15f) {
        best = l;
        break;
      }
      if (norm[l] < norm[best]) best = l;
    }
    const float left = norm[best - 1], middle = norm[best], right = norm[best + 1], bend = left - 2 * middle + right;
    lag[f] = best + 1;
    period[f] = static_cast<float>(best + 1) + (std::fabs(bend) > 1e-6f ? 0.5f * (left - right) / bend : 0);
  }
}
