#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t samples = a.size(0), features = a.size(1);
  const float* __restrict x = a.in<float>(0);
  const std::uint8_t* __restrict label = a.in<std::uint8_t>(1);
  const float* __restrict w = a.in<float>(2), * __restrict b = a.in<float>(3);
  float* __restrict gradient = a.out<float>(0);
  float* __restrict slope = a.out<float>(1);
  float* __restrict loss = a.out<float>(2);
  const float share = 1 / static_cast<float>(samples);
  std::fill_n(gradient, features, 0.f);
  float wrong = 0, cost = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const float* __restrict row = x + i * features;
    float z = b[0];
    for (std::int64_t k = 0; k < features; ++k) z += row[k] * w[k];
    const float t = static_cast<float>(label[i]), e = std::exp(-std::fabs(z));
    cost += std::max(z, 0.f) - z * t + std::log(1 + e);
    const float r = (z >= 0 ? 1 : e) / (1 + e) - t;
    wrong += r;
    for (std::int64_t k = 0; k < features; ++k) gradient[k] += r * row[k];
  }
  for (std::int64_t k = 0; k < features; ++k) gradient[k] = gradient[k] * share + 0.01f * w[k];
  slope[0] = wrong * share;
  loss[0] = cost * share;
}
