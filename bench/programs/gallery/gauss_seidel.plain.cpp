#include <algorithm>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t m = a.size(0), n = a.size(1);
  float* __restrict u = a.out<float>(0);
  std::copy(a.in<float>(0), a.in<float>(0) + m * n, u);
  for (int sweep = 0; sweep < 2; ++sweep)
    for (std::int64_t i = 1; i < m - 1; ++i) {
      const float *up = u + (i - 1) * n, *down = u + (i + 1) * n;
      float* row = u + i * n;
      for (std::int64_t j = 1; j < n - 1; ++j) row[j] = (up[j] + row[j - 1] + down[j] + row[j + 1]) * 0.25f;
    }
}
