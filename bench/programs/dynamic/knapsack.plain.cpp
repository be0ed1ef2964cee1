#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t items = a.size(0), room = a.size(1);
  const std::int32_t* __restrict weight = a.in<std::int32_t>(0), * __restrict value = a.in<std::int32_t>(1);
  std::int32_t* __restrict all = a.out<std::int32_t>(0);
  static std::vector<std::int32_t> rows;
  rows.assign(static_cast<std::size_t>(2 * room), 0);
  for (std::int64_t n = 0; n < items; ++n) {
    const std::int32_t* __restrict before = rows.data() + n % 2 * room;
    std::int32_t* __restrict now = n + 1 == items ? all : rows.data() + (n + 1) % 2 * room;
    const std::int64_t w = std::min<std::int64_t>(weight[n], room);
    for (std::int64_t c = 0; c < w; ++c) now[c] = before[c];
    for (std::int64_t c = w; c < room; ++c) now[c] = std::max(before[c], before[c - w] + value[n]);
  }
}
