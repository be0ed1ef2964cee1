#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t N = a.size(0), row = N + 1;
  const double* __restrict often = a.in<double>(0);
  double* cost = a.out<double>(0);
  static std::vector<double> sums;
  sums.resize(static_cast<std::size_t>(N + 1));
  double* __restrict below = sums.data();
  below[0] = 0;
  for (std::int64_t k = 0; k < N; ++k) below[k + 1] = below[k] + often[k];
  for (std::int64_t i = N; i >= 0; --i) {
    double* __restrict now = cost + i * row;
    for (std::int64_t j = 0; j <= i; ++j) now[j] = 0;
    for (std::int64_t j = i + 1; j <= N; ++j) now[j] = 1e300;
    for (std::int64_t root = i; root < N; ++root) {  // now[root] is done: offer every tree with this root
      const double left = now[root];
      const double* __restrict right = cost + (root + 1) * row;
      for (std::int64_t j = root + 1; j <= N; ++j) now[j] = std::min(now[j], left + right[j]);
      now[root + 1] += below[root + 1] - below[i];
    }
  }
}
