#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

namespace {
constexpr int half = 24, width = 2 * half;
}

PLAIN(a) {
  const std::int64_t heads = a.size(0), T = a.size(1);
  const float* __restrict q = a.in<float>(0), * __restrict k = a.in<float>(1), * __restrict v = a.in<float>(2);
  const float* __restrict cosine = a.in<float>(3), * __restrict sine = a.in<float>(4);
  float* __restrict y = a.out<float>(0);
  static std::vector<float> space;
  space.resize(static_cast<std::size_t>((width + 1) * T));
  float* __restrict keys = space.data(), * __restrict weight = keys + width * T;  // keys: a row for each dimension
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t t = 0; t < T; ++t) {
      const float* __restrict row = k + (h * T + t) * width;
      for (int d = 0; d < half; ++d) {
        const float c = cosine[t * half + d], s = sine[t * half + d];
        keys[d * T + t] = row[d] * c - row[d + half] * s;
        keys[(d + half) * T + t] = row[d + half] * c + row[d] * s;
      }
    }
    for (std::int64_t t = 0; t < T; ++t) {
      const float* __restrict row = q + (h * T + t) * width;
      float query[width];
      for (int d = 0; d < half; ++d) {
        const float c = cosine[t * half + d], s = sine[t * half + d];
        query[d] = row[d] * c - row[d + half] * s;
        query[d + half] = row[d + half] * c + row[d] * s;
      }
      for (std::int64_t s = 0; s <= t; ++s) weight[s] = 0;
      for (int d = 0; d < width; ++d)
        for (std::int64_t s = 0; s <= t; ++s) weight[s] += query[d] * keys[d * T + s];
      float top = weight[0];
      for (std::int64_t s = 1; s <= t; ++s) top = std::max(top, weight[s]);
      float total = 0;
      for (std::int64_t s = 0; s <= t; ++s) {
        weight[s] = std::exp((weight[s] - top) * 0.14433757f);
        total += weight[s];
      }
      float mixed[width] = {};
      for (std::int64_t s = 0; s <= t; ++s)
        for (int d = 0; d < width; ++d) mixed[d] += weight[s] * v[(h * T + s) * width + d];
      for (int d = 0; d < width; ++d) y[(h * T + t) * width + d] = mixed[d] / total;
    }
  }
}
