#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

namespace {
void attract(std::int64_t N, const double* __restrict x, const double* __restrict y, const double* __restrict z,
             const double* __restrict mass, double* __restrict ax, double* __restrict ay, double* __restrict az) {
  for (std::int64_t j = 0; j < N; ++j) {
    const double xj = x[j], yj = y[j], zj = z[j], m = mass[j];
    for (std::int64_t i = 0; i < N; ++i) {
      const double dx = xj - x[i], dy = yj - y[i], dz = zj - z[i];
      const double square = dx * dx + dy * dy + dz * dz + 0.01, by = m / (square * std::sqrt(square));
      ax[i] += by * dx, ay[i] += by * dy, az[i] += by * dz;
    }
  }
}
}  // namespace

PLAIN(a) {
  const std::int64_t steps = a.size(0), N = a.size(1);
  const double* __restrict at = a.in<double>(0), * __restrict speed = a.in<double>(1), * __restrict mass = a.in<double>(2);
  double* __restrict x = a.out<double>(0);
  double* __restrict energy = a.out<double>(1);
  static std::vector<double> space;
  space.resize(static_cast<std::size_t>(6 * N));
  double* __restrict v = space.data(), * __restrict pull = v + 3 * N;
  std::copy_n(at, 3 * N, x);
  std::copy_n(speed, 3 * N, v);
  for (std::int64_t t = 0; t <= steps; ++t) {
    if (t > 0) {
      std::fill_n(pull, 3 * N, 0.0);
      attract(N, x, x + N, x + 2 * N, mass, pull, pull + N, pull + 2 * N);
      for (std::int64_t e = 0; e < 3 * N; ++e) v[e] += 0.002 * pull[e], x[e] += 0.002 * v[e];
    }
    double total = 0;
    for (int d = 0; d < 3; ++d)
      for (std::int64_t i = 0; i < N; ++i) total += 0.5 * mass[i] * (v[d * N + i] * v[d * N + i]);
    energy[t] = total;
  }
}
