#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t nodes = a.size(0), edges = a.size(1);
  const std::int32_t* __restrict first = a.in<std::int32_t>(0), * __restrict to = a.in<std::int32_t>(2);
  const float* __restrict query = a.in<float>(3), * __restrict key = a.in<float>(4), * __restrict value = a.in<float>(5);
  float* __restrict out = a.out<float>(0);
  static std::vector<float> weights;
  weights.resize(static_cast<std::size_t>(edges));
  float* __restrict weight = weights.data();
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::int64_t begin = first[i], end = first[i + 1];
    const float* __restrict q = query + i * 16;
    float top = -1e30f;
    for (std::int64_t e = begin; e < end; ++e) {
      const float* __restrict k = key + static_cast<std::int64_t>(to[e]) * 16;
      float s = 0;
      for (int d = 0; d < 16; ++d) s += q[d] * k[d];
      weight[e] = s * 0.25f;
      top = weight[e] > top ? weight[e] : top;
    }
    float total = 0, sum[24] = {};
    for (std::int64_t e = begin; e < end; ++e) {
      const float w = std::exp(weight[e] - top);
      const float* __restrict v = value + static_cast<std::int64_t>(to[e]) * 24;
      total += w;
      for (int d = 0; d < 24; ++d) sum[d] += w * v[d];
    }
    for (int d = 0; d < 24; ++d) out[i * 24 + d] = begin < end ? sum[d] / total : 0;
  }
}
