#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/programs/plain.h"

namespace {
std::int16_t median(std::int16_t a, std::int16_t b, std::int16_t c, std::int16_t d, std::int16_t e) {
  const std::int16_t low = std::max(std::min(a, b), std::min(c, d)), high = std::min(std::max(a, b), std::max(c, d));
  return std::max(std::min(low, high), std::min(std::max(low, high), e));
}
}  // namespace

PLAIN(a) {
  const std::int64_t channels = a.size(0), samples = a.size(1);
  const std::int16_t* __restrict raw = a.in<std::int16_t>(0);
  std::uint8_t* __restrict active = a.out<std::uint8_t>(0);
  std::int32_t* __restrict starts = a.out<std::int32_t>(1);
  static std::vector<std::int16_t> kept;
  kept.resize(static_cast<std::size_t>(samples));
  std::int16_t* __restrict clean = kept.data();
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::int16_t* __restrict x = raw + c * samples;
    const auto edge = [&](std::int64_t t) {
      const auto at = [&](std::int64_t d) { return x[std::clamp<std::int64_t>(t + d, 0, samples - 1)]; };
      clean[t] = median(at(-2), at(-1), at(0), at(1), at(2));
    };
    for (std::int64_t t = 0; t < std::min<std::int64_t>(2, samples); ++t) edge(t);
    for (std::int64_t t = 2; t < samples - 2; ++t) clean[t] = median(x[t - 2], x[t - 1], x[t], x[t + 1], x[t + 2]);
    for (std::int64_t t = std::max<std::int64_t>(2, samples - 2); t < samples; ++t) edge(t);
    std::int32_t level = 0, base = 0, count = 0;
    std::uint8_t on = 0;
    for (std::int64_t t = 0; t < samples; ++t) {
      const std::int32_t strength = std::abs(static_cast<std::int32_t>(clean[t])) * 256;
      level = t == 0 ? strength : level + ((strength - level) >> 3);
      base = t == 0 ? level : base + ((level - base) >> 8);
      const std::uint8_t before = on;
      if (t > 0) on = level > base + base / 4 ? 1 : level < base - base / 8 ? 0 : on;
      count += on > before;
      active[c * samples + t] = on;
    }
    starts[c] = count;
  }
}
