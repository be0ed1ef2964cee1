#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/programs/plain.h"

namespace {
std::int64_t reflected(std::int64_t i, std::int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }
}  // namespace

PLAIN(a) {
  const std::int64_t h = a.size(0), w = a.size(1), wide = w + 2;
  const std::uint8_t* __restrict in = a.in<std::uint8_t>(0);
  std::uint8_t* __restrict out = a.out<std::uint8_t>(0);
  // Of the smoothed picture, the slopes, the strength and the kind of edge, with a rim of one element where it is read.
  static std::vector<std::uint16_t> of_across;
  static std::vector<std::int16_t> of_smooth, of_gx, of_gy, of_strength;
  static std::vector<std::uint8_t> of_line, of_kind;
  const auto all = static_cast<std::size_t>(wide * (h + 2));
  of_across.resize(static_cast<std::size_t>(w * h)), of_smooth.resize(all), of_gx.resize(all), of_gy.resize(all);
  of_strength.assign(all, 0), of_line.resize(static_cast<std::size_t>(w + 4)), of_kind.assign(all, 0);
  std::uint16_t* __restrict across = of_across.data();
  std::int16_t* __restrict smooth = of_smooth.data(), * __restrict gx = of_gx.data(), * __restrict gy = of_gy.data(), * __restrict strength = of_strength.data();
  std::uint8_t* __restrict line = of_line.data(), * __restrict kind = of_kind.data();

  for (std::int64_t y = 0; y < h; ++y) {
    std::copy(in + y * w, in + (y + 1) * w, line + 2);
    line[0] = line[4], line[1] = line[3], line[w + 2] = line[w], line[w + 3] = line[w - 1];
    for (std::int64_t x = 0; x < w; ++x)
      across[y * w + x] =
          static_cast<std::uint16_t>(line[x] + 4 * line[x + 1] + 6 * line[x + 2] + 4 * line[x + 3] + line[x + 4]);
  }
  for (std::int64_t y = 0; y < h; ++y) {
    const std::uint16_t *r0 = across + reflected(y - 2, h) * w, *r1 = across + reflected(y - 1, h) * w, *r2 = across + y * w,
                        *r3 = across + reflected(y + 1, h) * w, *r4 = across + reflected(y + 2, h) * w;
    std::int16_t* __restrict s = smooth + (y + 1) * wide;
    for (std::int64_t x = 0; x < w; ++x)
      s[x + 1] = static_cast<std::int16_t>((r0[x] + 4 * r1[x] + 6 * r2[x] + 4 * r3[x] + r4[x] + 128) >> 8);
    s[0] = s[1], s[w + 1] = s[w];
  }
  std::copy(smooth + wide, smooth + 2 * wide, smooth);
  std::copy(smooth + h * wide, smooth + (h + 1) * wide, smooth + (h + 1) * wide);
  for (std::int64_t y = 1; y <= h; ++y) {
    const std::int16_t* __restrict s = smooth + y * wide;
    for (std::int64_t x = 1; x <= w; ++x) {
      const std::int16_t *u = s - wide + x, *m = s + x, *d = s + wide + x;
      const auto dx = static_cast<std::int16_t>(u[1] + 2 * m[1] + d[1] - u[-1] - 2 * m[-1] - d[-1]);
      const auto dy = static_cast<std::int16_t>(d[-1] + 2 * d[0] + d[1] - u[-1] - 2 * u[0] - u[1]);
      gx[y * wide + x] = dx, gy[y * wide + x] = dy;
      strength[y * wide + x] = static_cast<std::int16_t>(std::abs(dx) + std::abs(dy));
    }
  }
  for (std::int64_t y = 1; y <= h; ++y) {
    const std::int16_t *u = strength + (y - 1) * wide, *m = u + wide, *d = m + wide, *px = gx + y * wide, *py = gy + y * wide;
    std::uint8_t* __restrict k = kind + y * wide;
    for (std::int64_t x = 1; x <= w; ++x) {
      const std::int16_t dx = px[x], dy = py[x], v = m[x];
      const std::int16_t ax = static_cast<std::int16_t>(std::abs(dx)), ay = static_cast<std::int16_t>(std::abs(dy));
      const bool flat = ay * 5 < ax * 2, steep = ax * 5 < ay * 2, same = (dx > 0) == (dy > 0);
      const std::int16_t ul = u[x - 1], ur = u[x + 1], dl = d[x - 1], dr = d[x + 1], ll = m[x - 1], rr = m[x + 1], uu = u[x],
                         dd = d[x];
      const std::int16_t before = flat ? ll : steep ? uu : same ? ul : ur;
      const std::int16_t after = flat ? rr : steep ? dd : same ? dr : dl;
      const bool crest = (v > before) & (v >= after);
      k[x] = static_cast<std::uint8_t>((crest & (v > 90)) + (crest & (v > 200)));
    }
  }
  for (std::int64_t y = 0; y < h; ++y) {
    const std::uint8_t *u = kind + y * wide, *m = u + wide, *d = m + wide;
    for (std::int64_t x = 0; x < w; ++x) {
      const std::uint8_t most = std::max({u[x], u[x + 1], u[x + 2], m[x], m[x + 1], m[x + 2], d[x], d[x + 1], d[x + 2]});
      out[y * w + x] = m[x + 1] > 0 && most == 2 ? 255 : 0;
    }
  }
}
