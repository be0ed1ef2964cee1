#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t beams = a.size(0), blocks = a.size(1), steps = blocks * 96, length = 64 + steps;
  const float* __restrict x = a.in<float>(0), * __restrict delay = a.in<float>(1), * __restrict weight = a.in<float>(2);
  float* __restrict share = a.out<float>(0), * __restrict slow = a.out<float>(1);
  static std::vector<float> kept;
  kept.resize(static_cast<std::size_t>(steps));
  float* __restrict beam = kept.data();
  for (std::int64_t d = 0; d < beams; ++d) {
    for (std::int64_t t = 0; t < steps; ++t) beam[t] = 0;
    for (int m = 0; m < 12; ++m) {
      const float late = std::min(std::max(delay[d * 12 + m], 0.f), 62.f);
      const int whole = static_cast<int>(late);
      const float part = late - static_cast<float>(whole), near = weight[m] * (1 - part), far = weight[m] * part;
      const float* __restrict from = x + m * length + 64 - whole;
      for (std::int64_t t = 0; t < steps; ++t) beam[t] += near * from[t] + far * from[t - 1];
    }
    float y = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      float energy = 0;
      for (int s = 0; s < 96; ++s) energy += beam[b * 96 + s] * beam[b * 96 + s];
      y = b == 0 ? energy : 0.8f * y + 0.2f * energy;
      share[d * blocks + b] = energy, slow[d * blocks + b] = y;
    }
  }
  for (std::int64_t b = 0; b < blocks; ++b) {
    float loudest = share[b];
    for (std::int64_t d = 1; d < beams; ++d) loudest = std::max(loudest, share[d * blocks + b]);
    for (std::int64_t d = 0; d < beams; ++d) share[d * blocks + b] /= loudest + 1e-6f;
  }
}
