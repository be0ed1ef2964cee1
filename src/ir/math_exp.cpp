// The exponential family. exp(x) = 2^n exp(r) with n the integer nearest x / ln 2 and |r| <= ln(2)/2, r from a two-part ln 2
// by fma (Cody and Waite); polynomials are minimax on that interval with coefficients rounded to the type.
#include <limits>

#include "ir/math_kit.h"

namespace ashlar::ir::math {

Expr Kit::c(double x) const {
  const Expr e = float_const(type.element(), x);
  return type.lanes == 1 ? e : broadcast(e, type.lanes);
}
Expr Kit::ci(std::int64_t x) const {
  const Expr e = int_const(bits_type.element(), x);
  return type.lanes == 1 ? e : broadcast(e, type.lanes);
}

Expr Kit::poly(const Expr& x, std::initializer_list<double> coefficients) const {
  const double* k = coefficients.end();
  Expr p = c(*--k);
  while (k != coefficients.begin()) p = fma(p, x, c(*--k));
  return p;
}

Expr Kit::bits(const Expr& x) const { return make(Op::bitcast, bits_type, {&x, 1}); }
Expr Kit::real(const Expr& x) const { return make(Op::bitcast, type, {&x, 1}); }
Expr Kit::below(const Expr& x, double limit) const { return select(gt(x, c(limit)), c(limit), x); }
Expr Kit::above(const Expr& x, double limit) const { return select(lt(x, c(limit)), c(limit), x); }
double Kit::infinity() const { return std::numeric_limits<double>::infinity(); }
double Kit::not_a_number() const { return std::numeric_limits<double>::quiet_NaN(); }

// The low bits of k + magic are k in two's complement; the shift drops all others.
Expr Kit::power_of_two(const Expr& k) const { return real(shl(add(bits(add(k, c(magic()))), ci(bias())), mantissa())); }

Expr Kit::scale(const Expr& p, const Expr& n) const {
  const Expr half = nearest(mul(n, c(0.5)));
  return mul(mul(p, power_of_two(half)), power_of_two(sub(n, half)));
}

namespace {

struct Reduced {
  Expr n, r;
};

// x = n ln 2 + r
Reduced reduce(const Kit& k, const Expr& x) {
  const Expr n = sub(k.fma(x, k.c(0x1.71547652b82fep0), k.c(k.magic())), k.c(k.magic()));
  Expr r = k.fma(n, k.c(k.wide ? -0x1.62e42fefa39efp-1 : -0x1.62e43p-1), x);
  r = k.fma(n, k.c(k.wide ? -0x1.abc9e3b39803fp-56 : 0x1.05c61p-29), r);
  return {n, r};
}

Expr exp_poly(const Kit& k, const Expr& r) {
  if (!k.wide) return k.poly(r, {1, 1, 0x1.fffff8p-2, 0x1.55548ep-3, 0x1.555b98p-5, 0x1.123bd2p-7, 0x1.68511ap-10});
  return k.poly(
      r, {1, 1, 0x1.000000000000cp-1, 0x1.5555555555519p-3, 0x1.555555554fe64p-5, 0x1.11111111201dcp-7, 0x1.6c16c185ea90ep-10,
          0x1.a01a0152efa2bp-13, 0x1.a0199610dfc74p-16, 0x1.71decbdc30fd4p-19, 0x1.28b0a41e5366fp-22, 0x1.ae0b828cb7927p-26});
}

// exp(r) - 1, |r| <= ln(2)/2
Expr expm1_poly(const Kit& k, const Expr& r) {
  const Expr q = k.wide
                     ? k.poly(r, {0.5, 0x1.5555555555555p-3, 0x1.5555555555557p-5, 0x1.1111111111308p-7, 0x1.6c16c16c15783p-10,
                                  0x1.a01a019f15e7fp-13, 0x1.a01a01ab106c2p-16, 0x1.71de3e2aa856ep-19, 0x1.27e4d14dc212dp-22,
                                  0x1.ae56d0635f0cap-26, 0x1.1f83d03bc50d2p-29, 0x1.7377b33459027p-33})
                     : k.poly(r, {0.5, 0x1.555554p-3, 0x1.5554fp-5, 0x1.111308p-7, 0x1.6d436cp-10, 0x1.9e078p-13});
  return k.fma(mul(r, r), q, r);
}

// expm1(x) / 2, which does not overflow before expm1 does; x must lie below the overflow threshold
Expr half_expm1(const Kit& k, const Expr& x) {
  const auto [n, r] = reduce(k, k.above(x, k.wide ? -40 : -20));
  const Expr s = k.power_of_two(sub(n, k.c(1)));
  return k.fma(s, expm1_poly(k, r), sub(s, k.c(0.5)));
}

}  // namespace

Expr exp_times(const Kit& k, const Expr& x, double exponent) {
  const auto [n, r] = reduce(k, k.above(k.below(x, k.wide ? 711 : 90), k.wide ? -746 : -105));
  return k.scale(exp_poly(k, r), exponent == 0 ? n : add(n, k.c(exponent)));
}

Expr exp(const Kit& k, const Expr& x) { return exp_times(k, x, 0); }

Expr exp2(const Kit& k, const Expr& x) {
  const Expr inside = k.above(k.below(x, k.wide ? 1025 : 129), k.wide ? -1080 : -151);
  const Expr n = k.nearest(inside), r = sub(inside, n);
  const Expr p = k.wide
                     ? k.poly(r, {1, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a5p-3, 0x1.c6b08d704a124p-5, 0x1.3b2ab6fb9ffafp-7,
                                  0x1.5d87fe78a08fdp-10, 0x1.4309130f14ca6p-13, 0x1.ffcbfc5c18559p-17, 0x1.62bfc71b3397fp-20,
                                  0x1.b525395b42f4fp-24, 0x1.e61c16c1056fp-28, 0x1.e9506e7458f2ep-32})
                     : k.poly(r, {1, 0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af78p-5, 0x1.3b30bp-7, 0x1.5f0a66p-10, 0x1.3f9068p-13});
  return k.scale(p, n);
}

Expr expm1(const Kit& k, const Expr& x) {
  const Expr h = half_expm1(k, k.below(x, k.wide ? 710 : 89));
  return select(eq(x, k.c(0)), x, add(h, h));  // keeps the sign of zero
}

// With t = expm1(|x|): sinh = (t + t / (t + 1)) / 2; beyond, exp(|x|) / 2.
Expr sinh(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x), limit = k.c(k.wide ? 22 : 10);
  const Expr h = half_expm1(k, select(gt(a, limit), limit, a)), t = add(h, h);
  const Expr small = k.fma(k.c(0.5), div(t, add(t, k.c(1))), h);
  return k.copysign(select(gt(a, limit), exp_times(k, a, -1), small), x);
}

Expr cosh(const Kit& k, const Expr& x) {
  const Expr e = exp_times(k, k.abs(x), -1);  // exp(|x|) / 2
  return add(e, div(k.c(0.25), e));
}

// With t = expm1(2|x|): tanh = t / (t + 2).
Expr tanh(const Kit& k, const Expr& x) {
  const Expr a = k.below(k.abs(x), k.wide ? 20 : 9.5);
  const Expr h = half_expm1(k, add(a, a));
  return k.copysign(div(h, add(h, k.c(1))), x);
}

}  // namespace ashlar::ir::math
