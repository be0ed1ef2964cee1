// gallery/box_filter.cpp: means over a square window, cut at the edges, by an integral image (apps/gallery/box_filter.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 205, {.min = 1, .max = 4096}), W = p.size("W", 263, {.min = 1, .max = 4096});
  const Tensor in = p.in("in", u8, {H, W}, integers(0, 256));
  p.out(ops::box_filter(in, 7).result);
}
