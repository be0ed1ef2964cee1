#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

namespace {
// c = a b, where the last row of each is 0 0 0 1 and not stored
void multiply(const float* __restrict a, const float* __restrict b, float* __restrict c) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      float s = j == 3 ? a[i * 4 + 3] : 0;
      for (int k = 0; k < 3; ++k) s += a[i * 4 + k] * b[k * 4 + j];
      c[i * 4 + j] = s;
    }
}
}  // namespace

PLAIN(a) {
  const std::int64_t bones = a.size(0), vertices = a.size(1);
  const std::int32_t* __restrict parent = a.in<std::int32_t>(0);
  const float* __restrict local = a.in<float>(1), * __restrict inverse = a.in<float>(2);
  const std::uint8_t* __restrict bone = a.in<std::uint8_t>(3), * __restrict weight = a.in<std::uint8_t>(4);
  const float* __restrict at = a.in<float>(5), * __restrict normal = a.in<float>(6);
  float* __restrict moved = a.out<float>(0);
  float* __restrict turned = a.out<float>(1);
  static std::vector<float> of_world, of_skin;
  of_world.resize(static_cast<std::size_t>(bones * 12)), of_skin.resize(static_cast<std::size_t>(bones * 12));
  float* __restrict world = of_world.data();
  float* __restrict skin = of_skin.data();
  for (int i = 0; i < 12; ++i) world[i] = local[i];
  for (std::int64_t b = 1; b < bones; ++b) multiply(world + parent[b] * 12, local + b * 12, world + b * 12);
  for (std::int64_t b = 0; b < bones; ++b) multiply(world + b * 12, inverse + b * 12, skin + b * 12);
  for (std::int64_t v = 0; v < vertices; ++v) {
    float m[12] = {};
    for (int k = 0; k < 4; ++k) {
      const float w = static_cast<float>(weight[v * 4 + k]) * (1.0f / 255);
      const float* __restrict s = skin + bone[v * 4 + k] * 12;
      for (int i = 0; i < 12; ++i) m[i] += w * s[i];
    }
    const float* __restrict p = at + v * 3, * __restrict n = normal + v * 3;
    float d[3], square = 0;
    for (int i = 0; i < 3; ++i) {
      moved[v * 3 + i] = m[i * 4] * p[0] + m[i * 4 + 1] * p[1] + m[i * 4 + 2] * p[2] + m[i * 4 + 3];
      d[i] = m[i * 4] * n[0] + m[i * 4 + 1] * n[1] + m[i * 4 + 2] * n[2];
      square += d[i] * d[i];
    }
    const float scale = 1 / std::sqrt(square + 1e-12f);
    for (int i = 0; i < 3; ++i) turned[v * 3 + i] = d[i] * scale;
  }
}
