#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t steps = a.size(0), channels = a.size(1);
  const float* __restrict x = a.in<float>(0), * __restrict rate = a.in<float>(1), * __restrict A = a.in<float>(2), * __restrict B = a.in<float>(3), * __restrict C = a.in<float>(4);
  float* __restrict y = a.out<float>(0);
  static std::vector<float> state;
  state.assign(static_cast<std::size_t>(channels * 16), 0);
  float* __restrict h = state.data();
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t c = 0; c < channels; ++c) {
      const float r = rate[t * channels + c], fed = r * x[t * channels + c];
      float sum = 0;
      for (int s = 0; s < 16; ++s) {
        const float next = std::exp(r * A[c * 16 + s]) * h[c * 16 + s] + fed * B[t * 16 + s];
        h[c * 16 + s] = next;
        sum += C[t * 16 + s] * next;
      }
      y[t * channels + c] = sum;
    }
}
