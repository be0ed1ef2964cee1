#include "bench/programs/plain.h"

PLAIN(a) {
  constexpr int k = 4;
  const std::int64_t m = a.size(0), n = a.size(1);
  const float* __restrict x = a.in<float>(0);
  float* __restrict value = a.out<float>(0);
  std::int32_t* __restrict column = a.out<std::int32_t>(1);
  for (std::int64_t i = 0; i < m; ++i) {
    const float* __restrict row = x + i * n;
    float best[k];
    std::int32_t where[k];
    int found = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      if (found == k && !(row[j] > best[k - 1])) continue;
      int at = found < k ? found++ : k - 1;
      for (; at > 0 && row[j] > best[at - 1]; --at) best[at] = best[at - 1], where[at] = where[at - 1];
      best[at] = row[j], where[at] = static_cast<std::int32_t>(j);
    }
    for (int q = 0; q < k; ++q) value[i * k + q] = best[q], column[i * k + q] = where[q];
  }
}
