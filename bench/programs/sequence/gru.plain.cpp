#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  constexpr int inputs = 40, units = 72, gates = 3 * units;
  const std::int64_t steps = a.size(0), batch = a.size(1);
  const float* __restrict x = a.in<float>(0), * __restrict W = a.in<float>(1), * __restrict U = a.in<float>(2);
  const float* __restrict b = a.in<float>(3), * __restrict c = a.in<float>(4), * __restrict h0 = a.in<float>(5);
  float* __restrict y = a.out<float>(0);
  static std::vector<float> space;
  space.resize(static_cast<std::size_t>(2 * gates));
  float* __restrict fed = space.data(), * __restrict back = fed + gates;
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t n = 0; n < batch; ++n) {
      const float* __restrict row = x + (t * batch + n) * inputs;
      const float* before = t == 0 ? h0 + n * units : y + ((t - 1) * batch + n) * units;
      float* __restrict now = y + (t * batch + n) * units;
      for (int g = 0; g < gates; ++g) fed[g] = b[g], back[g] = 0;
      for (int i = 0; i < inputs; ++i)
        for (int g = 0; g < gates; ++g) fed[g] += row[i] * W[i * gates + g];
      for (int k = 0; k < units; ++k)
        for (int g = 0; g < gates; ++g) back[g] += before[k] * U[k * gates + g];
      for (int j = 0; j < units; ++j) {
        const float reset = 1 / (1 + std::exp(-(fed[j] + back[j])));
        const float keep = 1 / (1 + std::exp(-(fed[units + j] + back[units + j])));
        const float fresh = std::tanh(fed[2 * units + j] + reset * (back[2 * units + j] + c[j]));
        now[j] = (1 - keep) * fresh + keep * before[j];
      }
    }
}
