#include <algorithm>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0), c = a.size(1), o = a.size(2), h = a.size(3), w = a.size(4), ho = h - 2, wo = w - 2;
  const float* __restrict x = a.in<float>(0), * __restrict k = a.in<float>(1), * __restrict dy = a.in<float>(2);
  float* __restrict dx = a.out<float>(0), * __restrict dw = a.out<float>(1);
  std::fill(dx, dx + n * c * h * w, 0.f), std::fill(dw, dw + o * c * 9, 0.f);
  for (std::int64_t b = 0; b < n; ++b)
    for (std::int64_t q = 0; q < o; ++q)
      for (std::int64_t p = 0; p < c; ++p)
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t s = 0; s < 3; ++s) {
            const float weight = k[((q * c + p) * 3 + r) * 3 + s];
            float sum = 0;
            for (std::int64_t i = 0; i < ho; ++i) {
              const float *from = dy + ((b * o + q) * ho + i) * wo, *in = x + ((b * c + p) * h + i + r) * w + s;
              float* __restrict to = dx + ((b * c + p) * h + i + r) * w + s;
              for (std::int64_t j = 0; j < wo; ++j) to[j] += weight * from[j], sum += in[j] * from[j];
            }
            dw[((q * c + p) * 3 + r) * 3 + s] += sum;
          }
}
