// gallery/harris.cpp: corners: gradients, their products summed over windows, det - k trace^2 (apps/gallery/harris.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 255, {.min = 5}), W = p.size("W", 411, {.min = 5});
  const Tensor gray = p.in("gray", f32, {H, W}, uniform(0, 1));
  p.out(compute("corners", {H - 4, W - 4}, [&, c = ops::harris(gray)](Var y, Var x) { return c.result(y, x); }));
}
