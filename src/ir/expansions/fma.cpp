// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fma where there is no instruction: of f32 by f64, of f64 in integers.
#include "ir/expansions/expansions.h"
#include "ir/expansions/term.h"

namespace ashlar::ir::expansion {
namespace {

// The product of two f32 is exact in f64. Its sum with the third, rounded to odd there (truncated, and the last bit set when
// anything was lost), rounds to f32 as the exact sum does, because f64 has more than two bits to spare (S. Boldo, G. Melquiond:
// Emulation of FMA and correctly rounded sums, IEEE Trans. Computers 57, 2008). What the sum lost is the error term of Knuth's
// TwoSum, exact since no f32 operand can make an f64 overflow or underflow.
Expr through_f64(const Term& x, const Term& y, const Term& z) {
  const Term p = x.as(f64) * y.as(f64), c = z.as(f64), s = p + c, part = s - p;
  const Term lost = (p - (s - part)) + (c - part);
  const Term bits = s.bits_as(i64), zero = lost.real(lost.type(), 0);
  const Term below = lost<zero, above = lost> zero;
  const Term inexact = either(below, above);  // false for the NaN that infinities leave
  // toward what was lost: away from zero when it has the sign of the sum
  const Term same_sign = test(Op::ge, bits ^ lost.bits_as(i64), bits.number(0));
  const Term odd = bits + select(same_sign, bits.number(1), bits.number(-1));
  return select(both(inexact, (bits & 1) == 0), odd, bits).bits_as(f64).as(f32).e;
}

// ---- f64 in integers ---------------------------------------------------------------------------------------------------
// The product of two significands has 106 bits and is exact in 128, and so is its sum with the third once the smaller of the
// two has been shifted right until their places agree; what falls off is kept as one sticky bit at the end ("jamming": J.
// Hauser, Berkeley SoftFloat). It stands more than 20 bits below where the sum is rounded, so it says what the lost bits say.

struct Wide {  // 128 bits without a sign
  Term high, low;
};

// By amounts below 64.
Term below_64(const Term& n) { return (n & 63).within(0, 64); }
Term left(const Term& v, const Term& n) { return v.with(Op::shl, n); }
Term right(const Term& v, const Term& n) { return v.with(Op::shr, n); }

Term one_where(const Term& c, const Term& like) { return select(c, like.number(1), like.number(0)); }

// Of a word that is a number with a sign.
Term at_least(const Term& v, std::int64_t low) {
  const Term x = v.as(i64);
  return max(x, x.number(low)).as(u64);
}
Term between(const Term& v, std::int64_t low, std::int64_t high) {
  const Term x = at_least(v, low);
  return min(x, x.number(high));
}
Term is_positive(const Term& v) { return v.as(i64) > 0; }

// v >> by, `by` from 0 to 127, with its last bit set where a bit was lost.
Wide jammed(const Wide& v, const Term& by) {
  const Term zero = by.number(0), far = by > 63, n = below_64(by), rest = below_64(by.number(63) - (by & 63));
  const Term high = right(v.high, n), low = right(v.low, n) | left(v.high << 1, rest);
  const Term mask = left(by.number(1), n) - 1;
  const Term lost = select(far, v.low | (v.high & mask), v.low & mask);
  return {select(far, zero, high), select(far, high, low) | one_where(lost > zero, zero)};
}

Wide minus(const Wide& x, const Wide& y) { return {x.high - y.high - one_where(x.low < y.low, x.low), x.low - y.low}; }

struct Number {  // significand * 2^exponent, the significand in [2^52, 2^53)
  Term sign, exponent, significand;
};

constexpr std::int64_t exponents = 0x7FF, fractions = (std::int64_t{1} << 52) - 1;

Term field(const Term& bits) { return (bits >> 52) & exponents; }
Term is_zero(const Term& bits) { return (bits & INT64_MAX) == 0; }
Term is_special(const Term& bits) { return either(field(bits) == exponents, is_zero(bits)); }

Number number(const Term& bits) {
  const Term e = field(bits), subnormal = e == 0, zero = bits.number(0);
  const Term whole = (bits & fractions) | select(subnormal, zero, bits.number(fractions + 1));
  const Term up = whole.with(Op::clz, whole.type()) - 11;  // 0 except for subnormal numbers, and for 0, which is none of these
  return {bits >> 63, select(subnormal, bits.number(1), e) - 1075 - up, left(whole, below_64(up))};
}

Term finite(const Number& a, const Number& b, const Number& c) {
  // Both in 127 bits: product << 21, third << 74.
  const Term upper = a.significand.with(Op::mul_high, b.significand), lower = a.significand * b.significand;
  Wide product{(upper << 21) | (lower >> 43), lower << 21};
  const Term zero = lower.number(0);
  Wide third{c.significand << 10, zero};
  const Term product_exponent = a.exponent + b.exponent - 21, third_exponent = c.exponent - 74;
  const Term apart = third_exponent - product_exponent;
  const Term exponent = select(is_positive(apart), third_exponent, product_exponent);
  product = jammed(product, between(apart, 0, 127));
  third = jammed(third, between(zero - apart, 0, 127));
  const Term product_sign = a.sign ^ b.sign, same = product_sign == c.sign;
  const Term larger = either(product.high > third.high, both(product.high == third.high, test(Op::ge, product.low, third.low)));
  const Wide down = minus(product, third), back = minus(third, product);
  const Term low_sum = product.low + third.low;
  const Term high_sum = product.high + third.high + one_where(low_sum < product.low, zero);
  const Wide sum{select(same, high_sum, select(larger, down.high, back.high)),
                 select(same, low_sum, select(larger, down.low, back.low))};
  const Term sign = select(larger, product_sign, c.sign), canceled = (sum.high | sum.low) == 0;
  // The first bit to the top; the words below it are one sticky bit.
  const Term no_high = sum.high == 0, first_word = select(no_high, sum.low, sum.high);
  const Term clear = first_word.with(Op::clz, first_word.type()) & 63, up_by = below_64(clear);
  const Term joined = left(sum.high, up_by) | right(sum.low >> 1, below_64(clear.number(63) - clear));
  const Term rest = left(sum.low, up_by);
  const Term normal = select(no_high, rest, joined | one_where(rest > zero, zero));
  const Term up = clear + select(no_high, zero.number(64), zero);
  // the biased exponent of the first bit; below 1 the result is subnormal
  const Term e = exponent - up + (127 + 1023);
  const Term top = jammed({zero, normal}, between(zero.number(1) - e, 0, 60)).low;
  const Term kept = top >> 11, tail = top & 0x7FF;
  const Term tie_up = one_where(tail == 0x400, zero) & kept;
  const Term rounded = kept + (one_where(tail > 0x400, zero) | (tie_up & 1));
  // the implicit bit, and a carry of rounding, add themselves to the exponent
  const Term magnitude = ((at_least(e, 1) - 1) << 52) + rounded;
  const Term overflows = e.as(i64) > exponents - 1;
  return select(canceled, zero, select(overflows, zero.number(exponents << 52), magnitude) | (sign << 63));
}

// Products of zeros, infinities and NaN are as exact apart. So is a sum with a zero or an infinity, once it is known which.
Expr in_integers(const Term& x, const Term& y, const Term& z) {
  const Term p = x.bits_as(u64), q = y.bits_as(u64), r = z.bits_as(u64);
  const Term product = x * y;
  const Term with_third =
      select(is_special(r), select(is_zero(r), product, z + z), finite(number(p), number(q), number(r)).bits_as(f64));
  return select(either(is_special(p), is_special(q)), product + z, with_third).e;
}

}  // namespace

Expr fma(const Applied& a) {
  const Term x = first(a), y = second(a), z{a.args[2], a.where};
  if (!x.type().is_float()) return (x * y + z).e;
  if (x.type().bits < 32) return {};
  return x.type().bits == 32 ? through_f64(x, y, z) : in_integers(x, y, z);
}

}  // namespace ashlar::ir::expansion
