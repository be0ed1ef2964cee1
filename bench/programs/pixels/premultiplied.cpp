// pixels/premultiplied.cpp: three colors times the fourth channel, which stays.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 400), W = p.size("W", 801);
  const Tensor x = p.in("x", u8, {H, W, 4}, integers(0, 256));
  p.out(compute("y", {H, W, 4}, [&](Var y, Var i, Var c) {
    const Expr t = u16(x(y, i, c)) * select(c < 3, u16(x(y, i, 3)), 255) + 128;
    return u8((t + (t >> 8)) >> 8);
  }));
}
