// gallery/top_k.cpp: the four largest elements of each row, and where they stand (apps/gallery/top_k.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol M = p.size("M", 607), N = p.size("N", 307, {.min = 4, .max = 2147483647});
  const Tensor x = p.in("x", f32, {M, N}, uniform(-1, 1));
  const auto top = ops::topk(x, 4, -1, true, i32);
  p.out(top.result), p.out(top.index);
}
