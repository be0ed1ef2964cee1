#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t batch = a.size(0), m = a.size(1), n = a.size(2);
  const float* __restrict A = a.in<float>(0), * __restrict y = a.in<float>(1);
  float* __restrict all = a.out<float>(0), * __restrict share = a.out<float>(1);
  static std::vector<float> kept;
  kept.resize(static_cast<std::size_t>(n));
  float* __restrict r = kept.data();
  for (std::int64_t b = 0; b < batch; ++b) {
    float* __restrict q = all + b * m * n;
    for (std::int64_t i = 0; i < m * n; ++i) q[i] = A[b * m * n + i];
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t j = k; j < n; ++j) r[j] = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        const float* __restrict row = q + i * n;
        const float v = row[k];
        for (std::int64_t j = k; j < n; ++j) r[j] += v * row[j];
      }
      const float square = r[k], scale = 1 / std::sqrt(square);
      for (std::int64_t j = k + 1; j < n; ++j) r[j] /= square;
      for (std::int64_t i = 0; i < m; ++i) {
        float* __restrict row = q + i * n;
        const float v = row[k];
        row[k] = v * scale;
        for (std::int64_t j = k + 1; j < n; ++j) row[j] -= v * r[j];
      }
    }
    for (std::int64_t j = 0; j < n; ++j) share[b * n + j] = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) share[b * n + j] += q[i * n + j] * y[b * m + i];
  }
}
