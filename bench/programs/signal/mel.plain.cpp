#include <algorithm>
#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t frames = a.size(0);
  const float* __restrict x = a.in<float>(0), * __restrict window = a.in<float>(1), * __restrict cosine = a.in<float>(2), * __restrict sine = a.in<float>(3);
  const std::int32_t* __restrict edge = a.in<std::int32_t>(4);
  const float* __restrict share = a.in<float>(5);
  float* __restrict mel = a.out<float>(0);
  for (std::int64_t f = 0; f < frames; ++f) {
    float re[101] = {}, im[101] = {}, power[101];
    for (int n = 0; n < 200; ++n) {
      const float v = x[f * 80 + n] * window[n];
      for (int b = 0; b < 101; ++b) {
        re[b] += v * cosine[n * 101 + b];
        im[b] += v * sine[n * 101 + b];
      }
    }
    for (int b = 0; b < 101; ++b) power[b] = re[b] * re[b] + im[b] * im[b];
    for (int m = 0; m < 26; ++m) {
      float total = 0;
      for (std::int32_t b = edge[m]; b < edge[m + 2]; ++b) total += share[m * 101 + b] * power[b];
      mel[f * 26 + m] = std::log(std::max(total, 1e-5f));
    }
  }
}
