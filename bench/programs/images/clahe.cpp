// images/clahe.cpp: contrast equalized in tiles of 36 x 44: a histogram of each, its peaks cut off at 18 and shared out, its
// sums as a curve; a pixel has the value between those of the four curves around it.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol tall = p.size("tall", 5, {.min = 1}), wide = p.size("wide", 6, {.min = 1});
  const Expr H = tall * 36, W = wide * 44;
  const Tensor in = p.in("in", u8, {H, W}, integers(30, 160));
  const Tensor count = scatter("count", {tall, wide, 256}, Combine::add, i32(0), {H, W},
                               [&](Var y, Var x) { return put(i32(1), y / 36, x / 44, in(y, x)); });
  const Axis v{"v", 256};
  const Tensor excess = compute("excess", {tall, wide}, [&](Var ty, Var tx) { return sum(max(count(ty, tx, v) - 18, 0), v); });
  const Tensor below = scan("below", {tall, wide, 256}, Along{2}, Combine::add,
                            [&](Var ty, Var tx, Var g) { return min(count(ty, tx, g), 18) + excess(ty, tx) / 256; });
  const Tensor curve = compute("curve", {tall, wide, 256},
                               [&](Var ty, Var tx, Var g) { return u8(min(below(ty, tx, g) * 255 / (36 * 44), 255)); });
  p.out(compute("out", {H, W}, [&](Var y, Var x) {
    // twice the distance from the center of the tile before
    const Expr sy = y * 2 + 1 - 36, sx = x * 2 + 1 - 44;
    const Expr fy = i32(sy % 72), fx = i32(sx % 88);
    const auto at = [&](int dy, int dx) {
      return i32(curve(clamp(sy / 72 + dy, 0, tall - 1), clamp(sx / 88 + dx, 0, wide - 1), in(y, x)));
    };
    const Expr upper = (88 - fx) * at(0, 0) + fx * at(0, 1), lower = (88 - fx) * at(1, 0) + fx * at(1, 1);
    return u8(((72 - fy) * upper + fy * lower + 72 * 88 / 2) / (72 * 88));
  }));
}
