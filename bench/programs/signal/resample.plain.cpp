#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t blocks = a.size(0), inputs = blocks * 160 + 24, outputs = blocks * 147;
  const std::int16_t* __restrict x = a.in<std::int16_t>(0), * __restrict taps = a.in<std::int16_t>(1);
  std::int16_t* __restrict y = a.out<std::int16_t>(0);
  static std::vector<std::int32_t> kept;
  kept.resize(static_cast<std::size_t>(2 * inputs));
  std::int32_t* __restrict steady = kept.data(), * __restrict other = kept.data() + inputs;
  steady[0] = other[0] = 0;
  for (std::int64_t i = 1; i < inputs; ++i) {
    steady[i] = x[2 * i] - x[2 * i - 2] + steady[i - 1] - (steady[i - 1] >> 8);
    other[i] = x[2 * i + 1] - x[2 * i - 1] + other[i - 1] - (other[i - 1] >> 8);
  }
  std::int64_t at = 0, phase = 0;
  for (std::int64_t n = 0; n < outputs; ++n) {
    const std::int16_t* __restrict h = taps + phase * 24;
    const std::int32_t* __restrict from = steady + at, * __restrict second = other + at;
    std::int32_t left = 0, right = 0;
    for (int k = 0; k < 24; ++k) {
      left += h[k] * from[k];
      right += h[k] * second[k];
    }
    y[2 * n] = static_cast<std::int16_t>(std::clamp((left + (1 << 13)) >> 14, -32768, 32767));
    y[2 * n + 1] = static_cast<std::int16_t>(std::clamp((right + (1 << 13)) >> 14, -32768, 32767));
    ++at, phase += 13;
    if (phase >= 147) ++at, phase -= 147;
  }
}
