#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t doses = a.size(0), subjects = a.size(1);
  const float* __restrict x = a.in<float>(0);
  float* __restrict fit = a.out<float>(0);
  float* __restrict worst = a.out<float>(1);
  static std::vector<float> minima;
  minima.resize(static_cast<std::size_t>(doses * subjects));
  float* __restrict above = minima.data();
  for (std::int64_t s = 0; s < subjects; ++s) above[(doses - 1) * subjects + s] = x[(doses - 1) * subjects + s];
  for (std::int64_t t = doses - 2; t >= 0; --t)
    for (std::int64_t s = 0; s < subjects; ++s)
      above[t * subjects + s] = std::min(x[t * subjects + s], above[(t + 1) * subjects + s]);
  static std::vector<float> maxima;
  maxima.assign(x, x + subjects);
  float* __restrict below = maxima.data();
  std::fill_n(worst, subjects, 0.f);
  for (std::int64_t t = 0; t < doses; ++t)
    for (std::int64_t s = 0; s < subjects; ++s) {
      below[s] = std::max(below[s], x[t * subjects + s]);
      const float middle = (below[s] + above[t * subjects + s]) * 0.5f;
      fit[t * subjects + s] = middle;
      worst[s] = std::max(worst[s], std::fabs(x[t * subjects + s] - middle));
    }
}
