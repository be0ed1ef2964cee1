#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t m = a.size(0), n = a.size(1);
  const float* __restrict x = a.in<float>(0), * __restrict scale = a.in<float>(1), * __restrict shift = a.in<float>(2);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t i = 0; i < m; ++i) {
    const float* __restrict row = x + i * n;
    float total = 0, squares = 0;
    for (std::int64_t j = 0; j < n; ++j) total += row[j];
    const float mean = total / static_cast<float>(n);
    for (std::int64_t j = 0; j < n; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const float by = 1 / std::sqrt(squares / static_cast<float>(n) + 1e-5f);
    for (std::int64_t j = 0; j < n; ++j) y[i * n + j] = (row[j] - mean) * by * scale[j] + shift[j];
  }
}
