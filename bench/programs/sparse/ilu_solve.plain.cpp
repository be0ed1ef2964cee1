#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0);
  const std::int32_t* __restrict lower_first = a.in<std::int32_t>(0), * __restrict lower_col = a.in<std::int32_t>(1);
  const double* __restrict lower = a.in<double>(2);
  const std::int32_t* __restrict upper_first = a.in<std::int32_t>(3), * __restrict upper_col = a.in<std::int32_t>(4);
  const double* __restrict upper = a.in<double>(5), * __restrict diagonal = a.in<double>(6), * __restrict b = a.in<double>(7);
  double* __restrict x = a.out<double>(0);
  for (std::int64_t i = 0; i < n; ++i) {
    double s = 0;
    for (std::int64_t e = lower_first[i]; e < lower_first[i + 1]; ++e) s += lower[e] * x[lower_col[e]];
    x[i] = b[i] - s;
  }
  for (std::int64_t i = n - 1; i >= 0; --i) {
    double s = 0;
    for (std::int64_t e = upper_first[i]; e < upper_first[i + 1]; ++e) s += upper[e] * x[upper_col[e]];
    x[i] = (x[i] - s) / diagonal[i];
  }
}
