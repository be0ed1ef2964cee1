// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Powers and roots.
#include <cmath>

#include "ir/math/kit.h"

namespace ashlar::ir::math {
namespace {

// x^y for positive finite x within the range of f32, in f64 throughout: 2^(y log2 x), the logarithm to 2^-38.
Expr power_of_narrow(const Kit& d, const Expr& x, const Expr& y) {
  const auto [e, m] = split(d, x);
  const Expr f = sub(m, d.c(1)), s = div(f, add(d.c(2), f)), z = mul(s, s);
  const Expr r = mul(z, d.poly(z, {0x1.5555554ba532p-1, 0x1.9999eba52ed78p-2, 0x1.245c27a811e8dp-2, 0x1.ddd435206aa82p-3}));
  const Expr log2_x = d.fma(mul(s, add(d.c(2), r)), d.c(0x1.71547652b82fep0), e);
  const Expr p = d.above(d.below(mul(y, log2_x), 300), -300);
  const Expr n = d.nearest(p), t = sub(p, n);
  const Expr q = d.poly(t, {1, 0x1.62e42ff18ada3p-1, 0x1.ebfbe079a70b9p-3, 0x1.c6b089c3efcf7p-5, 0x1.3b29f216e1dbdp-7,
                            0x1.5d8b5ce63f53bp-10, 0x1.445d8920cbfdp-13, 0x1.fd08869ef7e5cp-17});
  return mul(q, d.power_of_two(n));
}

Pair times(const Kit& k, const Pair& a, const Pair& b) {
  const Pair p = k.product(a.hi, b.hi);
  return k.rounded({p.hi, add(p.lo, k.fma(a.hi, b.lo, mul(a.lo, b.hi)))});
}

// log2(x) of positive finite doubles, to 2^-64 of it: 2 atanh(s) / ln 2, s = (m - 1) / (m + 1), with the series of
// atanh(s)/s = 1 + s^2/3 + ... in two doubles as far as s^2/3 (the arithmetic of T. Dekker, A floating-point technique for
// extending the available precision, Numer. Math. 18, 1971).
Pair log2_pair(const Kit& d, const Expr& x) {
  const Parts p = split_any(d, x);
  const Expr f = sub(p.m, d.c(1));
  const Pair s = d.rounded(d.quotient({f, d.c(0)}, d.fast_sum(d.c(2), f)));
  const Pair z = times(d, s, s);
  const Expr q = d.poly(
      z.hi, {0x1.999999999999cp-3, 0x1.2492492491d86p-3, 0x1.c71c71c81ac8bp-4, 0x1.745d16b134c9dp-4, 0x1.3b13e38795365p-4,
             0x1.1106cd87bd6b3p-4, 0x1.e462511144be3p-5, 0x1.83c39a70aa647p-5, 0x1.6b98a64635243p-4});
  Pair third = d.fast_sum(d.c(0x1.5555555555555p-2), mul(z.hi, q));
  third.lo = add(third.lo, d.c(0x1.5555555555555p-56));
  const Pair series = times(d, s, times(d, z, third));
  Pair atanh = d.fast_sum(s.hi, series.hi);
  atanh = d.rounded({atanh.hi, add(atanh.lo, add(s.lo, series.lo))});
  const Pair m = times(d, atanh, {d.c(0x1.71547652b82fep1), d.c(0x1.777d0ffda0d24p-55)});
  const Pair sum = d.fast_sum(p.e, m.hi);
  return d.rounded({sum.hi, add(sum.lo, m.lo)});
}

// x^y for positive finite doubles
Expr power_of_wide(const Kit& d, const Expr& x, const Expr& y) {
  const Pair log = log2_pair(d, x);
  const Expr bounded = d.above(d.below(y, 0x1p70), -0x1p70);
  const Pair p = d.product(bounded, log.hi);
  const Expr hi = d.above(d.below(p.hi, 1100), -1100);
  const Expr lo = select(eq(hi, p.hi), d.fma(bounded, log.lo, p.lo), d.c(0));
  const Expr n = d.nearest(hi), t = add(sub(hi, n), lo);
  return d.scale(exp2_poly(d, t), n);
}

// Special cases as C's pow; `magnitude` is of positive finite numbers.
template <class F>
Expr with_corners(const Kit& k, const Expr& x, const Expr& y, F&& magnitude) {
  const Expr a = k.abs(x), zero = k.c(0), one = k.c(1), inf = k.c(k.infinity());
  const Expr safe = select(logic_and(gt(a, zero), lt(a, inf)), a, one);
  const Expr finite_y = select(lt(k.abs(y), inf), y, one);
  Expr r = magnitude(safe, finite_y);
  const Expr up = eq(gt(a, one), gt(y, zero));  // |x|^y grows with |y|
  r = select(logic_or(eq(a, zero), eq(a, inf)), select(up, inf, zero), r);
  r = select(eq(k.abs(y), inf), select(eq(a, one), one, select(up, inf, zero)), r);
  const Expr whole = eq(unary(Op::trunc, y), y);  // infinite and large y are even integers
  const Expr half = mul(y, k.c(0.5));
  const Expr odd = logic_and(whole, ne(unary(Op::trunc, half), half));
  r = select(logic_and(logic_and(lt(x, zero), logic_not(whole)), lt(a, inf)), k.c(k.not_a_number()), r);
  r = select(odd, k.copysign(r, x), r);
  r = select(logic_or(unary(Op::isnan, x), unary(Op::isnan, y)), k.c(k.not_a_number()), r);
  return select(logic_or(eq(y, zero), eq(x, one)), one, r);
}

}  // namespace

// The magnitude of f32 is rounded once, from f64.
Expr pow(const Kit& k, const Expr& x, const Expr& y) {
  return with_corners(k, x, y, [&](const Expr& a, const Expr& b) {
    if (k.wide) return power_of_wide(k, a, b);
    const Kit d(Type{Type::Code::ieee, 64, k.type.lanes, k.type.scalable});
    return cast(k.type, power_of_narrow(d, cast(d.type, a), cast(d.type, b)));
  });
}

// 2^(y log2 x) in the type itself, whose error grows with the exponent.
Expr fast_pow(const Kit& k, const Expr& x, const Expr& y) {
  return with_corners(k, x, y, [&](const Expr& a, const Expr& b) { return fast_exp2(k, mul(b, fast_log2(k, a))); });
}

// y = 1 / sqrt(x), rounded twice, and one step of Newton's iteration on 1 - x y^2, whose product x y is kept in two parts.
Expr rsqrt(const Kit& k, const Expr& x) {
  const Expr y = div(k.c(1), unary(Op::sqrt, x));
  const Pair u = k.product(x, y);
  const Expr rest = k.fma(neg(u.lo), y, k.fma(neg(u.hi), y, k.c(1)));
  const Expr better = k.fma(mul(k.c(0.5), y), rest, y);
  return select(logic_and(gt(x, k.c(0)), lt(x, k.c(k.infinity()))), better, y);
}

// A guess from the bits (the exponent divided by 3), two steps of Halley's iteration, one Newton correction by fma.
Expr cbrt(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x);
  // Brought away from both ends of the exponent range.
  const Expr tiny = lt(a, k.c(k.wide ? 0x1p-1022 : 0x1p-126)), huge = gt(a, k.c(k.wide ? 0x1p1000 : 0x1p100));
  const auto scaled = [&](const Expr& v, int exponent) {
    const Expr up = k.c(std::ldexp(1, exponent)), down = k.c(std::ldexp(1, -exponent));
    return mul(v, select(tiny, up, select(huge, down, k.c(1))));
  };
  const Expr s = scaled(a, k.wide ? 54 : 24);
  Expr t;
  if (k.wide) {  // bits / 3 from the upper half, as a float product
    const Expr third = mul(cast(k.type, binary(Op::shr, k.bits(s), k.ci(32))), k.c(1.0 / 3));
    t = k.real(k.shl(add(cast(k.bits_type, third), k.ci(715094163)), 32));
  } else {
    const Expr third = mul(cast(k.type, k.bits(s)), k.c(1.0 / 3));
    t = k.real(add(cast(k.bits_type, third), k.ci(709958130)));
  }
  for (int step = 0; step < (k.wide ? 3 : 2); ++step) {
    const Expr cube = mul(mul(t, t), t);
    t = mul(t, div(add(cube, add(s, s)), add(add(cube, cube), s)));
  }
  const Expr square = mul(t, t);
  const Expr residual = k.fma(k.fma(t, t, neg(square)), neg(t), k.fma(neg(square), t, s));  // s - t^3
  t = add(t, div(residual, mul(k.c(3), square)));
  t = scaled(t, k.wide ? -18 : -8);
  return select(logic_or(eq(a, k.c(0)), logic_not(lt(a, k.c(k.infinity())))), x, k.copysign(t, x));
}

}  // namespace ashlar::ir::math
