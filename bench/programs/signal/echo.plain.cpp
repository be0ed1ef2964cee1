// signal/echo.plain.cpp
#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t channels = a.size(0), steps = a.size(1);
  const float* __restrict x = a.in<float>(0);
  const std::int32_t* __restrict delay = a.in<std::int32_t>(1);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t r = 0; r < channels; ++r) {
    float envelope = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      const float echo = x[r * steps + t] + 0.5f * (t >= delay[r] ? x[r * steps + t - delay[r]] : 0);
      envelope = t == 0 ? std::fabs(echo) : std::max(std::fabs(echo), envelope * 0.999f);
      y[r * steps + t] = envelope;
    }
  }
}
