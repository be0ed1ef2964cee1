#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t steps = a.size(0), h = a.size(1), w = a.size(2), n = h * w;
  const float* __restrict start = a.in<float>(0), * __restrict drive = a.in<float>(1);
  float* __restrict out = a.out<float>(0);
  static std::vector<float> kept;
  kept.resize(static_cast<std::size_t>(3 * n));
  for (int k = 0; k < 2; ++k) std::copy(start, start + n, kept.data() + k * n);
  for (std::int64_t t = 2; t < steps; ++t) {
    const float* __restrict now = kept.data() + (t - 1) % 3 * n, * __restrict before = kept.data() + (t - 2) % 3 * n;
    float* __restrict next = t + 1 == steps ? out : kept.data() + t % 3 * n;
    for (std::int64_t x = 0; x < w; ++x) next[x] = next[(h - 1) * w + x] = 0;
    for (std::int64_t y = 1; y + 1 < h; ++y) {
      next[y * w] = next[y * w + w - 1] = 0;
      for (std::int64_t x = 1; x + 1 < w; ++x) {
        const std::int64_t i = y * w + x;
        const float bend = now[i - w] + now[i + w] + now[i - 1] + now[i + 1] - 4 * now[i];
        next[i] = 1.99f * now[i] - 0.99f * before[i] + 0.2f * bend + drive[t];
      }
    }
  }
}
