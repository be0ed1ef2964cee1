// images/local_contrast.cpp: a gray picture of an interleaved one, each pixel moved away from the mean of its 7 x 7 neighbors.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 270, {.min = 1}), W = p.size("W", 350, {.min = 1});
  const Tensor photo = p.in("photo", u8, {H, W, 3}, integers(0, 256));
  const Tensor gray = compute("gray", {H, W}, [&](Var y, Var x) {
    return (i32(photo(y, x, 0)) * 77 + i32(photo(y, x, 1)) * 150 + i32(photo(y, x, 2)) * 29) >> 8;
  });
  const Tensor wide = boundary::repeat(gray);
  const Axis r{"r", -3, 4};
  const Tensor rows = compute("rows", {H, W}, [&](Var y, Var x) { return sum(wide(y, x + r), r); });
  const Tensor tall = boundary::repeat(rows);
  const Tensor window = compute("window", {H, W}, [&](Var y, Var x) { return sum(tall(y + r, x), r); });
  p.out(compute("contrast", {H, W}, [&](Var y, Var x) {
    const Expr mean = window(y, x) / 49;
    return u8(clamp(mean + (gray(y, x) - mean) * 3 / 2, 0, 255));
  }));
}
