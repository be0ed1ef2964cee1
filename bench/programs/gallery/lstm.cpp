// gallery/lstm.cpp: a layer of long short-term memory over the steps of one sequence (apps/gallery/lstm.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol T = p.size("T", 91), I = p.size("I", 53), H = p.size("H", 61);
  const Tensor x = p.in("x", f32, {T, I}, uniform(-1, 1)), W = p.in("W", f32, {I, 4, H}, uniform(-0.2, 0.2)),
               U = p.in("U", f32, {H, 4, H}, uniform(-0.2, 0.2)), b = p.in("b", f32, {4, H}, uniform(-0.5, 0.5));
  p.out(ops::lstm(x, W, U, b).result);
}
