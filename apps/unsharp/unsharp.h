#pragma once
// Unsharp masking in f32, edges repeated: out = in * sharpened gray / gray, where sharpened = 2 gray - blur(gray) and the blur
// is a 7x7 Gaussian, down the columns, then along the rows.
#include <ashlar/generator/generator.h>
#include <ashlar/schedules/lanes.h>

#include <algorithm>

#include "apps/unsharp/filter.h"

namespace unsharp {

using namespace ashlar;

class Unsharp : public Generator {
 public:
  Param<int> channels{"channels", 3, {{1, 3}}, "planes of the picture"};
  Param<int> strip{"strip", 24, "rows that one thread computes one after the other"};
  Param<int> columns{
      "columns", 0, between(0, 1 << 20),
      "pixels of a row computed before the next row; 0: so many that what a part keeps fits the second-level cache"};
  Param<bool> stream{"stream", false,
                     "the result goes past the caches, where a vector fills a line of them: for pictures larger than they are"};
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Input in{"in", f32, {channels, H, W}};
  Output out{"out", f32, {channels, H, W}};
  Tensor gray, blur_y, blur_x, sharpen, ratio;

  void algorithm() override {
    const auto weight = gaussian();
    const Tensor picture = boundary::repeat(in, {1, 2});
    gray = compute("gray", [&](Var y, Var x) {
      if (channels == 1) return picture(0, y, x);
      Expr total = picture(0, y, x) * luma[0];
      for (int c = 1; c < 3; ++c) total += picture(c, y, x) * luma[c];
      return total;
    });
    blur_y = compute("blur_y", [&](Var y, Var x) {
      Expr total = gray(y, x) * weight[0];
      for (int d = 1; d <= radius; ++d) total += (gray(y - d, x) + gray(y + d, x)) * weight[static_cast<std::size_t>(d)];
      return total;
    });
    blur_x = compute("blur_x", [&](Var y, Var x) {
      Expr total = blur_y(y, x) * weight[0];
      for (int d = 1; d <= radius; ++d) total += (blur_y(y, x - d) + blur_y(y, x + d)) * weight[static_cast<std::size_t>(d)];
      return total;
    });
    sharpen = compute("sharpen", [&](Var y, Var x) { return 2 * gray(y, x) - blur_x(y, x); });
    ratio = compute("ratio", [&](Var y, Var x) { return sharpen(y, x) / max(gray(y, x), darkest); });
    out = compute("out", {{"c", channels}, {"y", H}, {"x", W}}, [&](Var c, Var y, Var x) { return ratio(y, x) * in(c, y, x); });
  }

  // A ring of 8 rows of gray, a row of the blur, and of the three planes what is read and written while a line is finished:
  // about 15 rows, in half of the cache.
  static int part(const Target& t) {
    constexpr std::int64_t rows = 15, least = 512;
    return static_cast<int>(std::max(least, t.cache_bytes(2) / 2 / (rows * 4) / 512 * 512));
  }

  void schedule(Schedule& s) override {
    const int lanes = s.target().lanes(f32), pixels = columns == 0 ? part(s.target()) : *columns;
    auto [c, y, x] = s[out].spatial<3>();
    auto [yo, yi] = s[out].split(y, strip, Tail::guard);
    auto [vectors, xi] = s[out].split(x, lanes, Tail::guard);
    auto [xc, xo] = s[out].split(vectors, std::max(1, pixels / lanes), Tail::guard);
    s[out].reorder(yo, xc, yi, xo, c, xi).tighten(yi).tighten(xo);
    const Loop parts = s[out].fuse(yo, xc);

    s[blur_x].inline_();
    s[sharpen].inline_();
    s[ratio].compute_at(xo).store_in(Scope::registers);
    s[blur_y].compute_at(yi);
    s[gray].store_at(parts).compute_at(yi).slide(yi).fold(0, 8);  // 7 rows live, 8 for a power of two

    auto [ry, rx] = s[ratio].spatial<2>();
    auto [rxo, rxi] = s[ratio].split(rx, lanes, Tail::pad);
    s[ratio].vectorize(rxi);
    auto [by, bx] = s[blur_y].spatial<2>();
    s[blur_y].vectorize(bx, lanes);
    auto [gy, gx] = s[gray].spatial<2>();
    auto [gxo, gxi] = s[gray].split(gx, lanes);
    s[gray].vectorize(gxi);
    s[out].unroll(c).vectorize(xi).parallel(parts);
    if (stream && schedules::fills_lines(s.target())) s[out].stream_store();
  }
};
}  // namespace unsharp
