#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t batch = a.size(0), m = a.size(1), n = a.size(2);
  const float* __restrict A = a.in<float>(0), * __restrict v = a.in<float>(1);
  float* __restrict y = a.out<float>(0);
  static std::vector<float> kept;
  kept.resize(static_cast<std::size_t>(n));
  float* __restrict along = kept.data();
  for (std::int64_t b = 0; b < batch; ++b) {
    const float* __restrict Ab = A + b * m * n, * __restrict vb = v + b * m;
    float square = 0;
    for (std::int64_t i = 0; i < m; ++i) square += vb[i] * vb[i];
    for (std::int64_t j = 0; j < n; ++j) along[j] = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) along[j] += vb[i] * Ab[i * n + j];
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) y[b * m * n + i * n + j] = Ab[i * n + j] - 2 * vb[i] * along[j] / square;
  }
}
