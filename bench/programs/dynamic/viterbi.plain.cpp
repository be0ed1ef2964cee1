#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t T = a.size(0), S = a.size(1);
  constexpr int letters = 26;
  const std::int32_t* __restrict start = a.in<std::int32_t>(0), * __restrict move = a.in<std::int32_t>(1), * __restrict emit = a.in<std::int32_t>(2);
  const std::uint8_t* __restrict seen = a.in<std::uint8_t>(3);
  std::int16_t* __restrict path = a.out<std::int16_t>(0);
  std::int32_t* __restrict best = a.out<std::int32_t>(1);
  static std::vector<std::int32_t> space, pointers;
  space.resize(static_cast<std::size_t>(2 * S));
  pointers.resize(static_cast<std::size_t>(T * S));
  for (std::int64_t s = 0; s < S; ++s) space[static_cast<std::size_t>(s)] = start[s] + emit[s * letters + seen[0]];
  for (std::int64_t t = 1; t < T; ++t) {
    const std::int32_t* __restrict before = space.data() + (t - 1) % 2 * S;
    std::int32_t* __restrict now = space.data() + t % 2 * S, * __restrict from = pointers.data() + t * S;
    for (std::int64_t s = 0; s < S; ++s) now[s] = before[0] + move[s], from[s] = 0;
    for (std::int64_t k = 1; k < S; ++k) {
      const std::int32_t reached = before[k];
      for (std::int64_t s = 0; s < S; ++s) {
        const std::int32_t score = reached + move[k * S + s];
        const bool better = score > now[s];
        now[s] = better ? score : now[s];
        from[s] = better ? static_cast<std::int32_t>(k) : from[s];
      }
    }
    for (std::int64_t s = 0; s < S; ++s) now[s] += emit[s * letters + seen[t]];
  }
  const std::int32_t* __restrict end = space.data() + (T - 1) % 2 * S;
  std::int64_t state = 0;
  for (std::int64_t s = 1; s < S; ++s)
    if (end[s] > end[state]) state = s;
  best[0] = end[state];
  for (std::int64_t t = T - 1; t >= 0; --t) {
    path[t] = static_cast<std::int16_t>(state);
    state = pointers[static_cast<std::size_t>(t * S + state)];
  }
}
