// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exponential family. exp(x) = 2^n exp(r) with n the integer nearest x / ln 2 and |r| <= ln(2)/2, r from a two-part ln 2
// by fma (Cody and Waite); polynomials are minimax on that interval with coefficients rounded to the type.
//
// expm1, tanh, sinh, cosh and sigmoid add to or divide by exp(r), which would add its rounding to theirs: they take it as a sum
// hi + lo whose rounding is left to the last operation.

#include "ir/math/kit.h"

namespace ashlar::ir::math {

namespace {

// x = n ln 2 + r.hi + r.lo
struct Reduced {
  Expr n;
  Pair r;
};

Expr shifted_multiple_of_ln2(const Kit& k, const Expr& x) { return k.fma(x, k.c(0x1.71547652b82fep0), k.c(k.magic())); }
Expr multiple_of_ln2(const Kit& k, const Expr& x) { return sub(shifted_multiple_of_ln2(k, x), k.c(k.magic())); }

Reduced reduce(const Kit& k, const Expr& x) {
  const Expr n = multiple_of_ln2(k, x);
  Expr r = k.fma(n, k.c(k.wide ? -0x1.62e42fefa39efp-1 : -0x1.62e43p-1), x);
  r = k.fma(n, k.c(k.wide ? -0x1.abc9e3b39803fp-56 : 0x1.05c61p-29), r);
  return {n, {r, {}}};
}

// The first part of ln 2 is so short that its product with n, and the difference, are exact.
Reduced reduce_pair(const Kit& k, const Expr& x) {
  const Expr n = multiple_of_ln2(k, x), low = k.c(k.wide ? -0x1.cf79abc9e3b3ap-40 : -0x1.7f7d1cp-20);
  const Expr first = k.fma(n, k.c(k.wide ? -0x1.62e42fefap-1 : -0x1.62e4p-1), x);
  const Expr r = k.fma(n, low, first);
  return {n, {r, k.fma(n, low, sub(first, r))}};
}

}  // namespace

Expr exp_poly(const Kit& k, const Expr& r) {
  if (!k.wide) return k.poly(r, {1, 1, 0x1.fffff8p-2, 0x1.55548ep-3, 0x1.555b98p-5, 0x1.123bd2p-7, 0x1.68511ap-10});
  return k.poly(
      r, {1, 1, 0x1.000000000000cp-1, 0x1.5555555555519p-3, 0x1.555555554fe64p-5, 0x1.11111111201dcp-7, 0x1.6c16c185ea90ep-10,
          0x1.a01a0152efa2bp-13, 0x1.a0199610dfc74p-16, 0x1.71decbdc30fd4p-19, 0x1.28b0a41e5366fp-22, 0x1.ae0b828cb7927p-26});
}

namespace {

// (exp(r) - 1 - r) / r^2, |r| <= ln(2)/2
Expr expm1_poly(const Kit& k, const Expr& r) {
  return k.wide ? k.poly(r, {0.5, 0x1.5555555555555p-3, 0x1.5555555555557p-5, 0x1.1111111111308p-7, 0x1.6c16c16c15783p-10,
                             0x1.a01a019f15e7fp-13, 0x1.a01a01ab106c2p-16, 0x1.71de3e2aa856ep-19, 0x1.27e4d14dc212dp-22,
                             0x1.ae56d0635f0cap-26, 0x1.1f83d03bc50d2p-29, 0x1.7377b33459027p-33})
                : k.poly(r, {0.5, 0x1.555554p-3, 0x1.5554fp-5, 0x1.111308p-7, 0x1.6d436cp-10, 0x1.9e078p-13});
}

// exp(r) - 1 - r.hi
Expr expm1_tail(const Kit& k, const Pair& r) { return k.fma(mul(r.hi, r.hi), expm1_poly(k, r.hi), k.fma(r.lo, r.hi, r.lo)); }

// expm1(x) / 2, which does not overflow before expm1 does; x must lie below the overflow threshold, and below 0 where
// `negative`
Pair half_expm1(const Kit& k, const Expr& x, bool negative) {
  const auto [n, r] = reduce_pair(k, k.above(x, k.wide ? -40 : -20));
  const Expr s = k.power_of_two(sub(n, k.c(1)));
  const Expr minus = k.c(-0.5);  // where s is smaller and comes first the sum is exact, or its error no matter
  const Pair base = negative ? k.fast_sum(minus, s) : k.fast_sum(s, minus);
  const Expr hi = k.fma(s, r.hi, base.hi);  // |base| >= s |r|, or 0
  return {hi, k.fma(s, expm1_tail(k, r), add(k.fma(s, r.hi, sub(base.hi, hi)), base.lo))};
}

// (sinh(x) - x) / x^3 from z = x^2 <= 1
Expr sinh_poly(const Kit& k, const Expr& z) {
  return k.wide ? k.poly(z, {0x1.5555555555555p-3, 0x1.111111111119bp-7, 0x1.a01a01a00735cp-13, 0x1.71de3a68d011ap-19,
                             0x1.ae644121dbd73p-26, 0x1.61314f04e2411p-33, 0x1.a6630d395aa75p-41, 0x1.d31a3f73d36a4p-48})
                : k.poly(z, {0x1.555556p-3, 0x1.1110ep-7, 0x1.a022bcp-13, 0x1.756c1ep-19});
}

// exp(r)
Pair exp_pair(const Kit& k, const Pair& r) {
  const Pair p = k.fast_sum(k.c(1), r.hi);
  return {p.hi, add(p.lo, expm1_tail(k, r))};
}

}  // namespace

Expr exp_times(const Kit& k, const Expr& x, double exponent) {
  const Expr inside = k.above(k.below(x, k.wide ? 711 : 90), k.wide ? -746 : -105);
  const auto [n, r] = reduce(k, inside);
  const Expr p = exp_poly(k, r.hi);
  return exponent == 0 ? k.scale_shifted(p, shifted_multiple_of_ln2(k, inside)) : k.scale(p, add(n, k.c(exponent)));
}

Pair exp_times_pair(const Kit& k, const Pair& x, double exponent) {
  auto [n, r] = reduce_pair(k, x.hi);
  if (!x.lo.empty()) r = k.rounded({r.hi, add(r.lo, x.lo)});
  const Pair p = exp_pair(k, r);
  const Expr s = k.power_of_two(exponent == 0 ? n : add(n, k.c(exponent)));
  return {mul(s, p.hi), mul(s, p.lo)};
}

Expr exp(const Kit& k, const Expr& x) { return exp_times(k, x, 0); }

// 2^r, |r| <= 1/2
Expr exp2_poly(const Kit& k, const Expr& r) {
  return k.wide ? k.poly(r, {1, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a5p-3, 0x1.c6b08d704a124p-5, 0x1.3b2ab6fb9ffafp-7,
                             0x1.5d87fe78a08fdp-10, 0x1.4309130f14ca6p-13, 0x1.ffcbfc5c18559p-17, 0x1.62bfc71b3397fp-20,
                             0x1.b525395b42f4fp-24, 0x1.e61c16c1056fp-28, 0x1.e9506e7458f2ep-32})
                : k.poly(r, {1, 0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af78p-5, 0x1.3b30bp-7, 0x1.5f0a66p-10, 0x1.3f9068p-13});
}

Expr exp2(const Kit& k, const Expr& x) {
  const Expr inside = k.above(k.below(x, k.wide ? 1025 : 129), k.wide ? -1080 : -151);
  const Expr shifted = add(inside, k.c(k.magic())), r = sub(inside, sub(shifted, k.c(k.magic())));
  return k.scale_shifted(exp2_poly(k, r), shifted);
}

Expr expm1(const Kit& k, const Expr& x) {
  const Expr h = total(half_expm1(k, k.below(x, k.wide ? 710 : 89), false));
  return select(lt(k.abs(x), k.c(k.wide ? 0x1p-60 : 0x1p-30)), x, add(h, h));  // half of a subnormal number is none
}

Expr fast_expm1(const Kit& k, const Expr& x) {
  const auto [n, r] = reduce(k, k.above(k.below(x, k.wide ? 710 : 89), k.wide ? -40 : -20));
  const Expr s = k.power_of_two(sub(n, k.c(1)));
  const Expr h = k.fma(s, k.fma(mul(r.hi, r.hi), expm1_poly(k, r.hi), r.hi), sub(s, k.c(0.5)));
  return select(eq(x, k.c(0)), x, add(h, h));
}

namespace {

// exp(a) / 2, a >= 0; its high part overflows when sinh and cosh do.
Pair half_exp(const Kit& k, const Expr& a) {
  const Pair e = k.rounded(exp_times_pair(k, {k.below(a, k.wide ? 710.5 : 89.5), {}}, -2));
  return {add(e.hi, e.hi), add(e.lo, e.lo)};
}

}  // namespace

// |x| < 1: a polynomial; otherwise e - 1 / (4 e) with e = exp(|x|) / 2.
Expr sinh(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x), z = mul(a, a);
  const Expr near = k.fma(mul(a, z), sinh_poly(k, z), a);
  const Pair e = half_exp(k, a);
  const Expr far = add(e.hi, sub(e.lo, div(k.c(0.25), e.hi)));
  return k.copysign(select(lt(a, k.c(1)), near, far), x);
}

