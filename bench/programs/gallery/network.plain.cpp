#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0), d = a.size(1), h = a.size(2), k = a.size(3);
  const float* __restrict x = a.in<float>(0), * __restrict t = a.in<float>(1), * __restrict w1 = a.in<float>(2), * __restrict b1 = a.in<float>(3), * __restrict w2 = a.in<float>(4), * __restrict b2 = a.in<float>(5);
  float* __restrict w1n = a.out<float>(0), * __restrict b1n = a.out<float>(1), * __restrict w2n = a.out<float>(2), * __restrict b2n = a.out<float>(3);
  static std::vector<float> kept;
  kept.resize(static_cast<std::size_t>(2 * h + 2 * k));
  float* __restrict hidden = kept.data(), * __restrict dh = hidden + h, * __restrict z = dh + h, * __restrict dz = z + k;
  std::copy(w1, w1 + d * h, w1n), std::copy(b1, b1 + h, b1n), std::copy(w2, w2 + h * k, w2n), std::copy(b2, b2 + k, b2n);
  for (std::int64_t i = 0; i < n; ++i) {
    std::copy(b1, b1 + h, hidden);
    for (std::int64_t q = 0; q < d; ++q)
      for (std::int64_t j = 0; j < h; ++j) hidden[j] += x[i * d + q] * w1[q * h + j];
    for (std::int64_t j = 0; j < h; ++j) hidden[j] = std::tanh(hidden[j]);
    std::copy(b2, b2 + k, z);
    for (std::int64_t j = 0; j < h; ++j)
      for (std::int64_t o = 0; o < k; ++o) z[o] += hidden[j] * w2[j * k + o];
    for (std::int64_t o = 0; o < k; ++o) dz[o] = 0.1f * 2 * (z[o] - t[i * k + o]) / static_cast<float>(n), b2n[o] -= dz[o];
    for (std::int64_t j = 0; j < h; ++j) {
      float sum = 0;
      for (std::int64_t o = 0; o < k; ++o) sum += dz[o] * w2[j * k + o], w2n[j * k + o] -= hidden[j] * dz[o];
      dh[j] = sum * (1 - hidden[j] * hidden[j]), b1n[j] -= dh[j];
    }
    for (std::int64_t q = 0; q < d; ++q)
      for (std::int64_t j = 0; j < h; ++j) w1n[q * h + j] -= x[i * d + q] * dh[j];
  }
}
