// images/canny.cpp: edges: smoothed by a binomial of five, slopes by Sobel, only the crest across each edge, and of the weak
// ones those that touch a strong one.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 183, {.min = 3}), W = p.size("W", 247, {.min = 3});
  const Tensor in = p.in("in", u8, {H, W}, integers(0, 256));
  const auto binomial = [](const auto& at) { return at(-2) + 4 * at(-1) + 6 * at(0) + 4 * at(1) + at(2); };
  const Tensor reflected = boundary::reflect(in);
  const Tensor across =
      compute("across", {H, W}, [&](Var y, Var x) { return binomial([&](int d) { return u16(reflected(y, x + d)); }); });
  const Tensor tall = boundary::reflect(across);
  const Tensor smooth = compute(
      "smooth", {H, W}, [&](Var y, Var x) { return i16((binomial([&](int d) { return tall(y + d, x); }) + 128) >> 8); });
  const Tensor s = boundary::repeat(smooth);
  const Tensor gx = compute("gx", {H, W}, [&](Var y, Var x) {
    const auto side = [&](int d) { return s(y - 1, x + d) + 2 * s(y, x + d) + s(y + 1, x + d); };
    return side(1) - side(-1);
  });
  const Tensor gy = compute("gy", {H, W}, [&](Var y, Var x) {
    const auto side = [&](int d) { return s(y + d, x - 1) + 2 * s(y + d, x) + s(y + d, x + 1); };
    return side(1) - side(-1);
  });
  const Tensor strength = compute("strength", {H, W}, [&](Var y, Var x) { return abs(gx(y, x)) + abs(gy(y, x)); });
  const Tensor around = boundary::constant(strength, 0);
  const Tensor kind = compute("kind", {H, W}, [&](Var y, Var x) {
    const Expr dx = gx(y, x), dy = gy(y, x), m = strength(y, x);
    const auto crest = [&](int r, int c) { return m > around(y - r, x - c) && m >= around(y + r, x + c); };
    const Expr diagonal = select((dx > 0) == (dy > 0), crest(1, 1), crest(1, -1));
    const Expr keep = select(abs(dy) * 5 < abs(dx) * 2, crest(0, 1), select(abs(dx) * 5 < abs(dy) * 2, crest(1, 0), diagonal));
    return select(keep && m > 90, select(m > 200, u8(2), u8(1)), 0);
  });
  const Tensor near = boundary::constant(kind, 0);
  const Axis dy{"dy", -1, 2}, dx{"dx", -1, 2};
  const Tensor most = compute("most", {H, W}, [&](Var y, Var x) { return maximum(near(y + dy, x + dx), {dy, dx}); });
  p.out(compute("edges", {H, W}, [&](Var y, Var x) { return select(kind(y, x) > 0 && most(y, x) == 2, u8(255), u8(0)); }));
}
