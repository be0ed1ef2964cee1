// gallery/separable_int8.cpp: a depthwise and a pointwise convolution of bytes, requantized (apps/gallery/separable_int8.cpp).
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 1), H = p.size("H", 21), W = p.size("W", 23), C = p.size("C", 35), O = p.size("O", 51);
  const Tensor x = p.in("x", i8, {N, H, W, C}, integers(-128, 128)), dw = p.in("dw", i8, {3, 3, C}, integers(-128, 128)),
               pw = p.in("pw", i8, {C, O}, integers(-128, 128));
  const Tensor dw_bias = p.in("dw_bias", i32, {C}, integers(-999, 1000)),
               dw_mul = p.in("dw_mul", i32, {C}, integers(1 << 30, 2147483647)),
               dw_shift = p.in("dw_shift", i32, {C}, integers(7, 10));
  const Tensor pw_bias = p.in("pw_bias", i32, {O}, integers(-999, 1000)),
               pw_mul = p.in("pw_mul", i32, {O}, integers(1 << 30, 2147483647)),
               pw_shift = p.in("pw_shift", i32, {O}, integers(7, 10));
  const Tensor depth = ops::requantize(
      ops::quantized_depthwise_conv2d(x, ops::reshape(dw, {3, 3, C, 1}), dw_bias,
                                      {.conv = {.padding = {1, 1}, .layout = ops::Layout::channels_last}, .x_zero = 3}),
      dw_mul, dw_shift, -5, i8);
  p.out(ops::requantize(ops::quantized_matmul(depth, pw, {.a_zero = -5}, pw_bias), pw_mul, pw_shift, 7, i8));
}
