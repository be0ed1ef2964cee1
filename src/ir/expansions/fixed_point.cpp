// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The integer operators of fixed-point and pixel arithmetic: what would need one more bit, or twice the bits.
//
// Sums and differences that are halved are taken apart into the bits that the operands share and those in which they differ, so
// nothing is widened, and 64-bit integers are as others:
//
//   x + y = 2 (x & y) + (x ^ y) = 2 (x | y) - (x ^ y)          x - y = (x ^ y) - 2 (~x & y)
//
// These are the forms from which LLVM selects pavgb, uhadd, srhadd, sabd, pmulhw where the machine has them.
#include <ashlar/ir/numeric.h>

#include "ir/expansions/expansions.h"
#include "ir/expansions/term.h"

namespace ashlar::ir::expansion {

namespace {

// Unsigned: a sum that became smaller, a difference of less and more. Signed: the result's sign is not that of x, though y (or
// -y) has it; then the end of the range on x's side.
Expr saturated(const Applied& a, bool adds) {
  const Term x = first(a), y = second(a), r = adds ? x + y : x - y;
  if (a.type.is_unsigned()) return adds ? select(r < x, x.number(-1), r).e : select(x < y, x.number(0), r).e;
  const Term signs = adds ? ~(x ^ y) : x ^ y;
  const Term end = (x >> (a.type.bits - 1)) ^ highest_of(a.type.element());
  return select((signs & (x ^ r)) < 0, end, r).e;
}

}  // namespace

Expr add_sat(const Applied& a) { return saturated(a, true); }
Expr sub_sat(const Applied& a) { return saturated(a, false); }

Expr halving_add(const Applied& a) {
  const Term x = first(a), y = second(a);
  return ((x & y) + ((x ^ y) >> 1)).e;
}

Expr rounding_halving_add(const Applied& a) {
  const Term x = first(a), y = second(a);
  return ((x | y) - ((x ^ y) >> 1)).e;
}

Expr halving_sub(const Applied& a) {
  const Term x = first(a), y = second(a);
  return (((x ^ y) >> 1) - (~x & y)).e;
}

Expr abs_diff(const Applied& a) {
  const Term x = first(a), y = second(a);
  return (max(x, y) - min(x, y)).bits_as(a.type).e;
}

namespace {

// Of 64 bits by 64: x y = (a 2^32 + b) (c 2^32 + d), of unsigned halves; what a signed operand is less than the unsigned one of
// its bits is 2^64.
Term upper_half(const Term& x, const Term& y) {
  constexpr std::int64_t half = 0xFFFFFFFF;
  const Term p = x.as(u64), q = y.as(u64), a = p >> 32, b = p & half, c = q >> 32, d = q & half;
  const Term bd = b * d, ad = a * d, bc = b * c;
  const Term middle = (ad & half) + (bc & half) + (bd >> 32);  // less than 2^34
  Term high = a * c + (middle >> 32) + ((ad >> 32) + (bc >> 32));
  if (!x.type().is_unsigned()) {
    const auto where_negative = [](const Term& sign, const Term& v) { return (sign >> 63).as(u64) & v; };
    high = high - where_negative(x, q) - where_negative(y, p);
  }
  return high.as(x.type());
}

// Of two signed operands only the square of the lowest number leaves the range, and no other result is the lowest number: its
// bits are turned, unless one of the operands is known to be another.
Term turned(const Applied& a, const Term& r) {
  const std::int64_t lowest = lowest_of(a.type.element());
  for (const auto& v : a.values)
    if (v && v->low > lowest) return r;
  return r ^ select(r == lowest, r.number(-1), r.number(0));
}

}  // namespace

Expr mul_high(const Applied& a) {
  const Type t = a.type;
  const Term x = first(a), y = second(a);
  if (t.bits == 64) return upper_half(x, y).e;
  const Type wide = twice_as_wide(t);
  return ((x.as(wide) * y.as(wide)).as(without_sign(wide)) >> t.bits).as(t).e;
}

// floor(x y / 2^s + 1/2)
Expr mul_high_rounding(const Applied& a) {
  const Type t = a.type;
  const Term x = first(a), y = second(a);
  const int shift = t.is_unsigned() ? t.bits : t.bits - 1;
  if (t.bits < 64) {
    const Type wide = twice_as_wide(t), natural = without_sign(wide);
    const Term p = (x.as(wide) * y.as(wide)).as(natural) + (std::int64_t{1} << (shift - 1));
    const Term r = (p >> shift).as(t);
    return t.is_unsigned() ? r.e : turned(a, r).e;
  }
  const Term upper = x.with(Op::mul_high, y).as(u64), lower = x.as(u64) * y.as(u64);
  if (t.is_unsigned()) return (upper + (lower >> 63)).e;  // the half is 2^63: it carries where the lower word's top bit is set
  const Term low = lower + (std::int64_t{1} << 62), high = upper + (low < lower).as(u64);
  return turned(a, ((high << 1) | (low >> 63)).as(t)).e;
}

// All but the last step, then that one: (r >> 1) + (r & 1), which does not overflow.
Expr rounding_shr(const Applied& a) {
  const Type natural = without_sign(a.type);
  const Term x = first(a);
  const auto known = known_amount(a);
  if (known && known->low == 0 && known->high == 0) return x.e;
  Term by = second(a).bits_as(without_sign(a.args[1].type()));
  if (by.type().bits > a.type.bits) by = min(by, by.number(a.type.bits + 1));  // clamped before it is narrowed
  by = by.as(natural);
  Term less = by - 1;  // of no steps a number that is not taken
  if (known && known->low > 0 && known->high < a.type.bits) less = less.within(known->low - 1, known->high);
  if (known && known->low == known->high) less = by.number(known->low - 1);
  const Term r = x.with(Op::shr, less), shifted = (r >> 1) + (r & 1);
  return known && known->low > 0 ? shifted.e : select(by == 0, x, shifted).e;
}

}  // namespace ashlar::ir::expansion
