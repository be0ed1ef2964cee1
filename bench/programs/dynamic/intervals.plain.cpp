#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t rooms = a.size(0), n = a.size(1);
  const std::int32_t* __restrict start = a.in<std::int32_t>(0), * __restrict finish = a.in<std::int32_t>(1), * __restrict before = a.in<std::int32_t>(2);
  const std::uint8_t* __restrict kind = a.in<std::uint8_t>(3);
  const std::int64_t* __restrict rate = a.in<std::int64_t>(4);
  std::int64_t* __restrict total = a.out<std::int64_t>(0);
  std::uint8_t* __restrict taken = a.out<std::uint8_t>(1);
  static std::vector<std::int64_t> space;
  space.resize(static_cast<std::size_t>(n + 1));
  std::int64_t* __restrict best = space.data();
  for (std::int64_t r = 0; r < rooms; ++r) {
    best[0] = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = r * n + j, value = (finish[at] - start[at]) * rate[kind[at]] + 250;
      best[j + 1] = std::max(best[j], value + best[before[at]]);
    }
    total[r] = best[n];
    std::int64_t last = n;
    for (std::int64_t j = n - 1; j >= 0; --j) {
      const bool take = last == j + 1 && best[j + 1] > best[j];
      taken[r * n + j] = take;
      last = take ? before[r * n + j] : std::min(last, j);
    }
  }
}
