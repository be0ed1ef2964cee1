// gallery/life.cpp: two generations of the game of life on a torus (apps/gallery/life.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 479, {.min = 1}), W = p.size("W", 913, {.min = 1});
  Tensor now = p.in("cells", u8, {H, W}, integers(0, 2));
  for (int g = 0; g < 2; ++g) {
    const Tensor torus = boundary::wrap(now), before = now;
    now = compute("generation", {H, W}, [&](Var y, Var x) {
      Expr around = u8(0);
      for (int r = -1; r <= 1; ++r)
        for (int c = -1; c <= 1; ++c)
          if (r != 0 || c != 0) around += torus(y + r, x + c);
      return select(around == 3, u8(1), select(around == 2, before(y, x), u8(0)));
    });
  }
  p.out(now);
}
