#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t nodes = a.size(0);
  const std::int32_t* __restrict first = a.in<std::int32_t>(0), * __restrict col = a.in<std::int32_t>(1);
  const double* __restrict block = a.in<double>(2), * __restrict inverse = a.in<double>(3);
  const double* __restrict b = a.in<double>(4), * __restrict x = a.in<double>(5);
  double* __restrict y = a.out<double>(0);
  for (std::int64_t i = 0; i < nodes; ++i) {
    double r0 = b[i * 3], r1 = b[i * 3 + 1], r2 = b[i * 3 + 2];
    for (std::int64_t e = first[i]; e < first[i + 1]; ++e) {
      const double* __restrict k = block + e * 9;
      const double* __restrict u = x + static_cast<std::int64_t>(col[e]) * 3;
      r0 -= k[0] * u[0] + k[1] * u[1] + k[2] * u[2];
      r1 -= k[3] * u[0] + k[4] * u[1] + k[5] * u[2];
      r2 -= k[6] * u[0] + k[7] * u[1] + k[8] * u[2];
    }
    const double* __restrict d = inverse + i * 9;
    for (int r = 0; r < 3; ++r) y[i * 3 + r] = x[i * 3 + r] + 0.7 * (d[r * 3] * r0 + d[r * 3 + 1] * r1 + d[r * 3 + 2] * r2);
  }
}
