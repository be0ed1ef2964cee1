#include <algorithm>
#include <vector>

#include "bench/programs/plain.h"

namespace {
constexpr int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1},
              back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
constexpr float share[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
}  // namespace

PLAIN(a) {
  const std::int64_t steps = a.size(0), H = a.size(1), W = a.size(2), cells = H * W;
  const float* __restrict noise = a.in<float>(0);
  const std::uint8_t* __restrict ground = a.in<std::uint8_t>(1);
  const float* __restrict drive = a.in<float>(2);
  float* out = a.out<float>(0);
  static std::vector<float> other, row;
  other.resize(static_cast<std::size_t>(9 * cells));
  row.resize(static_cast<std::size_t>(12 * W));
  float* __restrict in = row.data(), * __restrict density = in + 9 * W, * __restrict px = density + W, * __restrict py = px + W;
  float* f = steps % 2 == 0 ? out : other.data();
  float* g = steps % 2 == 0 ? other.data() : out;
  for (int q = 0; q < 9; ++q)
    for (std::int64_t i = 0; i < cells; ++i) f[q * cells + i] = share[q] * (1 + noise[q * cells + i]);
  for (std::int64_t t = 0; t < steps; ++t) {
    const float* __restrict from = f;
    float* __restrict to = g;
    for (std::int64_t y = 0; y < H; ++y) {
      for (int q = 0; q < 9; ++q) {
        const std::int64_t above = (y - cy[q] + H) % H * W, here = y * W;
        const float* __restrict ahead = from + q * cells + above, * __restrict behind = from + back[q] * cells + here;
        const auto pull = [&](std::int64_t x, std::int64_t source) {
          in[q * W + x] = ground[above + source] == 0 ? behind[x] : ahead[source];
        };
        pull(0, (W - cx[q]) % W);
        for (std::int64_t x = 1; x < W - 1; ++x) pull(x, x - cx[q]);
        pull(W - 1, (2 * W - 1 - cx[q]) % W);
      }
      for (std::int64_t x = 0; x < W; ++x) density[x] = px[x] = py[x] = 0;
      for (int q = 0; q < 9; ++q) {
        const float wx = static_cast<float>(cx[q]), wy = static_cast<float>(cy[q]);
        for (std::int64_t x = 0; x < W; ++x) {
          const float here = in[q * W + x];
          density[x] += here, px[x] += wx * here, py[x] += wy * here;
        }
      }
      for (std::int64_t x = 0; x < W; ++x) px[x] /= density[x], py[x] /= density[x];
      const std::uint8_t* __restrict free = ground + y * W;
      for (int q = 0; q < 9; ++q) {
        const float wx = static_cast<float>(cx[q]), wy = static_cast<float>(cy[q]), w = share[q],
                    push = 3e-4f * w * wx * drive[t];
        const float* __restrict kept = from + q * cells + y * W;
        float* __restrict next = to + q * cells + y * W;
        for (std::int64_t x = 0; x < W; ++x) {
          const float here = in[q * W + x], along = 3 * (wx * px[x] + wy * py[x]);
          const float rest = w * density[x] * (1 + along + 0.5f * along * along - 1.5f * (px[x] * px[x] + py[x] * py[x]));
          next[x] = free[x] == 0 ? kept[x] : here + 0.8f * (rest - here) + push;
        }
      }
    }
    std::swap(f, g);
  }
}
