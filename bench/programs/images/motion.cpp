// images/motion.cpp: noise taken out of a frame by the one before it, which a field of motion in 1/32 of a pixel moves into
// place; where the two differ around a pixel, the pixel stays as it is.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 121, {.min = 1}), W = p.size("W", 163, {.min = 1});
  const Tensor now = p.in("now", u8, {H, W, 3}, integers(0, 256)), before = p.in("before", u8, {H, W, 3}, integers(0, 256));
  const Tensor flow = p.in("flow", i16, {H, W, 2}, integers(-300, 300));
  const Tensor moved = compute("moved", {H, W, 3}, [&](Var y, Var x, Var c) {
    const Expr sy = y * 32 + flow(y, x, 0), sx = x * 32 + flow(y, x, 1);
    const Expr fy = i32(sy % 32), fx = i32(sx % 32);
    const auto at = [&](int dy, int dx) {
      return i32(before(clamp(sy / 32 + dy, 0, H - 1), clamp(sx / 32 + dx, 0, W - 1), c));
    };
    const Expr upper = (32 - fx) * at(0, 0) + fx * at(0, 1), lower = (32 - fx) * at(1, 0) + fx * at(1, 1);
    return u8(((32 - fy) * upper + fy * lower + 512) >> 10);
  });
  const Axis c{"c", 3}, dy{"dy", -1, 2}, dx{"dx", -1, 2};
  const Tensor apart =
      compute("apart", {H, W}, [&](Var y, Var x) { return sum(i32(abs_diff(moved(y, x, c), now(y, x, c))), c); });
  const Tensor wide = boundary::repeat(apart);
  const Tensor around = compute("around", {H, W}, [&](Var y, Var x) { return sum(wide(y + dy, x + dx), {dy, dx}); });
  p.out(compute("calm", {H, W, 3}, [&](Var y, Var x, Var k) {
    const Expr alpha = max(128 - around(y, x) / 24, 0), from = i32(now(y, x, k));
    return u8(from + (((i32(moved(y, x, k)) - from) * alpha + 128) >> 8));
  }));
}
