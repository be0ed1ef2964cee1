#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t N = a.size(0);
  const std::uint16_t* __restrict length = a.in<std::uint16_t>(0);
  std::uint16_t* apart = a.out<std::uint16_t>(0);
  std::int32_t* __restrict reached = a.out<std::int32_t>(1);
  std::uint16_t* __restrict farthest = a.out<std::uint16_t>(2);
  for (std::int64_t i = 0; i < N; ++i)
    for (std::int64_t j = 0; j < N; ++j) apart[i * N + j] = i == j ? 0 : length[i * N + j] < 900 ? length[i * N + j] : 65535;
  for (std::int64_t k = 0; k < N; ++k)
    for (std::int64_t i = 0; i < N; ++i) {
      if (i == k) continue;  // a way through its own begin is not shorter
      const std::uint16_t first = apart[i * N + k];
      const std::uint16_t* __restrict from = apart + k * N;
      std::uint16_t* __restrict row = apart + i * N;
      for (std::int64_t j = 0; j < N; ++j) {
        const auto sum = static_cast<std::uint16_t>(first + from[j]);
        row[j] = std::min(row[j], sum < first ? std::uint16_t{65535} : sum);
      }
    }
  for (std::int64_t i = 0; i < N; ++i) {
    int count = 0, most = 0;
    for (std::int64_t j = 0; j < N; ++j) {
      const int d = apart[i * N + j];
      count += d < 65535;
      most = std::max(most, d < 65535 ? d : 0);
    }
    reached[i] = count, farthest[i] = static_cast<std::uint16_t>(most);
  }
}
