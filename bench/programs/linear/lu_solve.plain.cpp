#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0), columns = a.size(1);
  const float* __restrict A = a.in<float>(0), * __restrict B = a.in<float>(1);
  float* __restrict x = a.out<float>(0);
  static std::vector<float> factors;
  factors.resize(static_cast<std::size_t>(n * n));
  float* __restrict lu = factors.data();
  for (std::int64_t i = 0; i < n; ++i) {
    float* __restrict row = lu + i * n;
    float* __restrict right = x + i * columns;
    std::copy(A + i * n, A + (i + 1) * n, row);
    std::copy(B + i * columns, B + (i + 1) * columns, right);
    for (std::int64_t k = 0; k < i; ++k) {
      const float* __restrict above = lu + k * n;
      const float* __restrict solved = x + k * columns;
      const float l = row[k] / above[k];
      row[k] = l;
      for (std::int64_t j = k + 1; j < n; ++j) row[j] -= l * above[j];
      for (std::int64_t r = 0; r < columns; ++r) right[r] -= l * solved[r];
    }
  }
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const float* __restrict row = lu + i * n;
    float* __restrict right = x + i * columns;
    for (std::int64_t k = i + 1; k < n; ++k) {
      const float* __restrict solved = x + k * columns;
      for (std::int64_t r = 0; r < columns; ++r) right[r] -= row[k] * solved[r];
    }
    for (std::int64_t r = 0; r < columns; ++r) right[r] /= row[i];
  }
}
