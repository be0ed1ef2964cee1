// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the expansions share: constants of the right type and lanes, Horner's rule, bits of floats, scaling by powers of two.
#include <cstdint>
#include <initializer_list>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>

namespace ashlar::ir::math {

// The sum hi + lo, for what must be known to more than a float: lo is small beside hi.
struct Pair {
  Expr hi, lo;
};
inline Expr total(const Pair& p) { return add(p.hi, p.lo); }
inline Pair choose(const Expr& c, const Pair& a, const Pair& b) { return {select(c, a.hi, b.hi), select(c, a.lo, b.lo)}; }

// Small functions over expressions of one float type (f32 or f64), any lanes.
class Kit {
 public:
  explicit Kit(Type t) : type(t), bits_type{Type::Code::signed_, t.bits, t.lanes, t.scalable}, wide(t.bits == 64) {}
  const Type type, bits_type;  // bits_type: signed integers as wide as the floats
  const bool wide;

  Expr c(double x) const;         // a float constant
  Expr ci(std::int64_t x) const;  // an integer constant
  // c0 + c1 x + c2 x^2 + …, by fma
  Expr poly(const Expr& x, std::initializer_list<double> c) const;
  Expr fma(const Expr& a, const Expr& b, const Expr& c) const { return ir::fma(a, b, c); }
  Expr bits(const Expr& x) const;  // float -> integer pattern
  Expr real(const Expr& x) const;  // integer pattern -> float
  Expr abs(const Expr& x) const { return unary(Op::abs, x); }
  Expr copysign(const Expr& x, const Expr& sign) const { return binary(Op::copysign, x, sign); }
  Expr shl(const Expr& x, int by) const { return binary(Op::shl, x, ci(by)); }
  Expr below(const Expr& x, double limit) const;  // x, or the limit where x > limit; NaN stays
  Expr above(const Expr& x, double limit) const;  // x, or the limit where x < limit; NaN stays

  int mantissa() const { return wide ? 52 : 23; }
  std::int64_t bias() const { return wide ? 1023 : 127; }
  double magic() const { return wide ? 0x1.8p52 : 0x1.8p23; }  // x + magic rounds x to an integer, which sits in the low bits
  double infinity() const;
  double not_a_number() const;

  // 2^k for the integral float k, exact while the result is a normal number.
  Expr power_of_two(const Expr& k) const;
  // p * 2^n in two steps, right in the subnormal range and at overflow; |n| at most twice the exponent range.
  Expr scale(const Expr& p, const Expr& n) const { return scale_shifted(p, add(n, c(magic()))); }
  Expr scale_shifted(const Expr& p, const Expr& n_and_magic) const;  // n + magic() in the place of n
  // a + b and what its rounding loses: fast_sum where |a| >= |b| or a is 0, sum for any (Dekker; Knuth). NaN of infinities.
  Pair fast_sum(const Expr& a, const Expr& b) const;
  Pair rounded(const Pair& p) const { return fast_sum(p.hi, p.lo); }
  Pair sum(const Expr& a, const Expr& b) const;
  Pair product(const Expr& a, const Expr& b) const;  // by fma
  // n / d to little more than half an ulp of its total: one division and one step of Newton's iteration on the remainder. d.lo
  // must be no more than d.hi loses by rounding; n.lo may be larger.
  Pair quotient(const Pair& n, const Pair& d) const;

  // x rounded to an integral float, |x| < 2^22 (f32), 2^51 (f64).
  Expr nearest(const Expr& x) const { return sub(add(x, c(magic())), c(magic())); }
};

// A function's expansion on operands of any type of floats: f in f32 or f64, the narrow ones through f32.
Expr spelled(const Applied&, Expr (*f)(const Kit&, std::span<const Expr>));
Expr mod(const Applied&);  // of floats: x - floor(x / y) y

// A point on the circle, n pi/2 + r.
struct Circle {
  Pair r;
  Expr quadrant;  // bits whose lowest two are n mod 4
};
inline double quick_limit(const Kit& k) { return k.wide ? 0x1p40 : 0x1p17; }
Circle reduce_quickly(const Kit&, const Expr& x);  // 0 <= x < quick_limit
Circle reduce_any(const Kit&, const Expr& x);      // quick_limit <= x, finite
double half_pi_part(const Kit&, int part);         // pi/2 in three parts

// x = 2^e m with m in [sqrt(1/2), sqrt(2))
struct Parts {
  Expr e, m;
};
Parts split(const Kit&, const Expr& x);      // positive normal x
Parts split_any(const Kit&, const Expr& x);  // positive x

// exp family, over one kit
Expr exp(const Kit&, const Expr& x);
// exp(x) * 2^exponent, without overflow in between; rounded twice where that is subnormal
Expr exp_times(const Kit&, const Expr& x, double exponent);
Pair exp_times_pair(const Kit&, const Pair& x, double exponent);  // the same of a sum, as a sum; for x below overflow
Expr exp_poly(const Kit&, const Expr& r);                         // exp(r), |r| <= ln(2)/2
Expr exp2(const Kit&, const Expr& x);
Expr exp2_poly(const Kit&, const Expr& r);  // |r| <= 1/2
Expr expm1(const Kit&, const Expr& x);
Expr sinh(const Kit&, const Expr& x);
Expr cosh(const Kit&, const Expr& x);
Expr tanh(const Kit&, const Expr& x);
Expr erf(const Kit&, const Expr& x);
Expr erfc(const Kit&, const Expr& x);
Expr sigmoid(const Kit&, const Expr& x);
Expr log(const Kit&, const Expr& x);
Expr log2(const Kit&, const Expr& x);
Expr log1p(const Kit&, const Expr& x);
Expr pow(const Kit&, const Expr& x, const Expr& y);
Expr rsqrt(const Kit&, const Expr& x);
Expr cbrt(const Kit&, const Expr& x);
Expr sin(const Kit&, const Expr& x);
Expr cos(const Kit&, const Expr& x);
Expr tan(const Kit&, const Expr& x);
Expr asin(const Kit&, const Expr& x);
Expr acos(const Kit&, const Expr& x);
Expr atan(const Kit&, const Expr& x);
Expr atan2(const Kit&, const Expr& y, const Expr& x);

// fast forms
Expr fast_rsqrt(const Kit&, const Expr& x);
Expr fast_exp(const Kit&, const Expr& x);
Expr fast_exp2(const Kit&, const Expr& x);
Expr fast_expm1(const Kit&, const Expr& x);
Expr fast_log(const Kit&, const Expr& x);
Expr fast_log2(const Kit&, const Expr& x);
Expr fast_sin(const Kit&, const Expr& x);
Expr fast_cos(const Kit&, const Expr& x);
Expr fast_tan(const Kit&, const Expr& x);
Expr fast_tanh(const Kit&, const Expr& x);
Expr fast_erf(const Kit&, const Expr& x);
Expr fast_sigmoid(const Kit&, const Expr& x);
Expr fast_pow(const Kit&, const Expr& x, const Expr& y);

}  // namespace ashlar::ir::math
