#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/programs/plain.h"

namespace {
struct Place {
  std::int64_t at[4];
  float weight[4];
};
Place place(std::int64_t i, std::int64_t n, std::int64_t m) {
  const float at = (static_cast<float>(i) + 0.5f) * (static_cast<float>(n) / static_cast<float>(m)) - 0.5f,
              base = std::floor(at), f = at - base;
  Place p;
  for (int k = 0; k < 4; ++k) {
    p.at[k] = std::clamp<std::int64_t>(static_cast<std::int64_t>(base) + k - 1, 0, n - 1);
    const float t = k == 0 ? f + 1 : k == 1 ? f : k == 2 ? 1 - f : 2 - f;
    p.weight[k] = k == 1 || k == 2 ? (1.5f * t - 2.5f) * t * t + 1 : ((-0.5f * t + 2.5f) * t - 4) * t + 2;
  }
  return p;
}
}  // namespace

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1), oh = a.size(2), ow = a.size(3);
  const float* __restrict in = a.in<float>(0);
  float* __restrict out = a.out<float>(0);
  static std::vector<float> kept;
  kept.resize(static_cast<std::size_t>(h * ow));
  float* __restrict across = kept.data();
  static std::vector<Place> columns;
  columns.resize(static_cast<std::size_t>(ow));
  for (std::int64_t j = 0; j < ow; ++j) columns[static_cast<std::size_t>(j)] = place(j, w, ow);
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t j = 0; j < ow; ++j) {
      const Place& c = columns[static_cast<std::size_t>(j)];
      const float* __restrict row = in + i * w;
      across[i * ow + j] =
          c.weight[0] * row[c.at[0]] + c.weight[1] * row[c.at[1]] + c.weight[2] * row[c.at[2]] + c.weight[3] * row[c.at[3]];
    }
  for (std::int64_t i = 0; i < oh; ++i) {
    const Place r = place(i, h, oh);
    const float *r0 = across + r.at[0] * ow, *r1 = across + r.at[1] * ow, *r2 = across + r.at[2] * ow,
                *r3 = across + r.at[3] * ow;
    for (std::int64_t j = 0; j < ow; ++j)
      out[i * ow + j] = r.weight[0] * r0[j] + r.weight[1] * r1[j] + r.weight[2] * r2[j] + r.weight[3] * r3[j];
  }
}
