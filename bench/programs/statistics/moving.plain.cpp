#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t series = a.size(0), steps = a.size(1);
  const float* __restrict x = a.in<float>(0), * __restrict decay = a.in<float>(1);
  float* __restrict score = a.out<float>(0);
  for (std::int64_t s = 0; s < series; ++s) {
    float mean = 0, variance = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      const float value = x[s * steps + t];
      if (t == 0) {
        mean = value, variance = 0;
      } else {
        const float apart = value - mean, step = decay[s] * apart;
        variance = (1 - decay[s]) * (variance + apart * step);
        mean += step;
      }
      score[s * steps + t] = (value - mean) / std::sqrt(variance + 1e-3f);
    }
  }
}
