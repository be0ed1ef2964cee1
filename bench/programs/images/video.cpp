// images/video.cpp: a frame of YUV 4:2:0 as RGB, after a bilateral filter of its luma: a neighbor weighs by its place and,
// from a table, by how alike it is.
#include <cmath>

#include "bench/programs/program.h"

namespace {
std::vector<int> likeness() {
  std::vector<int> all;
  for (int d = 0; d < 256; ++d) all.push_back(static_cast<int>(std::lround(256 * std::exp(-d * d / (2.0 * 30 * 30)))));
  return all;
}
}  // namespace

PROGRAM(p) {
  const Symbol h = p.size("h", 51, {.min = 1}), w = p.size("w", 75, {.min = 1});
  const Tensor luma = p.in("luma", u8, {h * 2, w * 2}, integers(16, 236));
  const Tensor blue = p.in("blue", u8, {h, w}, integers(16, 241)), red = p.in("red", u8, {h, w}, integers(16, 241));
  const Tensor alike = p.in("alike", i32, {256}, numbers(likeness()));
  const Tensor space =
      constant("space", i32, {{2, 4, 6, 4, 2}, {4, 10, 14, 10, 4}, {6, 14, 20, 14, 6}, {4, 10, 14, 10, 4}, {2, 4, 6, 4, 2}});
  const Tensor wide = boundary::mirror(luma);
  const Axis dy{"dy", -2, 3}, dx{"dx", -2, 3};
  const auto weight = [&](const Expr& y, const Expr& x) {
    return space(dy + 2, dx + 2) * alike(abs_diff(luma(y, x), wide(y + dy, x + dx)));
  };
  const Tensor total = compute("total", {h * 2, w * 2}, [&](Var y, Var x) { return sum(weight(y, x), {dy, dx}); });
  const Tensor weighted = compute("weighted", {h * 2, w * 2},
                                  [&](Var y, Var x) { return sum(weight(y, x) * i32(wide(y + dy, x + dx)), {dy, dx}); });
  const Tensor smooth =
      compute("smooth", {h * 2, w * 2}, [&](Var y, Var x) { return (weighted(y, x) + total(y, x) / 2) / total(y, x); });
  p.out(compute("rgb", {h * 2, w * 2, 3}, [&](Var y, Var x, Var k) {
    const Expr c = 298 * (smooth(y, x) - 16) + 128, d = i32(blue(y / 2, x / 2)) - 128, e = i32(red(y / 2, x / 2)) - 128;
    const Expr value = select(k == 0, c + 409 * e, select(k == 1, c - 100 * d - 208 * e, c + 516 * d));
    return u8(clamp(value >> 8, 0, 255));
  }));
}
