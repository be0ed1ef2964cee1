// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, Horner's rule, bits of floats, scaling by powers of two, sums whose rounding is known.
#include "ir/math/kit.h"

#include <limits>

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

// The bits of t are those of magic, whose low half is 0, plus n: half of them is those of a number plus n / 2 rounded down, and
// the rest those of another plus the rest of n. As numbers without sign they are halved by one instruction in any width.
Expr Kit::scale_shifted(const Expr& p, const Expr& t) const {
  const Type natural{Type::Code::unsigned_, bits_type.bits, bits_type.lanes, bits_type.scalable};
  const auto constant = [&](std::int64_t x) {
    const Expr e = int_const(natural.element(), x);
    return natural.lanes == 1 ? e : broadcast(e, natural.lanes);
  };
  const Expr both = make(Op::bitcast, natural, {&t, 1}), half = binary(Op::shr, both, constant(1));
  const auto power = [&](const Expr& k) {
    return real(add(binary(Op::shl, k, constant(mantissa())), constant(bias() << mantissa())));
  };
  return mul(mul(p, power(half)), power(sub(both, half)));
}

Pair Kit::fast_sum(const Expr& a, const Expr& b) const {
  const Expr s = add(a, b);
  return {s, sub(b, sub(s, a))};
}
Pair Kit::sum(const Expr& a, const Expr& b) const {
  const Expr s = add(a, b), part = sub(s, a);
  return {s, add(sub(a, sub(s, part)), sub(b, part))};
}
Pair Kit::product(const Expr& a, const Expr& b) const {
  const Expr p = mul(a, b);
  return {p, fma(a, b, neg(p))};
}
Pair Kit::quotient(const Pair& n, const Pair& d) const {
  const Expr inverse = div(c(1), d.hi), q = mul(n.hi, inverse), minus = neg(q);
  const Expr rest = add(fma(minus, d.hi, n.hi), fma(minus, d.lo, n.lo));
  return {q, mul(rest, inverse)};
}

}  // namespace ashlar::ir::math
