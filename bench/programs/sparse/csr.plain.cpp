#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t rows = a.size(0);
  const std::int32_t* __restrict first = a.in<std::int32_t>(0), * __restrict col = a.in<std::int32_t>(1);
  const float* __restrict val = a.in<float>(2), * __restrict x = a.in<float>(3);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t i = 0; i < rows; ++i) {
    float s = 0;
    for (std::int64_t e = first[i]; e < first[i + 1]; ++e) s += val[e] * x[col[e]];
    y[i] = s;
  }
}
