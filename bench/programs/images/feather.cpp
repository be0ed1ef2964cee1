// images/feather.cpp: one picture laid over another where a mask is set, its rim fading with the distance from the mask, which
// two passes over the picture find in steps of 3 and 4.
#include "bench/programs/program.h"

namespace {
std::vector<int> discs(int H, int W) {
  std::vector<int> mask;
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) {
      const auto in = [&](int cy, int cx, int r) { return (y - cy) * (y - cy) + (x - cx) * (x - cx) < r * r; };
      mask.push_back(in(40, 60, 23) || in(140, 170, 33) || in(20, 225, 11) ? 255 : 0);
    }
  return mask;
}
}  // namespace

PROGRAM(p) {
  const Symbol H = p.size("H", 191, {.min = 1}), W = p.size("W", 253, {.min = 1});
  const Tensor mask = p.in("mask", u8, {H, W}, numbers(discs(191, 253)));
  const Tensor front = p.in("front", u8, {H, W, 3}, integers(0, 256)), back = p.in("back", u8, {H, W, 3}, integers(0, 256));
  const Expr far = u16(10000);
  const Tensor down = recur(
      "down", {H, W}, Along{0, 1}, Lag{0}, [&](Var, Var) { return u16(0); },
      [&](Prior d, Var y, Var x) {
        const Expr left = select(x > 0, d(y, x - 1), far) + 3, up = select(y > 0, d(y - 1, x), far) + 3;
        const Expr up_left = select(y > 0 && x > 0, d(y - 1, x - 1), far) + 4,
                   up_right = select(y > 0 && x < W - 1, d(y - 1, x + 1), far) + 4;
        return select(mask(y, x) > 0, 0, min(min(left, up), min(up_left, up_right)));
      });
  const Tensor distance = recur(
      "distance", {H, W}, Along{0, 1}.backwards(), Lag{0}, [&](Var, Var) { return u16(0); },
      [&](Prior d, Var y, Var x) {
        const Expr right = select(x < W - 1, d(y, x + 1), far) + 3, below = select(y < H - 1, d(y + 1, x), far) + 3;
        const Expr below_left = select(y < H - 1 && x > 0, d(y + 1, x - 1), far) + 4,
                   below_right = select(y < H - 1 && x < W - 1, d(y + 1, x + 1), far) + 4;
        return min(down(y, x), min(min(right, below), min(below_left, below_right)));
      });
  p.out(compute("laid", {H, W, 3}, [&](Var y, Var x, Var c) {
    const Expr share = min(i32(distance(y, x)) * 5, 255);
    return u8((i32(front(y, x, c)) * (255 - share) + i32(back(y, x, c)) * share + 127) / 255);
  }));
}
