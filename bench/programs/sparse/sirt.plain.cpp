#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t rays = a.size(0), pixels = a.size(1), entries = a.size(2);
  const std::int32_t* __restrict ray = a.in<std::int32_t>(0), * __restrict pixel = a.in<std::int32_t>(1);
  const float* __restrict length = a.in<float>(2), * __restrict measured = a.in<float>(3);
  const float* __restrict ray_weight = a.in<float>(4), * __restrict pixel_weight = a.in<float>(5);
  const float* __restrict image = a.in<float>(6);
  float* __restrict next = a.out<float>(0);
  double* __restrict error = a.out<double>(1);
  static std::vector<float> residual, correction;
  residual.resize(static_cast<std::size_t>(rays)), correction.resize(static_cast<std::size_t>(pixels));
  float* __restrict r = residual.data();
  float* __restrict c = correction.data();

  std::fill_n(r, rays, 0.f);
  for (std::int64_t e = 0; e < entries; ++e) r[ray[e]] += length[e] * image[pixel[e]];
  double square = 0;
  for (std::int64_t i = 0; i < rays; ++i) {
    r[i] = (measured[i] - r[i]) * ray_weight[i];
    square += static_cast<double>(r[i]) * static_cast<double>(r[i]);
  }
  error[0] = square;
  std::fill_n(c, pixels, 0.f);
  for (std::int64_t e = 0; e < entries; ++e) c[pixel[e]] += length[e] * r[ray[e]];
  for (std::int64_t j = 0; j < pixels; ++j) next[j] = std::max(image[j] + 0.9f * pixel_weight[j] * c[j], 0.f);
}
