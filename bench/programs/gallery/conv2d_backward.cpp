// gallery/conv2d_backward.cpp: the gradients of a convolution, by its input and by its weights
// (apps/gallery/conv2d_backward.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 2), C = p.size("C", 5), O = p.size("O", 7), H = p.size("H", 27, {.min = 3}),
               W = p.size("W", 30, {.min = 3});
  const Tensor x = p.in("x", f32, {N, C, H, W}, uniform(-1, 1)), w = p.in("w", f32, {O, C, 3, 3}, uniform(-1, 1)),
               dy = p.in("dy", f32, {N, O, H - 2, W - 2}, uniform(-1, 1));
  const Tensor y = ops::conv2d(x, w);
  const Axis n{"n", N}, o{"o", O}, i{"i", H - 2}, j{"j", W - 2};
  const Tensor loss = compute("loss", [&] { return sum(y(n, o, i, j) * dy(n, o, i, j), {n, o, i, j}); });
  auto [dx, dw] = gradient(loss, {x, w});
  p.out(dx), p.out(dw);
}
