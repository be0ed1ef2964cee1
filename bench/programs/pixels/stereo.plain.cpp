#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t N = a.size(0);
  const float* __restrict x = a.in<float>(0), * __restrict w = a.in<float>(1);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t n = 0; n < N; ++n) {
    float l = 0, r = 0;
    for (int k = 0; k < 48; ++k) l += w[k] * x[2 * (2 * n + k)], r += w[k] * x[2 * (2 * n + k) + 1];
    y[2 * n] = l, y[2 * n + 1] = r;
  }
}
