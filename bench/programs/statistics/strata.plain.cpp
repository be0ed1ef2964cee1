#include <algorithm>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0);
  const float* __restrict x = a.in<float>(0), * __restrict weight = a.in<float>(1);
  const std::uint8_t* __restrict stratum = a.in<std::uint8_t>(2);
  float* __restrict place = a.out<float>(0);
  double* __restrict below = a.out<double>(1);
  double mass[6][150] = {};
  const auto bin = [&](std::int64_t i) { return std::clamp(static_cast<std::int32_t>((x[i] + 3) * 25.f), 0, 149); };
  for (std::int64_t i = 0; i < n; ++i) mass[std::min<int>(stratum[i], 5)][bin(i)] += static_cast<double>(weight[i]);
  for (int s = 0; s < 6; ++s) {
    double sum = 0;
    for (int b = 0; b < 150; ++b) sum += mass[s][b], below[s * 150 + b] = sum;
  }
  float middle[6][150];
  for (int s = 0; s < 6; ++s)
    for (int b = 0; b < 150; ++b)
      middle[s][b] = static_cast<float>((below[s * 150 + b] - 0.5 * mass[s][b]) / std::max(below[s * 150 + 149], 1e-12));
  for (std::int64_t i = 0; i < n; ++i) place[i] = middle[std::min<int>(stratum[i], 5)][bin(i)];
}
