#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t nodes = a.size(0), elements = a.size(1);
  const double* __restrict at = a.in<double>(0), * __restrict u = a.in<double>(1);
  const std::int32_t* __restrict corner = a.in<std::int32_t>(2);
  double* __restrict slope = a.out<double>(0);
  static std::vector<double> kept;
  kept.assign(static_cast<std::size_t>(nodes), 0);
  double* __restrict weight = kept.data();
  for (std::int64_t i = 0; i < nodes * 3; ++i) slope[i] = 0;
  for (std::int64_t e = 0; e < elements; ++e) {
    const std::int32_t* __restrict of = corner + e * 4;
    const double* __restrict origin = at + of[0] * 3;
    double edge[3][3], cofactor[3][3], rise[3];
    for (int i = 0; i < 3; ++i) {
      rise[i] = u[of[i + 1]] - u[of[0]];
      for (int d = 0; d < 3; ++d) edge[i][d] = at[of[i + 1] * 3 + d] - origin[d];
    }
    for (int i = 0; i < 3; ++i)
      for (int d = 0; d < 3; ++d) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
        cofactor[i][d] = edge[i1][d1] * edge[i2][d2] - edge[i1][d2] * edge[i2][d1];
      }
    const double determinant = edge[0][0] * cofactor[0][0] + edge[0][1] * cofactor[0][1] + edge[0][2] * cofactor[0][2];
    const double volume = std::abs(determinant) / 6, share = volume / determinant;
    for (int d = 0; d < 3; ++d) {
      const double g = (cofactor[0][d] * rise[0] + cofactor[1][d] * rise[1] + cofactor[2][d] * rise[2]) * share;
      for (int c = 0; c < 4; ++c) slope[of[c] * 3 + d] += g;
    }
    for (int c = 0; c < 4; ++c) weight[of[c]] += volume;
  }
  for (std::int64_t i = 0; i < nodes; ++i)
    for (int d = 0; d < 3; ++d) slope[i * 3 + d] /= weight[i];
}
