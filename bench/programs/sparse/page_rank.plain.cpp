#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t pages = a.size(0), steps = a.size(2);
  const std::int32_t* __restrict first = a.in<std::int32_t>(0), * __restrict source = a.in<std::int32_t>(1);
  const std::int32_t* __restrict links = a.in<std::int32_t>(2);
  float* __restrict rank = a.out<float>(0);
  float* __restrict change = a.out<float>(1);
  static std::vector<float> share;
  share.resize(static_cast<std::size_t>(pages));
  float* __restrict given = share.data();
  const float n = static_cast<float>(pages);
  for (std::int64_t i = 0; i < pages; ++i) rank[i] = 1 / n;
  for (std::int64_t t = 0; t < steps; ++t) {
    float lost = 0, moved = 0;
    for (std::int64_t i = 0; i < pages; ++i) {
      lost += links[i] == 0 ? rank[i] : 0;
      given[i] = rank[i] / static_cast<float>(std::max(links[i], 1));
    }
    const float base = (0.15f + 0.85f * lost) / n;
    for (std::int64_t i = 0; i < pages; ++i) {
      float s = 0;
      for (std::int64_t e = first[i]; e < first[i + 1]; ++e) s += given[source[e]];
      const float next = base + 0.85f * s;
      moved += std::fabs(next - rank[i]);
      rank[i] = next;
    }
    change[t] = moved;
  }
}
