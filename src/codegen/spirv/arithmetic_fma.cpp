// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fma of f64 where the device's Fma rounds twice.
#include "codegen/spirv/arithmetic.h"

namespace ashlar::codegen::spirv {

using ir::Op;

// Two words of 64 bits, as one number without a sign.
struct Arithmetic::Wide {
  Piece high, low;
};

// v >> by, `by` from 0 to 127, with its last bit set where a bit was lost.
Arithmetic::Wide Arithmetic::jammed(const Wide& v, Piece by) {
  const Piece zero = like(by, 0), one = like(by, 1);
  const Piece far = test(spv::OpUGreaterThan, by, like(by, 63)), n = and_(by, like(by, 63));
  const auto shr = [&](Piece x, Piece k) { return op(spv::OpShiftRightLogical, x.type, {x, k}); };
  const auto shl = [&](Piece x, Piece k) { return op(spv::OpShiftLeftLogical, x.type, {x, k}); };
  const Piece high = shr(v.high, n);
  const Piece low = or_(shr(v.low, n), shl(left(v.high, 1), sub(like(by, 63), n)));
  const Piece mask = sub(shl(one, n), one);
  const Piece lost = select(far, or_(v.low, and_(v.high, mask)), and_(v.low, mask));
  const Piece sticky = select(test(spv::OpINotEqual, lost, zero), one, zero);
  return {select(far, zero, high), or_(select(far, high, low), sticky)};
}

// The product of 64 bits from products of halves.
Arithmetic::Product Arithmetic::product(Piece x, Piece y) {
  const Type word = u64.with_lanes(x.type.lanes);
  const Piece a = as(u64, x), b = as(u64, y), low32 = integer(word, 0xFFFFFFFF);
  const Piece a0 = and_(a, low32), a1 = right(a, 32), b0 = and_(b, low32), b1 = right(b, 32);
  const Piece p00 = mul(a0, b0), p01 = mul(a0, b1), p10 = mul(a1, b0);
  const Piece middle = add(add(right(p00, 32), and_(p01, low32)), and_(p10, low32));
  const Piece high = add(add(mul(a1, b1), add(right(p01, 32), right(p10, 32))), right(middle, 32));
  const Piece low = or_(and_(p00, low32), left(middle, 32));
  return {high, low};
}

// In integers. The product of two significands has 106 bits and is exact in 128, and so is its sum with the third once the
// smaller of the two has been shifted right until their places agree; what falls off is kept as one sticky bit at the end
// ("jamming": J. Hauser, Berkeley SoftFloat), more than 20 bits below where the sum is rounded.
Piece Arithmetic::fma_in_integers(Piece x, Piece y, Piece z) {
  const Type word = u64.with_lanes(x.type.lanes), real_type = x.type;
  const auto n = [&](std::int64_t v) { return integer(word, v); };
  const auto between = [&](Piece v, std::int64_t low, std::int64_t high) {
    return least(most(v, n(low), false), n(high), false);
  };
  const auto flag = [&](Piece condition) { return select(condition, n(1), n(0)); };
  constexpr std::int64_t exponents = 0x7FF, fractions = (std::int64_t{1} << 52) - 1;
  struct Number {  // significand * 2^exponent, the significand in [2^52, 2^53)
    Piece sign, exponent, significand;
  };
  const auto field = [&](Piece v) { return and_(right(bits_of(v), 52), n(exponents)); };
  const auto is_zero = [&](Piece v) { return test(spv::OpIEqual, and_(bits_of(v), n(INT64_MAX)), n(0)); };
  const auto special = [&](Piece v) { return or_(test(spv::OpIEqual, field(v), n(exponents)), is_zero(v)); };
  const auto number = [&](Piece v) -> Number {
    const Piece e = field(v), subnormal = test(spv::OpIEqual, e, n(0));
    const Piece whole = or_(and_(bits_of(v), n(fractions)), select(subnormal, n(0), n(fractions + 1)));
    const Piece up = sub(count_bits(Op::clz, whole), n(11));  // 0 but for subnormal numbers, and for 0, which is none of these
    const Piece exponent = sub(sub(select(subnormal, n(1), e), n(1075)), up);
    return {right(bits_of(v), 63), exponent, op(spv::OpShiftLeftLogical, word, {whole, and_(up, n(63))})};
  };
  const Number a = number(x), b = number(y), third_number = number(z);
  // Both in 127 bits: product << 21, third << 74.
  const Product exact_product = product(a.significand, b.significand);
  Wide p{or_(left(as(u64, exact_product.high), 21), right(as(u64, exact_product.low), 43)),
         left(as(u64, exact_product.low), 21)};
  Wide third{left(third_number.significand, 10), n(0)};
  const Piece product_exponent = sub(add(a.exponent, b.exponent), n(21)), third_exponent = sub(third_number.exponent, n(74));
  const Piece apart = sub(third_exponent, product_exponent);
  const Piece exponent = select(ordered(spv::OpSGreaterThan, apart, n(0)), third_exponent, product_exponent);
  p = jammed(p, between(apart, 0, 127));
  third = jammed(third, between(sub(n(0), apart), 0, 127));
  const Piece product_sign = op(spv::OpBitwiseXor, word, {a.sign, b.sign});
  const Piece same = test(spv::OpIEqual, product_sign, third_number.sign);
  const Piece larger = or_(test(spv::OpUGreaterThan, p.high, third.high),
                           and_(test(spv::OpIEqual, p.high, third.high), test(spv::OpUGreaterThanEqual, p.low, third.low)));
  const auto minus = [&](const Wide& l, const Wide& r) -> Wide {
    return {sub(sub(l.high, r.high), flag(test(spv::OpULessThan, l.low, r.low))), sub(l.low, r.low)};
  };
  const Wide down = minus(p, third), back = minus(third, p);
  const Piece low_sum = add(p.low, third.low);
  const Wide sum{select(same, add(add(p.high, third.high), flag(test(spv::OpULessThan, low_sum, p.low))),
                        select(larger, down.high, back.high)),
                 select(same, low_sum, select(larger, down.low, back.low))};
  const Piece sign = select(larger, product_sign, third_number.sign);
  const Piece cancelled = test(spv::OpIEqual, or_(sum.high, sum.low), n(0));
  // The first bit to the top; the words below it are one sticky bit.
  const Piece no_high = test(spv::OpIEqual, sum.high, n(0));
  const Piece up_by = and_(count_bits(Op::clz, select(no_high, sum.low, sum.high)), n(63));
  const Piece joined = or_(op(spv::OpShiftLeftLogical, word, {sum.high, up_by}),
                           op(spv::OpShiftRightLogical, word, {right(sum.low, 1), sub(n(63), up_by)}));
  const Piece rest = op(spv::OpShiftLeftLogical, word, {sum.low, up_by});
  Piece top = select(no_high, rest, or_(joined, flag(test(spv::OpINotEqual, rest, n(0)))));
  const Piece up = add(up_by, select(no_high, n(64), n(0)));
  // the biased exponent of the first bit; below 1 the result is subnormal
  const Piece e = add(sub(exponent, up), n(127 + 1023));
  top = jammed({n(0), top}, between(sub(n(1), e), 0, 60)).low;
  const Piece kept = right(top, 11), tail = and_(top, n(0x7FF));
  const Piece tie_up = and_(flag(test(spv::OpIEqual, tail, n(0x400))), kept);
  const Piece rounded = add(kept, or_(flag(test(spv::OpUGreaterThan, tail, n(0x400))), and_(tie_up, n(1))));
  // the implicit bit, and a carry of rounding, add themselves to the exponent
  const Piece at_least_one = most(e, n(1), false);
  Piece magnitude = add(left(sub(at_least_one, n(1)), 52), rounded);
  magnitude = select(ordered(spv::OpSGreaterThan, e, n(exponents - 1)), n(exponents << 52), magnitude);
  const Piece finite = float_of(real_type, select(cancelled, n(0), or_(magnitude, left(sign, 63))));
  // Products of zeros, infinities and NaN are as exact apart. So is a sum with a zero or an infinity, once it is known which.
  const Piece apart_product = exact(spv::OpFMul, x, y);
  const Piece with_special = select(is_zero(z), apart_product, exact(spv::OpFAdd, z, z));
  return select(or_(special(x), special(y)), exact(spv::OpFAdd, apart_product, z), select(special(z), with_special, finite));
}

}  // namespace ashlar::codegen::spirv
