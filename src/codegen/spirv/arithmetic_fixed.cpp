// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The integer operators of fixed-point and pixel arithmetic: what would need one more bit, or twice the bits. Sums and
// differences that are halved are taken apart into the bits that the operands share and those in which they differ:
//
//   x + y = 2 (x & y) + (x ^ y) = 2 (x | y) - (x ^ y)          x - y = (x ^ y) - 2 (~x & y)
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/spirv/arithmetic.h"

namespace ashlar::codegen::spirv {

using ir::Op;

Piece Arithmetic::fixed_point(Op o, Piece x, Piece y) {
  const Type t = x.type;
  const bool is_unsigned = t.is_unsigned();
  const auto differ = [&] { return op(spv::OpBitwiseXor, t, {x, y}); };
  const auto half = [&](Piece v) {
    return is_unsigned ? right(v, 1) : op(spv::OpShiftRightArithmetic, v.type, {v, like(v, 1)});
  };
  switch (o) {
    case Op::mul_high_rounding:
      return mul_high_rounding(x, y);
    case Op::mul_high:
      return mul_high(x, y);
    case Op::add_sat:
    case Op::sub_sat:
      return saturating(o, x, y);
    case Op::halving_add:
      return add(and_(x, y), half(differ()));
    case Op::rounding_halving_add:
      return sub(or_(x, y), half(differ()));
    case Op::halving_sub:
      return sub(half(differ()), and_(not_(x), y));
    case Op::abs_diff: {
      const Piece below = is_unsigned ? test(spv::OpULessThan, x, y) : ordered(spv::OpSLessThan, x, y);
      return as(Type{Type::Code::unsigned_, t.bits}, select(below, sub(y, x), sub(x, y)));
    }
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " is no operator of fixed-point arithmetic");
  }
}

// Unsigned: a sum that became smaller, a difference of less and more. Signed: the result's sign is not that of x, though y (or
// -y) has it; then the end of the range on x's side.
Piece Arithmetic::saturating(Op o, Piece x, Piece y) {
  const Type t = x.type;
  const bool adds = o == Op::add_sat;
  const Piece r = adds ? add(x, y) : sub(x, y);
  if (t.is_unsigned())
    return adds ? select(test(spv::OpULessThan, r, x), like(x, -1), r) : select(test(spv::OpULessThan, x, y), like(x, 0), r);
  const Piece signs = op(spv::OpBitwiseXor, t, {x, y}), turned = op(spv::OpBitwiseXor, t, {x, r});
  const Piece over = ordered(spv::OpSLessThan, and_(adds ? not_(signs) : signs, turned), like(x, 0));
  const Piece side = op(spv::OpShiftRightArithmetic, t, {x, like(x, t.bits - 1)});
  return select(over, op(spv::OpBitwiseXor, t, {side, like(x, ir::highest_of(t.element()))}), r);
}

namespace {
Type twice(Type t) { return {t.code, static_cast<std::uint8_t>(2 * t.bits)}; }
}  // namespace

// The product of 64 bits from products of halves; signed: the unsigned one, corrected for signs.
Arithmetic::Product Arithmetic::product(Piece x, Piece y) {
  const Type word = u64.with_lanes(x.type.lanes);
  const Piece a = as(u64, x), b = as(u64, y), low32 = integer(word, 0xFFFFFFFF);
  const Piece a0 = and_(a, low32), a1 = right(a, 32), b0 = and_(b, low32), b1 = right(b, 32);
  const Piece p00 = mul(a0, b0), p01 = mul(a0, b1), p10 = mul(a1, b0);
  const Piece middle = add(add(right(p00, 32), and_(p01, low32)), and_(p10, low32));
  Piece high = add(add(mul(a1, b1), add(right(p01, 32), right(p10, 32))), right(middle, 32));
  const Piece low = or_(and_(p00, low32), left(middle, 32));
  if (!x.type.is_unsigned()) {
    const Piece zero = integer(word, 0);
    high = sub(high, select(ordered(spv::OpSLessThan, a, zero), b, zero));
    high = sub(high, select(ordered(spv::OpSLessThan, b, zero), a, zero));
  }
  return {high, low};
}

Piece Arithmetic::mul_high(Piece x, Piece y) {
  const Type t = x.type;
  if (t.bits == 64) return as(t, product(x, y).high);
  const Type wide = twice(t);
  const Piece p = mul(resize(wide, x, !t.is_unsigned()), resize(wide, y, !t.is_unsigned()));
  return resize(t, right(p, t.bits), false);
}

// floor(x y / 2^s + 1/2)
Piece Arithmetic::mul_high_rounding(Piece x, Piece y) {
  const Type t = x.type;
  const bool is_unsigned = t.is_unsigned();
  const int shift = is_unsigned ? t.bits : t.bits - 1;
  if (t.bits < 64) {
    const Type wide = twice(t);
    Piece p = mul(resize(wide, x, !is_unsigned), resize(wide, y, !is_unsigned));
    p = add(p, like(p, std::int64_t{1} << (shift - 1)));
    if (is_unsigned) return resize(t, right(p, shift), false);
    p = op(spv::OpShiftRightArithmetic, p.type, {p, like(p, shift)});
    return resize(t, least(p, like(p, ir::highest_of(t.element())), false), false);
  }
  const Type word = u64.with_lanes(t.lanes);
  const Product p = product(x, y);
  // the half is 2^63: it carries where the low word's top bit is set
  if (is_unsigned) return as(t, add(p.high, right(p.low, 63)));
  const Piece zero = integer(word, 0), half = integer(word, std::int64_t{1} << 62), sum = add(p.low, half);
  const Piece high = add(p.high, select(test(spv::OpULessThan, sum, p.low), integer(word, 1), zero));
  const Piece result = or_(left(high, 1), right(sum, 63)), least = integer(word, INT64_MIN);
  const Piece both = and_(test(spv::OpIEqual, as(u64, x), least), test(spv::OpIEqual, as(u64, y), least));
  return as(t, select(both, integer(word, INT64_MAX), result));
}

}  // namespace ashlar::codegen::spirv
