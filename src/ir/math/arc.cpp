// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inverse circular functions.
#include "ir/math/kit.h"

namespace ashlar::ir::math {
namespace {

// atan(t) - t for |t| <= tan(pi/8)
Expr atan_tail(const Kit& k, const Expr& t) {
  const Expr z = mul(t, t);
  const Expr q = k.wide ? k.poly(z, {-0x1.555555555553cp-2, 0x1.99999999956b3p-3, -0x1.24924922a47abp-3, 0x1.c71c70e3118f7p-4,
                                     -0x1.745cf8904ac97p-4, 0x1.3b1114582e224p-4, -0x1.10eb86d4b04b5p-4, 0x1.df0cb40872274p-5,
                                     -0x1.9cc7e57951b78p-5, 0x1.37bbe56b08a68p-5, -0x1.25355c994395dp-6})
                        : k.poly(z, {-0x1.555548p-2, 0x1.99912ap-3, -0x1.23ae9p-3, 0x1.b1987cp-4, -0x1.f075d2p-5});
  return mul(mul(t, z), q);
}

// multiples of pi/4 by powers of two
Pair quarter_pi(const Kit& k, double multiple) {
  return {k.c(multiple / 2 * half_pi_part(k, 0)), k.c(multiple / 2 * half_pi_part(k, 1))};
}

// atan(p / q) for 0 <= p <= q, q > 0 and both far from overflow, as a sum; one division:
// p <= tan(pi/8) q: t = p / q; otherwise pi/4 + atan((p - q) / (p + q)).
Pair octant(const Kit& k, const Expr& p, const Expr& q) {
  const Expr steep = gt(p, mul(q, k.c(0.4142135623730950488))), zero = k.c(0);
  const Pair less = k.fast_sum(neg(q), p), more = k.fast_sum(q, p);
  const Pair t = k.quotient({select(steep, less.hi, p), select(steep, less.lo, zero)},
                            {select(steep, more.hi, q), select(steep, more.lo, zero)});
  const Expr tail = add(atan_tail(k, t.hi), t.lo);
  const Pair base = quarter_pi(k, 1), s = k.fast_sum(select(steep, base.hi, zero), t.hi);
  return {s.hi, add(s.lo, select(steep, add(base.lo, tail), tail))};
}

// multiple * pi/4 - a, for multiples that are powers of two
Pair from(const Kit& k, double multiple, const Pair& a) {
  const Pair base = quarter_pi(k, multiple), s = k.fast_sum(base.hi, neg(a.hi));
  return {s.hi, add(s.lo, sub(base.lo, a.lo))};
}

}  // namespace

Expr atan(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x), one = k.c(1), big = gt(a, one);
  const Expr bounded = k.below(a, 0x1p60);
  const Pair o = octant(k, select(big, one, a), select(big, bounded, one));
  return k.copysign(total(choose(big, from(k, 2, o), o)), x);
}

Expr atan2(const Kit& k, const Expr& y, const Expr& x) {
  const Expr ax = k.abs(x), ay = k.abs(y), zero = k.c(0), one = k.c(1), inf = k.c(k.infinity());
  const Expr swap = gt(ay, ax);
  const Expr p0 = select(swap, ax, ay), q0 = select(swap, ay, ax);  // p0 <= q0
  // Brought to the middle of the exponent range, so that neither p + q nor p / q leaves it.
  const double far = k.wide ? 0x1p500 : 0x1p60;
  const Expr scale = select(gt(q0, k.c(far)), k.c(1 / far), select(lt(q0, k.c(1 / far)), k.c(far), one));
  const Expr both_infinite = logic_and(eq(p0, inf), eq(q0, inf)), both_zero = eq(q0, zero);
  const Expr p = select(both_infinite, one, mul(p0, scale));
  const Expr q = select(logic_or(both_infinite, both_zero), one, mul(q0, scale));
  Pair a = octant(k, p, select(eq(q, inf), one, q));
  const Expr flat = logic_and(eq(q, inf), lt(p0, inf));  // a finite part beside an infinite one
  a = choose(flat, {zero, zero}, a);
  a = choose(swap, from(k, 2, a), a);
  const Expr left = lt(k.copysign(one, x), zero);
  a = choose(left, from(k, 4, a), a);
  const Expr nan = logic_or(unary(Op::isnan, x), unary(Op::isnan, y));
  return select(nan, k.c(k.not_a_number()), k.copysign(total(a), y));
}

namespace {

// asin(t) - t for |t| <= 1/2, from z = t^2
Expr asin_tail(const Kit& k, const Expr& t, const Expr& z) {
  const Expr q = k.wide ? k.poly(z, {0x1.555555555538p-3, 0x1.333333336fd5bp-4, 0x1.6db6db41ce4bcp-5, 0x1.f1c72c668971cp-6,
                                     0x1.6e89f0a0ab5b8p-6, 0x1.1c6c111e009cfp-6, 0x1.c6fa84b21e97dp-7, 0x1.8ed60a5b283c2p-7,
                                     0x1.ab3a07d4c022dp-8, 0x1.405214c3268a3p-6, -0x1.0a5a39d4657a9p-6, 0x1.05985ad7bf3c2p-5})
                        : k.poly(z, {0x1.5555ccp-3, 0x1.33010ep-4, 0x1.748f98p-5, 0x1.8b951ep-6, 0x1.59dbe4p-5});
  return mul(mul(t, z), q);
}

// acos(a) / 2 = asin(sqrt((1 - a) / 2)) for 1/2 < a <= 1, as the root, what the root's rounding lost, and the tail
struct HalfAcos {
  Expr root, rest;
};
HalfAcos half_acos(const Kit& k, const Expr& a) {
  const Expr z = mul(sub(k.c(1), a), k.c(0.5)), s = unary(Op::sqrt, z);
  const Expr lost = select(eq(s, k.c(0)), k.c(0), div(k.fma(neg(s), s, z), add(s, s)));
  return {s, add(lost, asin_tail(k, s, z))};
}

}  // namespace

// |x| > 1/2: pi/2 - 2 asin(sqrt((1 - |x|) / 2)); sqrt of a negative number makes |x| > 1 NaN.
Expr asin(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x), inner = add(a, asin_tail(k, a, mul(a, a)));
  const HalfAcos h = half_acos(k, a);
  const Pair outer = from(k, 2, {mul(k.c(2), h.root), mul(k.c(2), h.rest)});
  return k.copysign(select(gt(a, k.c(0.5)), total(outer), inner), x);
}

Expr acos(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x);
  const Pair inner = from(k, 2, {x, asin_tail(k, x, mul(x, x))});
  const HalfAcos h = half_acos(k, a);
  const Pair twice{mul(k.c(2), h.root), mul(k.c(2), h.rest)};
  const Expr outer = total(choose(lt(x, k.c(0)), from(k, 4, twice), twice));
  return select(gt(a, k.c(0.5)), outer, total(inner));
}

}  // namespace ashlar::ir::math
