// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logarithms. x = 2^e m with m in [sqrt(1/2), sqrt(2)), taken from the bits; f = m - 1 is exact.
#include <cmath>

#include "ir/math/kit.h"

namespace ashlar::ir::math {

// Adding `one - root` to the bits carries into the exponent where m would reach sqrt(2).
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

Parts split_any(const Kit& k, const Expr& x) {
  const Expr tiny = lt(x, k.c(k.wide ? 0x1p-1022 : 0x1p-126));
  const double lift = k.wide ? 54 : 24;
  Parts p = split(k, select(tiny, mul(x, k.c(std::ldexp(1, static_cast<int>(lift)))), x));
  p.e = sub(p.e, select(tiny, k.c(lift), k.c(0)));
  return p;
}

namespace {

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

// For normal x; smaller numbers count as zero.
Expr fast_log_of(const Kit& k, const Expr& x, bool binary) {
  const Parts p = split(k, x);
  const Expr f = sub(p.m, k.c(1));
  Expr result;
  if (!k.wide) {
    const Expr q = k.poly(
        f, {-0x1.0000a8p-1, 0x1.55566ap-2, -0x1.ff312ap-3, 0x1.9869a2p-3, -0x1.64e364p-3, 0x1.45c318p-3, -0x1.740e62p-4});
    const Expr square = mul(f, f);
    result = binary ? k.fma(k.fma(square, q, f), k.c(0x1.715476p0), p.e)
                    : k.fma(p.e, k.c(0x1.62e43p-1), add(k.fma(p.e, k.c(-0x1.05c61p-29), mul(square, q)), f));
  } else if (binary) {
    const Expr s = div(f, add(k.c(2), f)), half = mul(mul(k.c(0.5), f), f);
    result = k.fma(sub(f, sub(half, mul(s, add(half, log_remainder(k, mul(s, s)))))), k.c(0x1.71547652b82fep0), p.e);
  } else {
    result = assemble(k, p.e, f, {});
  }
  const Expr least = k.c(k.wide ? 0x1p-1022 : 0x1p-126);
  const Expr otherwise = select(lt(k.abs(x), least), k.c(-k.infinity()), k.c(k.not_a_number()));
  return select(ge(x, least), select(eq(x, k.c(k.infinity())), x, result), otherwise);
}

}  // namespace

Expr fast_log(const Kit& k, const Expr& x) { return fast_log_of(k, x, false); }
Expr fast_log2(const Kit& k, const Expr& x) { return fast_log_of(k, x, true); }

}  // namespace ashlar::ir::math
