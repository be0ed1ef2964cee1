// Circular functions. x = n pi/2 + r with |r| <= pi/4, r from a three-part pi/2 by fma (Cody and Waite): exact enough while
// |x| < 2^17 (f32), 2^40 (f64). Beyond, the result is NaN rather than noise.
#include "ir/math_kit.h"

namespace ashlar::ir::math {
namespace {

struct Circle {
  Expr r, quadrant;
};  // quadrant: bits whose lowest two are n mod 4

Circle reduce(const Kit& k, const Expr& x) {
  const Expr t = k.fma(x, k.c(k.wide ? 0x1.45f306dc9c883p-1 : 0x1.45f306p-1), k.c(k.magic()));
  const Expr n = sub(t, k.c(k.magic()));
  Expr r = k.fma(n, k.c(k.wide ? -0x1.921fb54442d18p0 : -0x1.921fb6p0), x);
  r = k.fma(n, k.c(k.wide ? -0x1.1a62633145c07p-54 : 0x1.777a5cp-25), r);
  r = k.fma(n, k.c(k.wide ? 0x1.f1976b7ed8fbcp-110 : 0x1.ee59dap-50), r);
  return {r, k.bits(t)};
}

Expr domain(const Kit& k, const Expr& x, const Expr& result) {
  return select(lt(k.abs(x), k.c(k.wide ? 0x1p40 : 0x1p17)), result, k.c(k.not_a_number()));
}

Expr sin_poly(const Kit& k, const Expr& r) {
  const Expr z = mul(r, r);
  const Expr q = k.wide ? k.poly(z, {-0x1.5555555555548p-3, 0x1.111111110f75bp-7, -0x1.a01a019bf1ccep-13, 0x1.71de355eb41acp-19,
                                     -0x1.ae5e54310d01bp-26, 0x1.5d8e22613db5cp-33})
                        : k.poly(z, {-0x1.555544p-3, 0x1.1106e6p-7, -0x1.992cfp-13});
  return k.fma(mul(r, z), q, r);
}

Expr cos_poly(const Kit& k, const Expr& r) {
  const Expr z = mul(r, r);
  const Expr q = k.wide ? k.poly(z, {0x1.555555555554ap-5, -0x1.6c16c16c14e48p-10, 0x1.a01a019c684b2p-16,
                                     -0x1.27e4f7d8b43dcp-22, 0x1.1ee9cc8e32e1fp-29, -0x1.8f9f49f8b5538p-37})
                        : k.poly(z, {0x1.55554ap-5, -0x1.6c0c2ap-10, 0x1.99e90ep-16});
  // 1 - z/2 rounds; what it loses is added back with the tail.
  const Expr half = mul(k.c(0.5), z), head = sub(k.c(1), half);
  return add(head, k.fma(mul(z, z), q, sub(sub(k.c(1), head), half)));
}

Expr is_odd(const Kit& k, const Expr& n) { return ne(binary(Op::bit_and, n, k.ci(1)), k.ci(0)); }
// x with its sign flipped where bit 1 of n is set
Expr flip(const Kit& k, const Expr& x, const Expr& n) {
  return k.real(binary(Op::bit_xor, k.bits(x), k.shl(binary(Op::bit_and, n, k.ci(2)), k.type.bits - 2)));
}

}  // namespace

Expr sin(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x);
  const auto [r, n] = reduce(k, a);
  const Expr s = flip(k, select(is_odd(k, n), cos_poly(k, r), sin_poly(k, r)), n);
  // odd: the sign of x, zero included, on top of the quadrant's
  const Expr sign = binary(Op::bit_xor, k.bits(x), k.bits(a));
  return domain(k, x, k.real(binary(Op::bit_xor, k.bits(s), sign)));
}

Expr cos(const Kit& k, const Expr& x) {
  const auto [r, n] = reduce(k, k.abs(x));
  const Expr next = add(n, k.ci(1));  // cos(x) = sin(x + pi/2)
  return domain(k, x, flip(k, select(is_odd(k, n), sin_poly(k, r), cos_poly(k, r)), next));
}

Expr tan(const Kit& k, const Expr& x) {
  const auto [r, n] = reduce(k, x);
  const Expr s = sin_poly(k, r), c = cos_poly(k, r), odd = is_odd(k, n);
  return domain(k, x, select(eq(x, k.c(0)), x, div(select(odd, neg(c), s), select(odd, s, c))));
}

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

double quarter_pi(const Kit& k) { return k.wide ? 0x1.921fb54442d18p-1 : 0x1.921fb6p-1; }
double quarter_pi_low(const Kit& k) { return k.wide ? 0x1.1a62633145c07p-55 : -0x1.777a5cp-26; }

// atan(p / q) for 0 <= p <= q, q > 0 and both far from overflow, as head + tail; one division:
// p <= tan(pi/8) q: t = p / q; otherwise pi/4 + atan((p - q) / (p + q)).
struct Angle {
  Expr head, tail;
};
Angle octant(const Kit& k, const Expr& p, const Expr& q) {
  const Expr steep = gt(p, mul(q, k.c(0.4142135623730950488)));
  const Expr t = div(select(steep, sub(p, q), p), select(steep, add(p, q), q));
  const Expr tail = atan_tail(k, t);
  return {select(steep, k.c(quarter_pi(k)), t), select(steep, add(add(k.c(quarter_pi_low(k)), tail), t), tail)};
}

// multiple * pi/4 - angle, for multiples that are powers of two
Angle from(const Kit& k, double multiple, const Angle& a) {
  const Expr base = k.c(multiple * quarter_pi(k));
  const Expr head = sub(base, a.head);
  const Expr lost = sub(sub(base, head), a.head);
  return {head, add(lost, sub(k.c(multiple * quarter_pi_low(k)), a.tail))};
}

Expr sum(const Angle& a) { return add(a.head, a.tail); }
Angle choose(const Expr& c, const Angle& a, const Angle& b) { return {select(c, a.head, b.head), select(c, a.tail, b.tail)}; }

}  // namespace

Expr atan(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x), one = k.c(1), big = gt(a, one);
  const Expr bounded = k.below(a, 0x1p60);
  const Angle o = octant(k, select(big, one, a), select(big, bounded, one));
  return k.copysign(sum(choose(big, from(k, 2, o), o)), x);
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
  Angle a = octant(k, p, select(eq(q, inf), one, q));
  const Expr flat = logic_and(eq(q, inf), lt(p0, inf));  // a finite part beside an infinite one
  a = choose(flat, {zero, zero}, a);
  a = choose(swap, from(k, 2, a), a);
  const Expr left = lt(k.copysign(one, x), zero);
  a = choose(left, from(k, 4, a), a);
  const Expr nan = logic_or(unary(Op::isnan, x), unary(Op::isnan, y));
  return select(nan, k.c(k.not_a_number()), k.copysign(sum(a), y));
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
  const Angle outer = from(k, 2, {mul(k.c(2), h.root), mul(k.c(2), h.rest)});
  return k.copysign(select(gt(a, k.c(0.5)), sum(outer), inner), x);
}

Expr acos(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x);
  const Angle inner = from(k, 2, {x, asin_tail(k, x, mul(x, x))});
  const HalfAcos h = half_acos(k, a);
  const Angle twice{mul(k.c(2), h.root), mul(k.c(2), h.rest)};
  const Expr outer = sum(choose(lt(x, k.c(0)), from(k, 4, twice), twice));
  return select(gt(a, k.c(0.5)), outer, sum(inner));
}

}  // namespace ashlar::ir::math
