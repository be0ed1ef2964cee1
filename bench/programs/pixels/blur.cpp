// pixels/blur.cpp: a window of 3 x 3 over an image of three colors a pixel, its borders repeated.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 61, {.min = 1}), W = p.size("W", 803, {.min = 1});
  const Tensor x = p.in("x", u8, {H, W, 3}, integers(0, 256)), w = p.in("w", i32, {3, 3}, integers(0, 28));
  const Axis r{"r", 3}, k{"k", 3};
  const Tensor sums = compute("sums", {H, W, 3}, [&](Var y, Var i, Var c) {
    return sum(w(r, k) * i32(x(clamp(y + r - 1, 0, H - 1), clamp(i + k - 1, 0, W - 1), c)), {r, k});
  });
  p.out(compute("blurred", {H, W, 3}, [&](Var y, Var i, Var c) { return saturate(u8, sums(y, i, c) >> 8); }));
}
