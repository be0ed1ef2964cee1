// gallery/bicubic.cpp: an image resized by cubic convolution, along rows and then along columns (apps/gallery/bicubic.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol H = p.size("H", 143, {.min = 1}), W = p.size("W", 201, {.min = 1}), OH = p.size("OH", 190, {.min = 1}),
               OW = p.size("OW", 317, {.min = 1});
  const Tensor in = p.in("in", f32, {H, W}, uniform(0, 1));
  p.out(ops::resize(in, {{1, OW}, {0, OH}}, {.mode = ops::ResizeMode::cubic, .a = -0.5}).result);
}
