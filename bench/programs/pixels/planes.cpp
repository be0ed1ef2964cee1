// pixels/planes.cpp: what a network gives, three planes of f32, as pixels of bytes; a row is 1000.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 480), W = p.size("W", 1000);
  const Tensor x = p.in("x", f32, {3, H, W}, uniform(-1, 2));
  p.out(compute("y", {H, W, 3}, [&](Var y, Var i, Var c) { return saturate(u8, i32(round(x(c, y, i) * 255.f))); }));
}
