// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fast forms: shorter polynomials, sums and quotients that round, no subnormal numbers, a bounded range for the circular
// functions. As deterministic as the others; their bounds stand in docs/ir.md, the coefficients come from
// scripts/fit_polynomials.py.
#include "ir/math/kit.h"

namespace ashlar::ir::math {
namespace {

// p 2^(n-1) where t = n + magic: one multiplication, for results that are normal numbers
Expr scaled_once(const Kit& k, const Expr& twice, const Expr& t) {
  return mul(twice, k.real(k.shl(add(k.bits(t), k.ci(k.bias() - 1)), k.mantissa())));
}

// 0 below the normal numbers
Expr flushed(const Kit& k, const Expr& x, double lowest, const Expr& result) {
  return select(lt(x, k.c(lowest)), k.c(0), result);
}

}  // namespace

Expr fast_exp(const Kit& k, const Expr& x) {
  const Expr a = k.below(x, k.wide ? 710 : 89);
  const Expr t = k.fma(a, k.c(0x1.71547652b82fep0), k.c(k.magic())), n = sub(t, k.c(k.magic()));
  Expr r = k.fma(n, k.c(k.wide ? -0x1.62e42fefa39efp-1 : -0x1.62e43p-1), a);
  r = k.fma(n, k.c(k.wide ? -0x1.abc9e3b39803fp-56 : 0x1.05c61p-29), r);
  if (k.wide) return flushed(k, x, -708, scaled_once(k, mul(k.c(2), exp_poly(k, r)), t));
  const Expr p = k.poly(r, {0x1.000002p1, 0x1.000006p1, 0x1.fffc04p-1, 0x1.554accp-2, 0x1.57b266p-4, 0x1.175438p-6});
  return flushed(k, x, -86.9, scaled_once(k, p, t));
}

Expr fast_exp2(const Kit& k, const Expr& x) {
  const Expr a = k.below(x, k.wide ? 1024 : 128);
  const Expr t = add(a, k.c(k.magic())), r = sub(a, sub(t, k.c(k.magic())));
  if (k.wide) return flushed(k, x, -1021, scaled_once(k, mul(k.c(2), exp2_poly(k, r)), t));
  const Expr p = k.poly(r, {0x1.000002p1, 0x1.62e438p0, 0x1.ebf80ap-2, 0x1.c6a2dap-4, 0x1.3d5a0ep-6, 0x1.655f54p-9});
  return flushed(k, x, -125, scaled_once(k, p, t));
}

Expr fast_sigmoid(const Kit& k, const Expr& x) { return div(k.c(1), add(k.c(1), fast_exp(k, neg(x)))); }

namespace {

// x P(x^2) / Q(x^2) for |x| <= limit, constant beyond
Expr odd_quotient(const Kit& k, const Expr& x, double limit, std::initializer_list<double> p, std::initializer_list<double> q) {
  const Expr a = k.above(k.below(x, limit), -limit), z = mul(a, a);
  return div(mul(a, k.poly(z, p)), k.poly(z, q));
}

}  // namespace

Expr fast_tanh(const Kit& k, const Expr& x) {
  if (!k.wide)
    return odd_quotient(k, x, 9, {0x1.fffffep-1, 0x1.0895f2p-3, 0x1.7ed466p-9, 0x1.36f656p-17, -0x1.b72178p-27, 0x1.4125ep-36},
                        {1, 0x1.d9a02ep-2, 0x1.8555e6p-6, 0x1.de5c26p-13});
  const Expr a = k.below(k.abs(x), 20), t = fast_expm1(k, mul(k.c(-2), a));
  return k.copysign(div(t, add(t, k.c(2))), x);
}

Expr fast_erf(const Kit& k, const Expr& x) {
  if (k.wide) return erf(k, x);
  return odd_quotient(
      k, x, 3.925, {0x1.20dd74p0, 0x1.9a5982p-3, 0x1.9ec59cp-5, 0x1.e77c68p-9, 0x1.2a2846p-13, -0x1.069c28p-19, 0x1.555b14p-26},
      {1, 0x1.0594dep-1, 0x1.d7c75cp-4, 0x1.d788fap-7, 0x1.f74e26p-11});
}

Expr fast_rsqrt(const Kit& k, const Expr& x) { return div(k.c(1), unary(Op::sqrt, x)); }

namespace {

// x = m pi + r, 0 <= x < quick_limit; m an integer, or half of an odd one
Expr remainder_of_pi(const Kit& k, const Expr& x, const Expr& m) {
  Expr r = x;
  for (int part = 0; part < 3; ++part) r = k.fma(m, k.c(-2 * half_pi_part(k, part)), r);
  return r;
}

Expr sin_to_half_pi(const Kit& k, const Expr& r) {
  const Expr z = mul(r, r);
  const Expr q = k.wide
                     ? k.poly(z, {-0x1.5555555555555p-3, 0x1.11111111110c8p-7, -0x1.a01a01a014d6fp-13, 0x1.71de3a52a0b16p-19,
                                  -0x1.ae6454d47467fp-26, 0x1.6123cd0739223p-33, -0x1.ae4384654909p-41, 0x1.8832a4e0c705ap-49})
                     : k.poly(z, {-0x1.55554cp-3, 0x1.110edap-7, -0x1.9f70eep-13, 0x1.5dc8c4p-19});
  return k.fma(mul(r, z), q, r);
}

// NaN beyond the range of the reduction
Expr in_range(const Kit& k, const Expr& x, const Expr& result) {
  return select(lt(k.abs(x), k.c(quick_limit(k))), result, k.c(k.not_a_number()));
}

Expr flip_odd(const Kit& k, const Expr& x, const Expr& bits) {
  return k.real(binary(Op::bit_xor, k.bits(x), k.shl(bits, k.type.bits - 1)));
}

double per_pi(const Kit& k) { return k.wide ? 0x1.45f306dc9c883p-2 : 0x1.45f306p-2; }

}  // namespace

Expr fast_sin(const Kit& k, const Expr& x) {
  const Expr t = k.fma(x, k.c(per_pi(k)), k.c(k.magic()));
  const Expr s = sin_to_half_pi(k, remainder_of_pi(k, x, sub(t, k.c(k.magic()))));
  return in_range(k, x, flip_odd(k, s, k.bits(t)));
}

// cos((n + 1/2) pi + r) = (-1)^(n+1) sin(r)
Expr fast_cos(const Kit& k, const Expr& x) {
  const Expr t = add(k.fma(x, k.c(per_pi(k)), k.c(-0.5)), k.c(k.magic()));
  const Expr s = sin_to_half_pi(k, remainder_of_pi(k, x, add(sub(t, k.c(k.magic())), k.c(0.5))));
  return in_range(k, x, flip_odd(k, s, add(k.bits(t), k.ci(1))));
}

}  // namespace ashlar::ir::math
