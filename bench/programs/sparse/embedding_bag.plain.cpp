#include <algorithm>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t count = a.size(0);
  const std::int32_t* __restrict first = a.in<std::int32_t>(0), * __restrict which = a.in<std::int32_t>(1);
  const float* __restrict table = a.in<float>(2);
  float* __restrict out = a.out<float>(0);
  for (std::int64_t b = 0; b < count; ++b) {
    float sum[64] = {};
    for (std::int64_t e = first[b]; e < first[b + 1]; ++e) {
      const float* __restrict row = table + static_cast<std::int64_t>(which[e]) * 64;
      for (int d = 0; d < 64; ++d) sum[d] += row[d];
    }
    const float n = static_cast<float>(std::max(first[b + 1] - first[b], 1));
    for (int d = 0; d < 64; ++d) out[b * 64 + d] = sum[d] / n;
  }
}
