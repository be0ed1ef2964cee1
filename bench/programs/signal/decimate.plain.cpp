#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t channels = a.size(0), samples = a.size(1), length = samples * 4 + 44;
  const float* __restrict x = a.in<float>(0), * __restrict taps = a.in<float>(1);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t c = 0; c < channels; ++c) {
    float envelope = 0;
    for (std::int64_t t = 0; t < samples; ++t) {
      float kept = 0;
      for (int k = 0; k < 48; ++k) kept += x[c * length + t * 4 + k] * taps[k];
      envelope = t == 0 ? std::fabs(kept) : std::max(std::fabs(kept), envelope * 0.995f);
      y[c * samples + t] = envelope;
    }
  }
}
