#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0), steps = a.size(1);
  const double* __restrict A = a.in<double>(0), * __restrict b = a.in<double>(1);
  double* __restrict x = a.out<double>(0), * __restrict norm = a.out<double>(1);
  static std::vector<double> kept;
  kept.resize(static_cast<std::size_t>(3 * n));
  double* __restrict r = kept.data(), * __restrict d = kept.data() + n, * __restrict Ad = kept.data() + 2 * n;
  double rr = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = 0, r[i] = d[i] = b[i];
    rr += b[i] * b[i];
  }
  norm[0] = rr;
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t i = 0; i < n; ++i) Ad[i] = 0;
    for (std::int64_t k = 0; k < n; ++k) {  // A is symmetric: its columns are its rows
      const double v = d[k];
      for (std::int64_t i = 0; i < n; ++i) Ad[i] += A[k * n + i] * v;
    }
    double dAd = 0;
    for (std::int64_t i = 0; i < n; ++i) dAd += d[i] * Ad[i];
    const double alpha = rr / dAd;
    double next = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      x[i] += alpha * d[i];
      r[i] -= alpha * Ad[i];
    }
    for (std::int64_t i = 0; i < n; ++i) next += r[i] * r[i];
    const double beta = next / rr;
    for (std::int64_t i = 0; i < n; ++i) d[i] = r[i] + beta * d[i];
    norm[t + 1] = rr = next;
  }
}
