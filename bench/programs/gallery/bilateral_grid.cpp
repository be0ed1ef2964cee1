// gallery/bilateral_grid.cpp: an edge-preserving blur by a grid of places and values (apps/gallery/bilateral_grid.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 115, {.min = 1, .max = 65536}), W = p.size("W", 187, {.min = 1, .max = 65536});
  const Tensor in = p.in("in", u8, {H, W}, integers(0, 256));
  p.out(ops::bilateral_grid(in, 8, 32).result);
}
