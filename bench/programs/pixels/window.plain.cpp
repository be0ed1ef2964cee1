#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t H = a.size(0), W = a.size(1);
  const float* __restrict x = a.in<float>(0), * __restrict w = a.in<float>(1);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t j = 0; j < H; ++j)
    for (std::int64_t i = 0; i < 3 * W; ++i) {
      float s = 0;
      for (int r = 0; r < 5; ++r)
        for (int k = 0; k < 5; ++k) s += w[r * 5 + k] * x[(j + r) * (W + 4) * 3 + i + 3 * k];
      y[j * W * 3 + i] = s;
    }
}
