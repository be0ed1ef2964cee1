#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t problems = a.size(0), samples = a.size(1), n = a.size(2);
  const double* __restrict X = a.in<double>(0), * __restrict y = a.in<double>(1);
  double* __restrict x = a.out<double>(0);
  static std::vector<double> of_matrix, of_right;
  of_matrix.resize(static_cast<std::size_t>(n * n)), of_right.resize(static_cast<std::size_t>(n));
  double* __restrict G = of_matrix.data(), * __restrict z = of_right.data();
  for (std::int64_t p = 0; p < problems; ++p) {
    // the upper triangle of X^T X + 1/2, and X^T y
    for (std::int64_t i = 0; i < n * n; ++i) G[i] = 0;
    for (std::int64_t i = 0; i < n; ++i) G[i * n + i] = 0.5, z[i] = 0;
    for (std::int64_t s = 0; s < samples; ++s) {
      const double* __restrict row = X + (p * samples + s) * n;
      const double right = y[p * samples + s];
      for (std::int64_t i = 0; i < n; ++i) {
        const double v = row[i];
        for (std::int64_t j = i; j < n; ++j) G[i * n + j] += v * row[j];
      }
      for (std::int64_t i = 0; i < n; ++i) z[i] += right * row[i];
    }
    for (std::int64_t j = 0; j < n; ++j) {  // R^T R
      double* __restrict pivot = G + j * n;
      const double root = std::sqrt(pivot[j]);
      for (std::int64_t k = j; k < n; ++k) pivot[k] /= root;
      for (std::int64_t i = j + 1; i < n; ++i) {
        double* __restrict row = G + i * n;
        const double v = pivot[i];
        for (std::int64_t k = i; k < n; ++k) row[k] -= v * pivot[k];
      }
      z[j] /= pivot[j];  // R^T z = X^T y
      for (std::int64_t k = j + 1; k < n; ++k) z[k] -= pivot[k] * z[j];
    }
    for (std::int64_t i = n - 1; i >= 0; --i) {  // R x = z
      double s = z[i];
      for (std::int64_t k = i + 1; k < n; ++k) s -= G[i * n + k] * x[p * n + k];
      x[p * n + i] = s / G[i * n + i];
    }
  }
}
