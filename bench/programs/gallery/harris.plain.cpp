#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1), gh = h - 2, gw = w - 2, oh = h - 4, ow = w - 4;
  const float* __restrict x = a.in<float>(0);
  float* __restrict out = a.out<float>(0);
  static std::vector<float> kept;
  kept.resize(static_cast<std::size_t>(3 * gh * gw));
  float* __restrict xx = kept.data(), * __restrict xy = xx + gh * gw, * __restrict yy = xy + gh * gw;
  for (std::int64_t r = 0; r < gh; ++r)
    for (std::int64_t c = 0; c < gw; ++c) {
      const float *u = x + r * w + c, *m = u + w, *d = m + w;
      const float gx = ((u[2] - u[0]) + (m[2] - m[0]) * 2 + (d[2] - d[0])) / 8,
                  gy = ((d[0] - u[0]) + (d[1] - u[1]) * 2 + (d[2] - u[2])) / 8;
      xx[r * gw + c] = gx * gx, xy[r * gw + c] = gx * gy, yy[r * gw + c] = gy * gy;
    }
  for (std::int64_t r = 0; r < oh; ++r)
    for (std::int64_t c = 0; c < ow; ++c) {
      const auto window = [&](const float* __restrict t) {
        const float *u = t + r * gw + c, *m = u + gw, *d = m + gw;
        return u[0] + u[1] + u[2] + m[0] + m[1] + m[2] + d[0] + d[1] + d[2];
      };
      const float sxx = window(xx), sxy = window(xy), syy = window(yy), trace = sxx + syy;
      out[r * ow + c] = sxx * syy - sxy * sxy - trace * trace * 0.04f;
    }
}
