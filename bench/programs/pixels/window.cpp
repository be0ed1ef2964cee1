// pixels/window.cpp: a window of 5 x 5 over an image of three channels in f32, inside of it.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 150), W = p.size("W", 301);
  const Tensor x = p.in("x", f32, {H + 4, W + 4, 3}, uniform(0, 1)), w = p.in("w", f32, {5, 5}, uniform(0, 1));
  const Axis r{"r", 5}, k{"k", 5};
  p.out(compute("y", {H, W, 3}, [&](Var y, Var i, Var c) { return sum(w(r, k) * x(y + r, i + k, c), {r, k}); }));
}
