#pragma once
// What the expansions share: constants of the right type and lanes, Horner's rule, bits of floats, scaling by powers of two.
#include <initializer_list>

#include <ashlar/ir/build.h>

namespace ashlar::ir::math {

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
  Expr scale(const Expr& p, const Expr& n) const;
  // x rounded to an integral float, |x| < 2^22 (f32), 2^51 (f64).
  Expr nearest(const Expr& x) const { return sub(add(x, c(magic())), c(magic())); }
};

// exp family, over one kit
Expr exp(const Kit&, const Expr& x);
Expr exp_times(const Kit&, const Expr& x, double exponent);  // exp(x) * 2^exponent, without overflow in between
Expr exp2(const Kit&, const Expr& x);
Expr expm1(const Kit&, const Expr& x);
Expr sinh(const Kit&, const Expr& x);
Expr cosh(const Kit&, const Expr& x);
Expr tanh(const Kit&, const Expr& x);
Expr erf(const Kit&, const Expr& x);
Expr erfc(const Kit&, const Expr& x);
Expr log(const Kit&, const Expr& x);
Expr log2(const Kit&, const Expr& x);
Expr log1p(const Kit&, const Expr& x);
Expr pow_f32(const Expr& x, const Expr& y);
Expr cbrt(const Kit&, const Expr& x);
Expr sin(const Kit&, const Expr& x);
Expr cos(const Kit&, const Expr& x);
Expr tan(const Kit&, const Expr& x);
Expr asin(const Kit&, const Expr& x);
Expr acos(const Kit&, const Expr& x);
Expr atan(const Kit&, const Expr& x);
Expr atan2(const Kit&, const Expr& y, const Expr& x);

}  // namespace ashlar::ir::math
