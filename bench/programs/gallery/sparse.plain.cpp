#include <algorithm>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t m = a.size(0), n = a.size(2);
  const std::int32_t* __restrict first = a.in<std::int32_t>(0), * __restrict col = a.in<std::int32_t>(1);
  const float* __restrict val = a.in<float>(2), * __restrict b = a.in<float>(3);
  float* __restrict c = a.out<float>(0);
  for (std::int64_t i = 0; i < m; ++i) {
    float* __restrict row = c + i * n;
    std::fill(row, row + n, 0.f);
    for (std::int32_t e = first[i]; e < first[i + 1]; ++e)
      for (std::int64_t j = 0; j < n; ++j) row[j] += val[e] * b[col[e] * n + j];
  }
}
