#include <cmath>

#include "bench/programs/plain.h"

namespace {
float row_product(const std::uint8_t* __restrict w, const float* __restrict scale, const float* __restrict x,
                  std::int64_t blocks) {
  float total = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    float dot = 0;
    for (int j = 0; j < 16; ++j) {
      dot += static_cast<float>((w[b * 16 + j] & 15) - 8) * x[b * 32 + j];
      dot += static_cast<float>((w[b * 16 + j] >> 4) - 8) * x[b * 32 + 16 + j];
    }
    total += scale[b] * dot;
  }
  return total;
}
}  // namespace

PLAIN(a) {
  const std::int64_t rows = a.size(0), blocks = a.size(1);
  const std::uint8_t* __restrict gate = a.in<std::uint8_t>(0), * __restrict up = a.in<std::uint8_t>(1);
  const float* __restrict gate_scale = a.in<float>(2), * __restrict up_scale = a.in<float>(3), * __restrict x = a.in<float>(4);
  float* __restrict y = a.out<float>(0);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float g = row_product(gate + r * blocks * 16, gate_scale + r * blocks, x, blocks);
    const float u = row_product(up + r * blocks * 16, up_scale + r * blocks, x, blocks);
    y[r] = g / (1 + std::exp(-g)) * u;
  }
}
