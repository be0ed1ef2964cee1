#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t m = a.size(0), n = a.size(1);
  const float* __restrict x = a.in<float>(0);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t i = 0; i < m; ++i) {
    const float* __restrict row = x + i * n;
    float* __restrict out = y + i * n;
    float most = row[0], total = 0;
    for (std::int64_t j = 1; j < n; ++j) most = std::max(most, row[j]);
    for (std::int64_t j = 0; j < n; ++j) out[j] = std::exp(row[j] - most), total += out[j];
    for (std::int64_t j = 0; j < n; ++j) out[j] /= total;
  }
}
