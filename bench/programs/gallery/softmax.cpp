// gallery/softmax.cpp: rows, their largest and their sum found in one pass (apps/gallery/softmax.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol M = p.size("M", 273), N = p.size("N", 431, {.min = 1});
  const Tensor x = p.in("x", f32, {M, N}, uniform(-5, 5));
  p.out(ops::softmax_online(x).result);
}
