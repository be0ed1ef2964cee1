#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

namespace {
template <class T>
void twice_ranks(const T* __restrict x, std::int32_t* __restrict rank, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T v = x[i];
    std::int32_t twice = 1;
    for (std::int64_t j = 0; j < n; ++j) twice += (x[j] < v) + (x[j] <= v);
    rank[i] = twice;
  }
}
}  // namespace

PLAIN(a) {
  const std::int64_t n = a.size(0);
  std::int32_t* __restrict x = a.out<std::int32_t>(0);
  static std::vector<std::int32_t> ranks;
  ranks.resize(static_cast<std::size_t>(n));
  std::int32_t* __restrict y = ranks.data();
  twice_ranks(a.in<std::int16_t>(0), x, n);
  twice_ranks(a.in<float>(1), y, n);
  std::int64_t xx = 0, yy = 0, xy = 0;
  const std::int32_t mean = static_cast<std::int32_t>(n) + 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t u = x[i] - mean, v = y[i] - mean;
    xx += u * u, yy += v * v, xy += u * v;
  }
  a.out<double>(1)[0] = static_cast<double>(xy) / std::sqrt(static_cast<double>(xx) * static_cast<double>(yy));
}