Expr cosh(const Kit& k, const Expr& x) {
  const Pair e = half_exp(k, k.abs(x));
  return add(e.hi, add(e.lo, div(k.c(0.25), e.hi)));
}

// With h = expm1(-2|x|) / 2: tanh|x| = -h / (1 + h).
Expr tanh(const Kit& k, const Expr& x) {
  const Expr a = k.below(k.abs(x), k.wide ? 20 : 9.5);
  const Pair h = half_expm1(k, mul(k.c(-2), a), true);
  Pair d = k.fast_sum(k.c(1), h.hi);
  d.lo = add(d.lo, h.lo);
  return k.copysign(total(k.quotient(k.rounded(h), k.rounded(d))), x);
}

// With e = exp(-|x|): 1 / (1 + e), and e / (1 + e) for negative x, whose power of two is multiplied in last.
Expr sigmoid(const Kit& k, const Expr& x) {
  const auto [n, r] = reduce_pair(k, neg(k.below(k.abs(x), k.wide ? 746 : 105)));
  const Pair p = exp_pair(k, r);
  const Expr s = k.power_of_two(k.above(n, k.wide ? -1000 : -100)), one = k.c(1), negative = lt(x, k.c(0));
  Pair d = k.fast_sum(one, mul(s, p.hi));
  d.lo = k.fma(s, p.lo, d.lo);
  const Expr q = total(k.quotient({select(negative, p.hi, one), select(negative, p.lo, k.c(0))}, k.rounded(d)));
  return select(negative, k.scale(q, n), q);
}

}  // namespace ashlar::ir::math
