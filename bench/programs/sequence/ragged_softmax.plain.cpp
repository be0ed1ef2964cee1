#include <cmath>
#include <limits>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t sequences = a.size(0);
  const std::int32_t* __restrict start = a.in<std::int32_t>(0);
  const float* __restrict x = a.in<float>(2);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t r = 0; r < sequences; ++r) {
    float top = std::numeric_limits<float>::lowest(), total = 0;
    for (std::int64_t k = start[r]; k < start[r + 1]; ++k) top = x[k] > top ? x[k] : top;
    for (std::int64_t k = start[r]; k < start[r + 1]; ++k) {
      y[k] = std::exp(x[k] - top);
      total += y[k];
    }
    const float share = 1 / total;
    for (std::int64_t k = start[r]; k < start[r + 1]; ++k) y[k] *= share;
  }
}
