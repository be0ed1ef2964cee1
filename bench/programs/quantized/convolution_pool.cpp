// quantized/convolution_pool.cpp: a 3 x 3 convolution of int8 with zero points, 16 channels to 24, requantized for each
// channel, with a fused ReLU; then the maximum of 2 x 2.
#include "bench/programs/program.h"

PROGRAM(p) {
  const int zero_in = -7, zero_out = -11;
  const Symbol H = p.size("H", 45, {.min = 2}), W = p.size("W", 51, {.min = 2});
  const Tensor picture = p.in("picture", i8, {H, W, 16}, integers(-128, 128)),
               w = p.in("w", i8, {24, 3, 3, 16}, integers(-127, 128));
  const Tensor bias = p.in("bias", i32, {24}, integers(-5000, 5000)),
               multiplier = p.in("multiplier", i32, {24}, integers(1 << 30, (std::int64_t{1} << 31) - 1)),
               shift = p.in("shift", i32, {24}, integers(9, 12));

  const Tensor framed = boundary::constant(picture, zero_in, {0, 1});
  const Axis dy{"dy", 3}, dx{"dx", 3}, c{"c", 16};
  const Tensor total = compute("total", {H, W, 24}, [&](Var y, Var x, Var o) {
    return sum((i32(framed(y + dy - 1, x + dx - 1, c)) - zero_in) * i32(w(o, dy, dx, c)), {dy, dx, c}).from(bias(o));
  });
  const Tensor q = compute("q", {H, W, 24}, [&](Var y, Var x, Var o) {
    const Expr scaled = rounding_shr(mul_high_rounding(total(y, x, o), multiplier(o)), shift(o)) + zero_out;
    return i8(clamp(scaled, zero_out, 127));
  });
  p.out(compute("pooled", {H / 2, W / 2, 24}, [&](Var y, Var x, Var o) {
    return max(max(q(2 * y, 2 * x, o), q(2 * y, 2 * x + 1, o)), max(q(2 * y + 1, 2 * x, o), q(2 * y + 1, 2 * x + 1, o)));
  }));
}
