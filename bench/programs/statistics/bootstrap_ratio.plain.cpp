#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0), draws = a.size(1);
  const double* __restrict x = a.in<double>(0), * __restrict y = a.in<double>(1);
  const std::uint16_t* __restrict which = a.in<std::uint16_t>(2);
  double* __restrict ratio = a.out<double>(0);
  double* __restrict deviation = a.out<double>(1);
  double total = 0;
  for (std::int64_t d = 0; d < draws; ++d) {
    double above = 0, below = 0;
    for (std::int64_t k = 0; k < n; ++k) above += y[which[d * n + k]], below += x[which[d * n + k]];
    ratio[d] = above / below;
    total += ratio[d];
  }
  const double mean = total / static_cast<double>(draws);
  double square = 0;
  for (std::int64_t d = 0; d < draws; ++d) square += (ratio[d] - mean) * (ratio[d] - mean);
  deviation[0] = std::sqrt(square / static_cast<double>(draws - 1));
}
