#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  constexpr int C = 16, O = 24;
  const std::int64_t H = a.size(0), W = a.size(1), WP = W + 2;
  const std::int8_t* __restrict x = a.in<std::int8_t>(0), * __restrict w = a.in<std::int8_t>(1);
  const std::int32_t* __restrict bias = a.in<std::int32_t>(2), * __restrict multiplier = a.in<std::int32_t>(3);
  const std::int32_t* __restrict shift = a.in<std::int32_t>(4);
  std::int8_t* __restrict y = a.out<std::int8_t>(0);

  // The picture less its zero point, with a frame of zeros; the weights in 16 bits; the convolution before the pool.
  static std::vector<std::int16_t> padded, wide;
  static std::vector<std::int8_t> before;
  padded.assign(static_cast<std::size_t>((H + 2) * WP * C), 0), wide.resize(O * 9 * C);
  before.resize(static_cast<std::size_t>(H * W * O));
  std::int16_t* __restrict px = padded.data();
  std::int16_t* __restrict pw = wide.data();
  std::int8_t* __restrict q = before.data();
  for (std::int64_t r = 0; r < H; ++r)
    for (std::int64_t k = 0; k < W * C; ++k) px[((r + 1) * WP + 1) * C + k] = static_cast<std::int16_t>(x[r * W * C + k] + 7);
  for (int k = 0; k < O * 9 * C; ++k) pw[k] = w[k];

  for (std::int64_t r = 0; r < H; ++r)
    for (std::int64_t c = 0; c < W; ++c)
      for (int o = 0; o < O; ++o) {
        std::int32_t total = bias[o];
        for (int dy = 0; dy < 3; ++dy) {
          const std::int16_t* __restrict row = px + ((r + dy) * WP + c) * C;
          const std::int16_t* __restrict tap = pw + (o * 3 + dy) * 3 * C;
          for (int k = 0; k < 3 * C; ++k) total += row[k] * tap[k];
        }
        const std::int64_t scaled = (static_cast<std::int64_t>(total) * multiplier[o] + (std::int64_t{1} << 30)) >> 31;
        const std::int32_t rounded = (static_cast<std::int32_t>(scaled) + (1 << (shift[o] - 1))) >> shift[o];
        q[(r * W + c) * O + o] = static_cast<std::int8_t>(std::clamp(rounded - 11, -11, 127));
      }
  for (std::int64_t r = 0; r < H / 2; ++r)
    for (std::int64_t c = 0; c < W / 2; ++c) {
      const std::int8_t* __restrict upper = q + (2 * r * W + 2 * c) * O;
      const std::int8_t* __restrict lower = upper + W * O;
      for (int o = 0; o < O; ++o)
        y[(r * (W / 2) + c) * O + o] = std::max(std::max(upper[o], upper[O + o]), std::max(lower[o], lower[O + o]));
    }
}
