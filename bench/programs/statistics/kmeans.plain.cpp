#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0);
  const float* __restrict x = a.in<float>(0), * __restrict centers = a.in<float>(1);
  float* __restrict sums = a.out<float>(0);
  std::int32_t* __restrict counts = a.out<std::int32_t>(1);
  for (int k = 0; k < 96; ++k) sums[k] = 0;
  for (int k = 0; k < 12; ++k) counts[k] = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    int nearest = 0;
    float least = 0;
    for (int c = 0; c < 12; ++c) {
      float s = 0;
      for (int d = 0; d < 8; ++d) s += (x[i * 8 + d] - centers[c * 8 + d]) * (x[i * 8 + d] - centers[c * 8 + d]);
      if (c == 0 || s < least) least = s, nearest = c;
    }
    for (int d = 0; d < 8; ++d) sums[nearest * 8 + d] += x[i * 8 + d];
    ++counts[nearest];
  }
}
