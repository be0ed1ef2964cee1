#include <cmath>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t n = a.size(0), most = a.size(1);
  const float* __restrict at = a.in<float>(0), * __restrict charge = a.in<float>(1);
  const std::int32_t* __restrict count = a.in<std::int32_t>(2), * __restrict near = a.in<std::int32_t>(3);
  float* __restrict force = a.out<float>(0);
  for (std::int64_t i = 0; i < n; ++i) {
    float fx = 0, fy = 0, fz = 0;
    for (std::int64_t k = 0; k < count[i]; ++k) {
      const std::int64_t j = near[i * most + k];
      const float x = at[j] - at[i], y = at[n + j] - at[n + i], z = at[2 * n + j] - at[2 * n + i];
      const float square = x * x + y * y + z * z + 0.01f, f = charge[i] * charge[j] / (square * std::sqrt(square));
      fx += f * x, fy += f * y, fz += f * z;
    }
    force[i] = fx, force[n + i] = fy, force[2 * n + i] = fz;
  }
}
