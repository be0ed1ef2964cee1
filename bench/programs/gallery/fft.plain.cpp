#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  constexpr int bits = 6, n = 1 << bits, half = n / 2;
  const std::int64_t rows = a.size(0);
  const float* __restrict re = a.in<float>(0), * __restrict im = a.in<float>(1);
  float* __restrict out_re = a.out<float>(0), * __restrict out_im = a.out<float>(1);
  float c[bits][half], d[bits][half];
  for (int s = 0; s < bits; ++s)
    for (int r = 0; r < 1 << s; ++r) {
      const double angle = -3.14159265358979323846 * r / (1 << s);
      c[s][r] = static_cast<float>(std::cos(angle)), d[s][r] = static_cast<float>(std::sin(angle));
    }
  for (std::int64_t m = 0; m < rows; ++m) {
    float x[2][n], y[2][n];
    std::copy(re + m * n, re + (m + 1) * n, x[0]), std::copy(im + m * n, im + (m + 1) * n, y[0]);
    for (int s = 0; s < bits; ++s) {
      const int block = 1 << s;
      const float *fx = x[s % 2], *fy = y[s % 2];
      float* __restrict tx = s + 1 == bits ? out_re + m * n : x[(s + 1) % 2];
      float* __restrict ty = s + 1 == bits ? out_im + m * n : y[(s + 1) % 2];
      for (int q = 0; q < half / block; ++q)
        for (int r = 0; r < block; ++r) {
          const int at = q * block + r, to = 2 * q * block + r;
          const float u = c[s][r] * fx[at + half] - d[s][r] * fy[at + half],
                      v = c[s][r] * fy[at + half] + d[s][r] * fx[at + half];
          tx[to] = fx[at] + u, ty[to] = fy[at] + v, tx[to + block] = fx[at] - u, ty[to + block] = fy[at] - v;
        }
    }
  }
}
