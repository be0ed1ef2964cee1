#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t systems = a.size(0), n = a.size(1);
  const double* __restrict lower = a.in<double>(0), * __restrict diagonal = a.in<double>(1), * __restrict upper = a.in<double>(2), * __restrict right = a.in<double>(3);
  double* __restrict x = a.out<double>(0);
  static std::vector<double> share, rest;
  share.resize(static_cast<std::size_t>(n)), rest.resize(static_cast<std::size_t>(n));
  double* __restrict c = share.data(), * __restrict d = rest.data();
  for (std::int64_t s = 0; s < systems; ++s) {
    const std::int64_t row = s * n;
    c[0] = upper[row] / diagonal[row], d[0] = right[row] / diagonal[row];
    for (std::int64_t i = 1; i < n; ++i) {
      const double pivot = diagonal[row + i] - lower[row + i] * c[i - 1];
      c[i] = upper[row + i] / pivot;
      d[i] = (right[row + i] - lower[row + i] * d[i - 1]) / pivot;
    }
    x[row + n - 1] = d[n - 1];
    for (std::int64_t i = n - 2; i >= 0; --i) x[row + i] = d[i] - c[i] * x[row + i + 1];
  }
}
