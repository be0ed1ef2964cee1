// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats of 32 and 64 bits, where there is no instruction, or none that keeps to docs/ir.md: signs and corners by the bits.
#include "ir/expansions/expansions.h"
#include "ir/expansions/term.h"

namespace ashlar::ir::expansion {
namespace {

Type natural_of(const Term& x) { return Type{Type::Code::unsigned_, x.type().bits}; }
Term bits_of(const Term& x) { return x.bits_as(natural_of(x)); }
Term magnitude_of(const Term& bits) { return bits & (bits.type().bits == 64 ? INT64_MAX : INT32_MAX); }
Term infinity(const Term& bits) { return bits.number(bits.type().bits == 64 ? 0x7FF0000000000000 : 0x7F800000); }
bool is_real(const Applied& a) { return a.args[0].type().is_float() && a.args[0].type().bits >= 32; }

// Equal operands differ in the sign of zero alone: the sign of either for min, of both for max. A NaN in x stays x; with a NaN
// in y no comparison holds, and y is left.
Expr chosen(const Applied& a, bool least) {
  const Term x = first(a), y = second(a), p = bits_of(x), q = bits_of(y);
  const Term zeros = (least ? p | q : p & q).bits_as(x.type());
  const Term taken = either(least ? x < y : x > y, x.with(Op::isnan, like(bool_, x.type())));
  return select(x == y, zeros, select(taken, x, y)).e;
}

}  // namespace

Expr min(const Applied& a) { return is_real(a) ? chosen(a, true) : a.type.is_integer() ? least(a) : and_of_bools(a); }
Expr max(const Applied& a) { return is_real(a) ? chosen(a, false) : a.type.is_integer() ? greatest(a) : or_of_bools(a); }

Expr isnan(const Applied& a) {
  const Term bits = bits_of(first(a));
  return (magnitude_of(bits) > infinity(bits)).e;
}
Expr isinf(const Applied& a) {
  const Term bits = bits_of(first(a));
  return (magnitude_of(bits) == infinity(bits)).e;
}

Expr copysign(const Applied& a) { return signed_as(first(a), second(a)).e; }

// An integer is whole. Adding and taking away 2^23 (f32) or 2^52 (f64) rounds a smaller magnitude to an integer, to nearest
// even; the other three correct that by one. Larger magnitudes, infinities and NaNs are integers or stay what they are.
Expr rounded(const Applied& a) {
  const Term x = first(a);
  if (!x.type().is_float()) return x.e;
  const auto n = [&](double v) { return x.real(x.type(), v); };
  const auto one_where = [&](const Term& c) { return select(c, n(1), n(0)); };
  const Term big = n(x.type().bits == 32 ? 0x1p23 : 0x1p52), magnitude = x.with(Op::abs, x.type());
  const Term nearest = (magnitude + big) - big;
  Term result = nearest;
  if (a.op == Op::trunc) {
    result = nearest - one_where(nearest > magnitude);
  } else if (a.op != Op::round) {
    const Term with_sign = signed_as(nearest, x);
    result = a.op == Op::floor ? with_sign - one_where(with_sign > x) : with_sign + one_where(with_sign < x);
  }
  return select(magnitude < big, signed_as(result, x), x).e;
}

}  // namespace ashlar::ir::expansion
