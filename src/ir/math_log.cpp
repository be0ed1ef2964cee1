// Logarithms, powers, cube roots. x = 2^e m with m in [sqrt(1/2), sqrt(2)), taken from the bits; f = m - 1 is exact.
#include <cmath>

#include "ir/math_kit.h"

namespace ashlar::ir::math {
namespace {

struct Parts {
  Expr e, m;
};

// For positive normal x. Adding `offset` to the bits carries into the exponent where m would reach sqrt(2).
Parts split(const Kit& k, const Expr& x) {
  const std::int64_t one = k.bias() << k.mantissa();
  const std::int64_t root = k.wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3;  // bits of sqrt(1/2)
  const std::int64_t low = (std::int64_t{1} << k.mantissa()) - 1;
  const Expr u = add(k.bits(x), k.ci(one - root));
  const Expr m = k.real(add(binary(Op::bit_and, u, k.ci(low)), k.ci(root)));
  // The biased exponent becomes a float by being placed in the low bits of 2^23 (2^52).
  const double base = k.wide ? 0x1p52 : 0x1p23;
  const std::int64_t base_bits = k.wide ? 0x4330000000000000 : 0x4b000000;
  const Expr e = sub(k.real(binary(Op::bit_or, binary(Op::shr, u, k.ci(k.mantissa())), k.ci(base_bits))),
                     k.c(base + static_cast<double>(k.bias())));
  return {e, m};
}

// Also for subnormal x.
Parts split_any(const Kit& k, const Expr& x) {
  const Expr tiny = lt(x, k.c(k.wide ? 0x1p-1022 : 0x1p-126));
  const double lift = k.wide ? 54 : 24;
  Parts p = split(k, select(tiny, mul(x, k.c(std::ldexp(1, static_cast<int>(lift)))), x));
  p.e = sub(p.e, select(tiny, k.c(lift), k.c(0)));
  return p;
}

// log(0) = -inf, log(negative) = NaN, log(inf) = inf, NaN stays.
Expr with_specials(const Kit& k, const Expr& x, const Expr& result) {
  const Expr positive = select(eq(x, k.c(k.infinity())), x, result);
  return select(gt(x, k.c(0)), positive, select(eq(x, k.c(0)), k.c(-k.infinity()), k.c(k.not_a_number())));
}

// log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f / (2 + f); R(z) = 2 atanh(sqrt z)/sqrt z - 2
Expr log_remainder(const Kit& k, const Expr& z) {
  return mul(z, k.poly(z, {0x1.5555555555558p-1, 0x1.9999999995303p-2, 0x1.2492492df3035p-2, 0x1.c71c62e0b72cbp-3,
                           0x1.7462b661a6689p-3, 0x1.39fe212ae99bap-3, 0x1.2b5b8533c9337p-3}));
}

// q(f) with log(1 + f) = f + f^2 q(f), f32
Expr log_quotient(const Kit& k, const Expr& f) {
  return k.poly(f, {-0.5, 0x1.55555ap-2, -0x1.00023ap-2, 0x1.999d38p-3, -0x1.546baep-3, 0x1.230bfap-3, -0x1.0def3cp-3,
                    0x1.044d52p-3, -0x1.3425e4p-4});
}

// e ln 2 + log(1 + f) + tail
Expr assemble(const Kit& k, const Expr& e, const Expr& f, const Expr& tail) {
  if (!k.wide) {
    Expr low = k.fma(e, k.c(-0x1.05c61p-29), mul(mul(f, f), log_quotient(k, f)));
    if (!tail.empty()) low = add(low, tail);
    return k.fma(e, k.c(0x1.62e43p-1), add(low, f));
  }
  const Expr s = div(f, add(k.c(2), f)), z = mul(s, s), half = mul(mul(k.c(0.5), f), f);
  Expr low = mul(s, add(half, log_remainder(k, z)));
  low = k.fma(e, k.c(0x1.abc9e3b39803fp-56), low);
  if (!tail.empty()) low = add(low, tail);
  return k.fma(e, k.c(0x1.62e42fefa39efp-1), sub(f, sub(half, low)));
}

}  // namespace

Expr log(const Kit& k, const Expr& x) {
  const auto [e, m] = split_any(k, x);
  return with_specials(k, x, assemble(k, e, sub(m, k.c(1)), {}));
}

Expr log2(const Kit& k, const Expr& x) {
  const auto [e, m] = split_any(k, x);
  const Expr f = sub(m, k.c(1));
  if (!k.wide) {
    const Expr q = k.poly(f, {0x1.4aed58p-26, -0x1.71547p-1, 0x1.ec7094p-2, -0x1.715ac8p-2, 0x1.277ef4p-2, -0x1.eab18p-3,
                              0x1.a2e67cp-3, -0x1.877af8p-3, 0x1.7e0e88p-3, -0x1.c367cep-4});
    return with_specials(k, x, add(e, k.fma(f, k.c(0x1.715476p0), mul(f, q))));
  }
  // log2(1 + f) = (f - (f^2/2 - s (f^2/2 + R))) log2(e): the leading part f - half is split so that its product is exact.
  const Expr s = div(f, add(k.c(2), f)), half = mul(mul(k.c(0.5), f), f);
  const Expr rest = mul(s, add(half, log_remainder(k, mul(s, s))));
  const Expr high = k.real(binary(Op::bit_and, k.bits(sub(f, half)), k.ci(static_cast<std::int64_t>(0xffffffff00000000u))));
  const Expr low = add(sub(sub(f, high), half), rest);
  const Expr inv_high = k.c(0x1.71547652p0), inv_low = k.c(0x1.705fc2eefa2p-33);
  const Expr value_low = k.fma(add(low, high), inv_low, mul(low, inv_high)), value_high = mul(high, inv_high);
  const Expr w = add(e, value_high);
  return with_specials(k, x, add(w, add(value_low, add(sub(e, w), value_high))));
}

// log(u) + c / u with u = 1 + x rounded and c what the rounding lost.
Expr log1p(const Kit& k, const Expr& x) {
  const Expr u = add(k.c(1), x);
  const auto [e, m] = split(k, u);
  const Expr lost = select(gt(x, k.c(1)), sub(k.c(1), sub(u, x)), sub(x, sub(u, k.c(1))));
  const Expr near = eq(e, k.c(0));  // u in [sqrt(1/2), sqrt(2)): f = x itself
  const Expr f = select(near, x, sub(m, k.c(1)));
  const Expr tail = select(near, k.c(0), div(lost, u));
  const Expr result = with_specials(k, u, assemble(k, e, f, tail));
  return select(eq(x, k.c(0)), x, result);
}

namespace {

// x^y for positive finite x, in f64 throughout: 2^(y log2 x), the logarithm to 2^-38.
Expr positive_power(const Kit& d, const Expr& x, const Expr& y) {
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

}  // namespace

// Special cases as C's powf. The magnitude is rounded to f32 once.
Expr pow_f32(const Expr& x, const Expr& y) {
  const Kit k(x.type()), d(Type{Type::Code::ieee, 64, x.type().lanes, x.type().scalable});
  const Expr a = k.abs(x), zero = k.c(0), one = k.c(1), inf = k.c(k.infinity());
  const Expr safe = select(logic_and(gt(a, zero), lt(a, inf)), a, one);
  const Expr finite_y = select(lt(k.abs(y), inf), y, one);
  Expr r = cast(x.type(), positive_power(d, cast(d.type, safe), cast(d.type, finite_y)));
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

// A guess from the bits (the exponent divided by 3), two steps of Halley's iteration, one Newton correction by fma.
Expr cbrt(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x);
  const Expr tiny = lt(a, k.c(k.wide ? 0x1p-1022 : 0x1p-126));
  const Expr s = select(tiny, mul(a, k.c(k.wide ? 0x1p54 : 0x1p24)), a);
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
  t = select(tiny, mul(t, k.c(k.wide ? 0x1p-18 : 0x1p-8)), t);
  return select(logic_or(eq(a, k.c(0)), logic_not(lt(a, k.c(k.infinity())))), x, k.copysign(t, x));
}

}  // namespace ashlar::ir::math
