#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t rows = a.size(0), n = a.size(1), outputs = a.size(2);
  const float* __restrict x = a.in<float>(0);
  const std::int8_t* __restrict w = a.in<std::int8_t>(1);
  const float* __restrict w_scale = a.in<float>(2), * __restrict bias = a.in<float>(3);
  float* __restrict y = a.out<float>(0);
  static std::vector<std::int8_t> quantized;
  quantized.resize(static_cast<std::size_t>(n));
  std::int8_t* __restrict q = quantized.data();
  for (std::int64_t r = 0; r < rows; ++r) {
    float top = 0;
    for (std::int64_t k = 0; k < n; ++k) top = std::max(top, std::fabs(x[r * n + k]));
    const float scale = std::max(top, 1e-6f) / 127;
    for (std::int64_t k = 0; k < n; ++k)
      q[k] = static_cast<std::int8_t>(std::clamp(std::nearbyint(x[r * n + k] / scale), -128.f, 127.f));
    for (std::int64_t o = 0; o < outputs; ++o) {
      const std::int8_t* __restrict row = w + o * n;
      std::int32_t total = 0;
      for (std::int64_t k = 0; k < n; ++k) total += q[k] * row[k];
      y[r * outputs + o] = static_cast<float>(total) * (scale * w_scale[o]) + bias[o];
    }
  }
}
