// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Circular functions, of the n and r that math/reduce.cpp finds. Arguments beyond its quick reduction are an arm of a select
// that compiled code branches around (Op::rare).
#include "ir/math/kit.h"

namespace ashlar::ir::math {
namespace {

// sin(r) and cos(r), |r| <= pi/4
struct Both {
  Pair sin, cos;
};

// `closely`: with what the square of r loses when it is rounded, a third of an ulp of the cosine.
Both both(const Kit& k, const Pair& r, bool closely = false) {
  const Expr x = r.hi, z = mul(x, x), half = mul(k.c(0.5), z);
  const Expr s = k.wide ? k.poly(z, {-0x1.5555555555548p-3, 0x1.111111110f75bp-7, -0x1.a01a019bf1ccep-13, 0x1.71de355eb41acp-19,
                                     -0x1.ae5e54310d01bp-26, 0x1.5d8e22613db5cp-33})
                        : k.poly(z, {-0x1.555544p-3, 0x1.1106e6p-7, -0x1.992cfp-13});
  const Expr c = k.wide ? k.poly(z, {0x1.555555555554ap-5, -0x1.6c16c16c14e48p-10, 0x1.a01a019c684b2p-16,
                                     -0x1.27e4f7d8b43dcp-22, 0x1.1ee9cc8e32e1fp-29, -0x1.8f9f49f8b5538p-37})
                        : k.poly(z, {0x1.55554ap-5, -0x1.6c0c2ap-10, 0x1.99e90ep-16});
  // 1 - z/2 rounds; what it loses is added back with the tail.
  const Expr head = sub(k.c(1), half), lost = sub(sub(k.c(1), head), half);
  Both b{{x, mul(mul(x, z), s)}, {head, k.fma(mul(z, z), c, lost)}};
  if (closely) b.cos.lo = k.fma(k.fma(x, x, neg(z)), k.c(-0.5), b.cos.lo);
  if (r.lo.empty()) return b;
  b.sin.lo = k.fma(r.lo, head, b.sin.lo);  // sin(x + lo) = sin x + lo cos x
  b.cos.lo = k.fma(neg(total(b.sin)), r.lo, b.cos.lo);
  return b;
}

Expr is_odd(const Kit& k, const Expr& n) { return ne(binary(Op::bit_and, n, k.ci(1)), k.ci(0)); }
// x with its sign flipped where bit 1 of n is set
Expr flip(const Kit& k, const Expr& x, const Expr& n) {
  return k.real(binary(Op::bit_xor, k.bits(x), k.shl(binary(Op::bit_and, n, k.ci(2)), k.type.bits - 2)));
}

Expr sin_of(const Kit& k, const Circle& at) {
  const Both b = both(k, at.r);
  return flip(k, select(is_odd(k, at.quadrant), total(b.cos), total(b.sin)), at.quadrant);
}

Expr cos_of(const Kit& k, const Circle& at) {  // cos(x) = sin(x + pi/2)
  const Both b = both(k, at.r);
  return flip(k, select(is_odd(k, at.quadrant), total(b.sin), total(b.cos)), add(at.quadrant, k.ci(1)));
}

Expr tan_of(const Kit& k, const Circle& at) {  // odd n: -1 / tan(r)
  const Both b = both(k, at.r, true);
  const Expr odd = is_odd(k, at.quadrant);
  const Pair sin = k.rounded(b.sin), cos = k.rounded(b.cos);
  const Expr q = total(k.quotient(choose(odd, cos, sin), choose(odd, sin, cos)));
  return select(odd, neg(q), q);
}

// f of a >= 0
template <class F>
Expr on_circle(const Kit& k, const Expr& a, F&& f) {
  const Expr large = logic_not(lt(a, k.c(quick_limit(k))));  // infinity and NaN too
  const Expr far = select(lt(a, k.c(k.infinity())), f(k, reduce_any(k, a)), k.c(k.not_a_number()));
  return select(make(Op::rare, large.type(), {&large, 1}), far, f(k, reduce_quickly(k, a)));
}

// odd: the sign of x, zero included, on top of the result's
Expr with_sign(const Kit& k, const Expr& result, const Expr& x, const Expr& a) {
  return k.real(binary(Op::bit_xor, k.bits(result), binary(Op::bit_xor, k.bits(x), k.bits(a))));
}

}  // namespace

Expr sin(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x);
  return with_sign(k, on_circle(k, a, sin_of), x, a);
}

Expr cos(const Kit& k, const Expr& x) { return on_circle(k, k.abs(x), cos_of); }

Expr tan(const Kit& k, const Expr& x) {
  const Expr a = k.abs(x);
  return with_sign(k, on_circle(k, a, tan_of), x, a);
}

// As a plain quotient of r in one float.
Expr fast_tan(const Kit& k, const Expr& x) {
  const Circle at = reduce_quickly(k, k.abs(x));
  const Both b = both(k, {total(at.r), {}});
  const Expr sin = total(b.sin), cos = total(b.cos), odd = is_odd(k, at.quadrant);
  const Expr q = div(select(odd, neg(cos), sin), select(odd, sin, cos));
  const Expr a = k.abs(x);
  return select(lt(a, k.c(quick_limit(k))), with_sign(k, q, x, a), k.c(k.not_a_number()));
}

}  // namespace ashlar::ir::math
