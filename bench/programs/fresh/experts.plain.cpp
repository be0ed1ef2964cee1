#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t tokens = a.size(0), experts = a.size(1);
  constexpr int width = 48, inner = 96, groups = 4, each = width / groups;
  const float* __restrict x = a.in<float>(0);
  const float* __restrict scale = a.in<float>(1);
  const float* __restrict shift = a.in<float>(2);
  const float* __restrict gate = a.in<float>(3);
  const float* __restrict up = a.in<float>(4);
  const float* __restrict down = a.in<float>(5);
  float* __restrict y = a.out<float>(0);
  std::int32_t* __restrict load = a.out<std::int32_t>(1);
  for (std::int64_t e = 0; e < experts; ++e) load[e] = 0;
  for (std::int64_t n = 0; n < tokens; ++n) {
    const float* __restrict in = x + n * width;
    float normal[width], hidden[inner] = {}, out[width] = {};
    for (int g = 0; g < groups; ++g) {
      float mean = 0, spread = 0;
      for (int d = g * each; d < (g + 1) * each; ++d) mean += in[d];
      mean /= each;
      for (int d = g * each; d < (g + 1) * each; ++d) spread += (in[d] - mean) * (in[d] - mean);
      const float by = 1 / std::sqrt(spread / each + 1e-5f);
      for (int d = g * each; d < (g + 1) * each; ++d) normal[d] = (in[d] - mean) * by * scale[d] + shift[d];
    }
    float top = 0, total = 0;
    std::int64_t chosen = 0;
    for (std::int64_t e = 0; e < experts; ++e) {
      float logit = 0;
      for (int d = 0; d < width; ++d) logit += normal[d] * gate[e * width + d];
      if (e == 0 || logit > top) {
        total = e == 0 ? 1 : total * std::exp(top - logit) + 1;
        top = logit, chosen = e;
      } else {
        total += std::exp(logit - top);
      }
    }
    ++load[chosen];
    const float* __restrict first = up + chosen * width * inner, * __restrict second = down + chosen * inner * width;
    for (int d = 0; d < width; ++d)
      for (int h = 0; h < inner; ++h) hidden[h] += normal[d] * first[d * inner + h];
    for (int h = 0; h < inner; ++h) {
      const float v = hidden[h], e = std::exp(std::min(v, 20.0f)), k = e * (e + 2);
      hidden[h] = v * (k / (k + 2));
    }
    for (int h = 0; h < inner; ++h)
      for (int d = 0; d < width; ++d) out[d] += hidden[h] * second[h * width + d];
    for (int d = 0; d < width; ++d) y[n * width + d] = in[d] + out[d] / total;
  }
}
