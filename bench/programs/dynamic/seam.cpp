// dynamic/seam.cpp: the cheapest vertical seam to each pixel of the last row: energies, then a table filled row after row.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 300, {.min = 1}), W = p.size("W", 500, {.min = 1});
  const Tensor image = p.in("image", i32, {H, W}, integers(0, 256));
  const Tensor wide = boundary::repeat(image);
  const Tensor energy = compute("energy", {H, W}, [&](Var y, Var x) {
    return abs(wide(y, x + 1) - wide(y, x - 1)) + abs(wide(y + 1, x) - wide(y - 1, x));
  });
  const Tensor cost = recur(
      "cost", {H, W}, Along{0}, Lag{1}, [&](Var y, Var x) { return energy(y, x); },
      [&](Prior c, Var y, Var x) {
        return energy(y, x) + min(min(c(y - 1, max(x - 1, 0)), c(y - 1, x)), c(y - 1, min(x + 1, W - 1)));
      });
  p.out(compute("last", {W}, [&](Var x) { return cost(H - 1, x); }));
}
