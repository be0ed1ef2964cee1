#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/programs/plain.h"

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1);
  const std::uint8_t* __restrict now = a.in<std::uint8_t>(0), * __restrict before = a.in<std::uint8_t>(1);
  const std::int16_t* __restrict flow = a.in<std::int16_t>(2);
  std::uint8_t* __restrict out = a.out<std::uint8_t>(0);
  static std::vector<std::uint8_t> of_moved;
  static std::vector<std::int32_t> of_apart, of_rows;
  of_moved.resize(static_cast<std::size_t>(h * w * 3)), of_apart.resize(static_cast<std::size_t>(h * w)),
      of_rows.resize(static_cast<std::size_t>(w + 2));
  std::uint8_t* __restrict moved = of_moved.data();
  std::int32_t* __restrict apart = of_apart.data(), * __restrict rows = of_rows.data();
  const int last_row = static_cast<int>(h - 1), last_column = static_cast<int>(w - 1);
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const std::int64_t i = y * w + x;
      const int sy = static_cast<int>(y) * 32 + flow[2 * i], sx = static_cast<int>(x) * 32 + flow[2 * i + 1];
      const int iy = sy >> 5, fy = sy & 31, ix = sx >> 5, fx = sx & 31;
      const std::uint8_t* __restrict top = before + std::clamp(iy, 0, last_row) * w * 3;
      const std::uint8_t* __restrict bottom = before + std::clamp(iy + 1, 0, last_row) * w * 3;
      const int l = std::clamp(ix, 0, last_column) * 3, r = std::clamp(ix + 1, 0, last_column) * 3;
      int d = 0;
      for (int c = 0; c < 3; ++c) {
        const int upper = (32 - fx) * top[l + c] + fx * top[r + c], lower = (32 - fx) * bottom[l + c] + fx * bottom[r + c];
        const int value = ((32 - fy) * upper + fy * lower + 512) >> 10;
        moved[3 * i + c] = static_cast<std::uint8_t>(value);
        d += std::abs(value - now[3 * i + c]);
      }
      apart[i] = d;
    }
  for (std::int64_t y = 0; y < h; ++y) {
    const std::int32_t* __restrict above = apart + std::max<std::int64_t>(y - 1, 0) * w, * __restrict here = apart + y * w, * __restrict below = apart + std::min(y + 1, h - 1) * w;
    for (std::int64_t x = 0; x < w; ++x) rows[x + 1] = above[x] + here[x] + below[x];
    rows[0] = rows[1], rows[w + 1] = rows[w];
    for (std::int64_t x = 0; x < w; ++x) {
      const int alpha = std::max(128 - (rows[x] + rows[x + 1] + rows[x + 2]) / 24, 0);
      for (int c = 0; c < 3; ++c) {
        const std::int64_t i = (y * w + x) * 3 + c;
        out[i] = static_cast<std::uint8_t>(now[i] + (((moved[i] - now[i]) * alpha + 128) >> 8));
      }
    }
  }
}
