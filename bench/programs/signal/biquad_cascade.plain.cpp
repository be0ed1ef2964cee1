#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t channels = a.size(0), steps = a.size(1);
  const float* __restrict x = a.in<float>(0);
  const float* __restrict c = a.in<float>(1);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t r = 0; r < channels; ++r) {
    float x1 = 0, x2 = 0, u1 = 0, u2 = 0, y1 = 0, y2 = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      const float now = x[r * steps + t];
      const float u = c[0] * now + c[1] * x1 + c[2] * x2 - c[3] * u1 - c[4] * u2;
      const float v = c[5] * u + c[6] * u1 + c[7] * u2 - c[8] * y1 - c[9] * y2;
      x2 = x1, x1 = now, u2 = u1, u1 = u, y2 = y1, y1 = v;
      y[r * steps + t] = v;
    }
  }
}
