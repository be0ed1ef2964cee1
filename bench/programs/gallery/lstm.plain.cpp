#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t steps = a.size(0), inputs = a.size(1), h = a.size(2);
  const float* __restrict x = a.in<float>(0), * __restrict w = a.in<float>(1), * __restrict u = a.in<float>(2), * __restrict b = a.in<float>(3);
  float* __restrict out = a.out<float>(0);
  static std::vector<float> kept;
  kept.assign(static_cast<std::size_t>(6 * h), 0);
  float* __restrict g = kept.data(), * __restrict cell = g + 4 * h, * __restrict hidden = cell + h;
  const auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
  for (std::int64_t t = 0; t < steps; ++t) {
    std::copy(b, b + 4 * h, g);
    for (std::int64_t k = 0; k < inputs; ++k)
      for (std::int64_t j = 0; j < 4 * h; ++j) g[j] += x[t * inputs + k] * w[k * 4 * h + j];
    for (std::int64_t k = 0; k < h; ++k)
      for (std::int64_t j = 0; j < 4 * h; ++j) g[j] += hidden[k] * u[k * 4 * h + j];
    for (std::int64_t j = 0; j < h; ++j) {
      cell[j] = sigmoid(g[h + j]) * cell[j] + sigmoid(g[j]) * std::tanh(g[2 * h + j]);
      hidden[j] = sigmoid(g[3 * h + j]) * std::tanh(cell[j]);
      out[t * h + j] = hidden[j];
    }
  }
}
