// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The error function. Near zero a polynomial in x^2; further out f32 takes 1 - 2^v(x) with v = log2 erfc(x), which needs no
// division; f64 and erfc take erfc(x) = exp(-x^2) g(t) / (1 + 2x), t = (x - 4) / (x + 4), after Shepherd and Laframboise
// (Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x), Math. Comp. 36, 1981).
#include <cmath>

#include "ir/math/kit.h"

namespace ashlar::ir::math {
namespace {

// |x| < 1 (f32), 0.9375 (f64)
Expr erf_center(const Kit& k, const Expr& x) {
  const Expr z = mul(x, x);
  if (!k.wide)
    return k.fma(x,
                 k.poly(z, {0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2ce6p-4, -0x1.b7f71ap-6, 0x1.53f224p-8, -0x1.a3515ep-11,
                            0x1.4771fep-14}),
                 x);
  return k.fma(
      x,
      k.poly(z, {0x1.06eba8214db69p-3, -0x1.812746b0379c7p-2, 0x1.ce2f21a041accp-4, -0x1.b82ce3124417ep-6, 0x1.565bcd04ba45p-8,
                 -0x1.c02db24d8c781p-11, 0x1.f9a2f4fb186c3p-14, -0x1.f4ce799e35d24p-17, 0x1.b9b20c06b23c6p-20,
                 -0x1.5d901afdd0b14p-23, 0x1.e60f2465d8eb5p-27, -0x1.fd685dca22357p-31, 0x1.7a5719ae9445p-36}),
      x);
}

// erfc(a), a >= 1/2
Expr erfc_tail(const Kit& k, const Expr& beyond) {
  const Expr a = k.below(beyond, k.wide ? 27.5 : 10.25);
  const Expr t = div(sub(a, k.c(4)), add(a, k.c(4)));
  const Expr rest =
      k.wide ? k.poly(t, {-0x1.1df1ad154a28dp-3,  0x1.f7f5df66fc8b9p-7,   0x1.16ecefcfa5257p-4,   -0x1.9ddb23c3e406p-4,
                          0x1.7fee004e156dfp-4,   -0x1.0fb06dfead594p-4,  0x1.3079edf60c21p-5,    -0x1.09623873b8478p-6,
                          0x1.49c672ae6b596p-8,   -0x1.8d4aa8a4d1d53p-11, -0x1.a1df4753dfa11p-13, 0x1.3be13ec807513p-13,
                          -0x1.9954a2f882c23p-16, -0x1.78b2bafdc9b62p-17, 0x1.7ef34be569535p-18,  0x1.444a309933ecep-22,
                          -0x1.b7ebf680f302bp-21, 0x1.178a194f2ac54p-24,  0x1.bb4852284b121p-24,  -0x1.8d80db3abc428p-27,
                          -0x1.4b598bb387dd2p-27})
             : k.poly(t, {-0x1.1df1ap-3, 0x1.f7eaecp-7, 0x1.16e746p-4, -0x1.9dd25p-4, 0x1.80398p-4, -0x1.0f7a84p-4,
                          0x1.2e0c0ep-5, -0x1.11709ep-6, 0x1.57877ap-8});
  const Pair g = k.fast_sum(k.c(k.wide ? 0x1.3ba5916e9fd7fp0 : 0x1.3ba592p0), mul(t, rest));
  // exp(-a^2) with the square in two parts, carried 2^64 (2^128) too large so that the subnormal range is rounded to once.
  const int carry = k.wide ? 128 : 64;
  const Pair square = k.product(a, a);
  const Pair e = k.rounded(exp_times_pair(k, {neg(square.hi), neg(square.lo)}, carry));
  const Pair q = k.rounded(k.quotient(g, k.fast_sum(add(a, a), k.c(1))));
  const Pair p = k.product(e.hi, q.hi);
  return mul(add(p.hi, add(p.lo, k.fma(e.hi, q.lo, mul(e.lo, q.hi)))), k.c(std::ldexp(1, -carry)));
}

}  // namespace

namespace {

// 1 - 2^v, v = log2 erfc(a), a >= 1: an error of v counts erfc(a) times, no more than 0.16.
Expr erf_tail_f32(const Kit& k, const Expr& a) {
  const Expr v = k.poly(k.below(a, 4), {-0x1.02542p-11, -0x1.a0448cp0, -0x1.d75f3cp-1, -0x1.30a4a8p-3, 0x1.021828p-5,
                                        -0x1.16b264p-8, 0x1.19f382p-12});
  const Expr magic = k.c(k.magic() + static_cast<double>(k.bias())), t = add(v, magic);  // ends in the exponent of 2^n
  const Expr r = sub(v, sub(t, magic));
  return k.fma(neg(exp2_poly(k, r)), k.real(k.shl(k.bits(t), k.mantissa())), k.c(1));
}

}  // namespace

Expr erf(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x), outer = k.wide ? sub(k.c(1), erfc_tail(k, a)) : erf_tail_f32(k, a);
  return select(lt(a, k.c(k.wide ? 0.9375 : 1)), erf_center(k, x), k.copysign(outer, x));
}

Expr erfc(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x), tail = erfc_tail(k, a);
  return select(lt(a, k.c(0.5)), sub(k.c(1), erf_center(k, x)), select(lt(x, k.c(0)), sub(k.c(2), tail), tail));
}

}  // namespace ashlar::ir::math
