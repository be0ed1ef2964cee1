#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t sites = a.size(0), people = a.size(1);
  constexpr std::int64_t reach = 24;
  const std::int8_t* __restrict g = a.in<std::int8_t>(0);
  std::uint8_t* __restrict kept = a.out<std::uint8_t>(0);
  float* __restrict score = a.out<float>(1);
  static std::vector<std::int64_t> of_total, of_spread;
  of_total.resize(static_cast<std::size_t>(sites)), of_spread.resize(static_cast<std::size_t>(sites));
  std::int64_t* __restrict total = of_total.data();
  std::int64_t* __restrict spread = of_spread.data();
  for (std::int64_t s = 0; s < sites; ++s) {
    const std::int8_t* __restrict x = g + s * people;
    std::int32_t one = 0, two = 0;
    for (std::int64_t i = 0; i < people; ++i) one += x[i], two += x[i] * x[i];
    total[s] = one;
    spread[s] = people * two - total[s] * total[s];
  }
  for (std::int64_t s = 0; s < sites; ++s) {
    const std::int8_t* __restrict x = g + s * people;
    bool free = true;
    float sum = 0;
    for (std::int64_t k = 1; k <= std::min(s, reach); ++k) {
      const std::int8_t* __restrict y = g + (s - k) * people;
      std::int32_t both = 0;
      for (std::int64_t i = 0; i < people; ++i) both += x[i] * y[i];
      const std::int64_t shared = people * both - total[s] * total[s - k], bound = spread[s] * spread[s - k];
      if (kept[s - k] && 5 * shared * shared > bound) free = false;
      sum += static_cast<float>(shared * shared) / static_cast<float>(std::max<std::int64_t>(bound, 1));
    }
    kept[s] = free;
    score[s] = sum;
  }
}
