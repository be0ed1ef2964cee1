#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  constexpr int width = 56;
  const std::int64_t N = a.size(0), spans = a.size(2);
  const std::uint16_t* __restrict token = a.in<std::uint16_t>(0);
  const std::int8_t* __restrict table = a.in<std::int8_t>(1);
  const float* __restrict scale = a.in<float>(2);
  const std::int32_t* __restrict begin = a.in<std::int32_t>(3), * __restrict size = a.in<std::int32_t>(4);
  float* __restrict y = a.out<float>(0);
  static std::vector<std::int32_t> sums;
  sums.resize(static_cast<std::size_t>((N + 1) * width));
  std::int32_t* __restrict before = sums.data();
  for (int d = 0; d < width; ++d) before[d] = 0;
  for (std::int64_t n = 0; n < N; ++n) {
    const std::int8_t* __restrict row = table + token[n] * width;
    for (int d = 0; d < width; ++d) before[(n + 1) * width + d] = before[n * width + d] + row[d];
  }
  for (std::int64_t s = 0; s < spans; ++s) {
    const std::int64_t from = begin[s], to = std::min(from + size[s], N);
    float mean[width], square = 0;
    for (int d = 0; d < width; ++d) {
      mean[d] = static_cast<float>(before[to * width + d] - before[from * width + d]) * scale[d] /
                static_cast<float>(std::max<std::int64_t>(to - from, 1));
      square += mean[d] * mean[d];
    }
    const float length = std::sqrt(square + 1e-6f);
    for (int d = 0; d < width; ++d) y[s * width + d] = mean[d] / length;
  }
}
