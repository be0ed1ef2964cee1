// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors, bools and integers.
#include "codegen/spirv/arithmetic.h"

#include <algorithm>
#include <bit>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include <spirv/unified1/GLSL.std.450.h>

namespace ashlar::codegen::spirv {

using ir::Op;

Piece Arithmetic::op(spv::Op o, Type result, std::initializer_list<Piece> operands) {
  std::vector<Word> words;
  for (const Piece& p : operands) words.push_back(p.id);
  return {c.op(o, m.type(result), words), result};
}

Piece Arithmetic::glsl(Word instruction, std::initializer_list<Piece> operands) {
  std::vector<Word> words = {m.glsl(), instruction};
  for (const Piece& p : operands) words.push_back(p.id);
  const Type t = operands.begin()->type;
  return {c.op(spv::OpExtInst, m.type(t), words), t};
}

Piece Arithmetic::test(spv::Op o, Piece x, Piece y) { return op(o, bool_.with_lanes(x.type.lanes), {x, y}); }

// Mesa 22.3, the drivers of Debian 12, narrows a comparison of a sign-extended number with a constant to 32 bits, and gets it
// wrong; it also finds the extension behind what it has simplified away (x * 1). So what is known to be extended is compared in
// 32 bits here, and other numbers of 64 bits by their distance from the least one.
Piece Arithmetic::ordered(spv::Op o, Piece x, Piece y) {
  struct Order {
    spv::Op with_sign, turned, without;
    bool less;
  };
  static constexpr Order orders[] = {
      {spv::OpSLessThan, spv::OpSGreaterThan, spv::OpULessThan, true},
      {spv::OpSLessThanEqual, spv::OpSGreaterThanEqual, spv::OpULessThanEqual, true},
      {spv::OpSGreaterThan, spv::OpSLessThan, spv::OpUGreaterThan, false},
      {spv::OpSGreaterThanEqual, spv::OpSLessThanEqual, spv::OpUGreaterThanEqual, false},
  };
  const Order& order = *std::find_if(std::begin(orders), std::end(orders), [&](const Order& e) { return e.with_sign == o; });
  if (constants_.count(x.id) && !constants_.count(y.id)) return ordered(order.turned, y, x);
  const auto constant = constants_.find(y.id);
  if (constant == constants_.end() || m.registers.physical(x.type).bits < 64) return test(o, x, y);
  const std::int64_t v = constant->second;
  const auto narrow = extended_.find(x.id);
  if (narrow == extended_.end()) {
    const Piece least = like(x, INT64_MIN);
    return test(order.without, op(spv::OpBitwiseXor, x.type, {x, least}), like(x, v ^ INT64_MIN));
  }
  if (v >= INT32_MIN && v <= INT32_MAX) return test(o, narrow->second, like(narrow->second, v));
  return integer(bool_.with_lanes(x.type.lanes), order.less == (v > 0));
}

Piece Arithmetic::least(Piece x, Piece y, bool is_unsigned) {
  return select(is_unsigned ? test(spv::OpULessThan, x, y) : ordered(spv::OpSLessThan, x, y), x, y);
}
Piece Arithmetic::most(Piece x, Piece y, bool is_unsigned) {
  return select(is_unsigned ? test(spv::OpUGreaterThan, x, y) : ordered(spv::OpSGreaterThan, x, y), x, y);
}

Piece Arithmetic::select(Piece condition, Piece x, Piece y) {
  if (condition.type.lanes != x.type.lanes) condition = splat(condition, x.type.lanes);
  return op(spv::OpSelect, x.type, {condition, x, y});
}

Piece Arithmetic::splat(Piece x, int lanes) {
  if (lanes == 1) return x;
  const Type t = x.type.with_lanes(lanes);
  if (const auto n = constants_.find(x.id); n != constants_.end()) return integer(t, n->second);
  if (const auto n = extended_.find(x.id); n != extended_.end()) return resize(t, splat(n->second, lanes), true);
  if (const auto n = zeros_.find(x.id); n != zeros_.end()) return real(t, n->second ? -0.0 : 0.0);
  const std::vector<Word> parts(static_cast<std::size_t>(lanes), x.id);
  return {c.op(spv::OpCompositeConstruct, m.type(t), parts), t};
}

Piece Arithmetic::lane(Piece v, int k) {
  if (v.type.lanes == 1) return v;
  const Type t = v.type.element();
  if (const auto n = extended_.find(v.id); n != extended_.end()) return resize(t, lane(n->second, k), true);
  if (const auto n = zeros_.find(v.id); n != zeros_.end()) return real(t, n->second ? -0.0 : 0.0);
  return {c.op(spv::OpCompositeExtract, m.type(t), {v.id, static_cast<Word>(k)}), t};
}

Piece Arithmetic::composite(std::span<const Piece> lanes) {
  if (lanes.size() == 1) return lanes[0];
  const Type t = lanes[0].type.with_lanes(static_cast<int>(lanes.size()));
  std::vector<Word> words;
  for (const Piece& p : lanes) words.push_back(p.id);
  return {c.op(spv::OpCompositeConstruct, m.type(t), words), t};
}

Piece Arithmetic::resize(Type to, Piece x, bool is_signed) {
  const Type from = m.registers.physical(x.type), wanted = m.registers.physical(to);
  const Type result = to.with_lanes(x.type.lanes);
  if (from.bits == wanted.bits) return {x.id, result};
  const Piece p = op(is_signed && wanted.bits > from.bits ? spv::OpSConvert : spv::OpUConvert, result, {x});
  if (is_signed && from.bits == 32 && wanted.bits == 64) extended_[p.id] = {x.id, i32.with_lanes(x.type.lanes)};
  return p;
}

Piece Arithmetic::unary(Op o, Piece x) {
  const Type t = x.type;
  if (t.is_float()) return float_unary(o, x);
  switch (o) {
    case Op::neg:
      return op(spv::OpSNegate, t, {x});
    case Op::logic_not:
    case Op::bit_not:
      return not_(x);
    case Op::abs:
      return t.is_unsigned() ? x : select(ordered(spv::OpSLessThan, x, like(x, 0)), op(spv::OpSNegate, t, {x}), x);
    case Op::popcount:
    case Op::clz:
    case Op::ctz:
      return count_bits(o, x);
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " was not expanded");
  }
}

// OpBitCount and the searches for a bit are instructions of 32-bit integers alone.
Piece Arithmetic::count_bits(Op o, Piece x) {
  const int lanes = x.type.lanes, width = m.registers.physical(x.type).bits;
  const Type word = u32.with_lanes(lanes);
  auto leading = [&](Piece w) {  // FindUMsb of 0 is -1
    return sub(integer(word, 31), glsl(GLSLstd450FindUMsb, {w}));
  };
  auto trailing = [&](Piece w) { return glsl(GLSLstd450FindILsb, {w}); };  // of 0 is -1
  auto population = [&](Piece w) { return op(spv::OpBitCount, word, {w}); };
  Piece n;
  if (width == 64) {
    const Piece whole = as(u64, x), low = resize(u32, whole, false), high = resize(u32, right(whole, 32), false);
    const Piece zero = integer(word, 0);
    if (o == Op::popcount)
      n = add(population(low), population(high));
    else if (o == Op::clz)
      n = select(test(spv::OpIEqual, high, zero), add(leading(low), integer(word, 32)), leading(high));
    else
      n = select(test(spv::OpIEqual, low, zero),
                 select(test(spv::OpIEqual, high, zero), integer(word, 64), add(trailing(high), integer(word, 32))),
                 trailing(low));
  } else {
    const Piece w = resize(u32, as(width == 8 ? u8 : width == 16 ? u16 : u32, x), false);
    if (o == Op::popcount)
      n = population(w);
    else if (o == Op::clz)
      n = sub(leading(w), integer(word, 32 - width));
    else
      n = select(test(spv::OpIEqual, w, integer(word, 0)), integer(word, width), trailing(w));
  }
  return resize(x.type, n, false);
}

Piece Arithmetic::binary(Op o, Piece x, Piece y) {
  const Type t = x.type;
  if (t.is_float()) return float_binary(o, x, y);
  switch (o) {
    case Op::add:
      return add(x, y);
    case Op::sub:
      return sub(x, y);
    case Op::mul:
      return mul(x, y);
    case Op::div:
    case Op::mod:
    case Op::trunc_div:
    case Op::trunc_rem:
      return divide(o, x, y);
    case Op::min:
      return least(x, y, t.is_unsigned());
    case Op::max:
      return most(x, y, t.is_unsigned());
    case Op::logic_and:
    case Op::bit_and:
      return and_(x, y);
    case Op::logic_or:
    case Op::bit_or:
      return or_(x, y);
    case Op::bit_xor:
      return op(spv::OpBitwiseXor, t, {x, y});
    case Op::shl:
    case Op::shr:
      return shift(o, x, y);
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " was not expanded");
  }
}

// x / 0 and x % 0 are 0; the smallest value by -1 wraps. A divisor for which the instruction is not defined is replaced by 1,
// which already gives the right remainder in both cases, and the right quotient in the second. OpSRem is not defined for
// negative operands in Vulkan: the remainder is x - q y.
Piece Arithmetic::divide(Op o, Piece x, Piece y) {
  const Type t = x.type;
  const bool quotient = o == Op::div || o == Op::trunc_div, floors = o == Op::div || o == Op::mod;
  const Piece zero = like(x, 0), one = like(x, 1), by_zero = test(spv::OpIEqual, y, zero);
  if (t.is_unsigned()) {
    const Piece safe = select(by_zero, one, y);
    return quotient ? select(by_zero, zero, op(spv::OpUDiv, t, {x, safe})) : op(spv::OpUMod, t, {x, safe});
  }
  const int bits = m.registers.physical(t).bits;
  const std::int64_t lowest = bits >= 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1));
  const Piece wraps = and_(test(spv::OpIEqual, x, like(x, lowest)), test(spv::OpIEqual, y, like(x, -1)));
  const Piece safe = select(or_(by_zero, wraps), one, y);
  Piece q = op(spv::OpSDiv, t, {x, safe});
  const Piece r = sub(x, mul(q, safe));
  if (floors) {
    const Piece crossed = test(spv::OpSLessThan, op(spv::OpBitwiseXor, t, {r, safe}), zero);
    const Piece below = and_(test(spv::OpINotEqual, r, zero), crossed);
    if (!quotient) return select(below, add(r, safe), r);
    q = select(below, sub(q, one), q);
  }
  return quotient ? select(by_zero, zero, q) : r;
}

Piece Arithmetic::divide_by(Op o, Piece x, std::int64_t divisor) {
  const Type t = x.type;
  const bool quotient = o == Op::div || o == Op::trunc_div, floors = o == Op::div || o == Op::mod;
  const Piece by = like(x, divisor);
  if (divisor == 0) return by;
  const bool power = divisor > 0 && std::has_single_bit(static_cast<std::uint64_t>(divisor));
  if (power && (floors || t.is_unsigned())) {
    const int n = std::countr_zero(static_cast<std::uint64_t>(divisor));
    if (!quotient) return and_(x, like(x, divisor - 1));
    return t.is_unsigned() ? right(x, n) : op(spv::OpShiftRightArithmetic, t, {x, like(x, n)});
  }
  if (t.is_unsigned()) return op(quotient ? spv::OpUDiv : spv::OpUMod, t, {x, by});
  if (divisor < 0) return divide(o, x, by);
  const Piece q = op(spv::OpSDiv, t, {x, by});
  if (!floors && quotient) return q;
  const Piece r = sub(x, mul(q, by));
  if (!floors) return r;
  const Piece below = ordered(spv::OpSLessThan, r, like(x, 0));
  return quotient ? select(below, sub(q, like(x, 1)), q) : select(below, add(r, by), r);
}

// By an amount of x's width, read as unsigned: the width or more shifts everything out.
Piece Arithmetic::shifted_right(Piece x, Piece amount) {
  const int bits = m.registers.physical(x.type).bits;
  if (x.type.is_unsigned()) {
    const Piece all = test(spv::OpUGreaterThanEqual, amount, like(x, bits));
    return select(all, like(x, 0), op(spv::OpShiftRightLogical, x.type, {x, select(all, like(x, 0), amount)}));
  }
  return op(spv::OpShiftRightArithmetic, x.type, {x, least(amount, like(x, bits - 1), true)});
}

Piece Arithmetic::shift(Op o, Piece x, Piece amount) {
  const int bits = m.registers.physical(x.type).bits, given = m.registers.physical(amount.type).bits;
  if (const auto by = constants_.find(amount.id); by != constants_.end() && by->second >= 0 && by->second < bits) {
    const spv::Op right = x.type.is_unsigned() ? spv::OpShiftRightLogical : spv::OpShiftRightArithmetic;
    return op(o == Op::shl ? spv::OpShiftLeftLogical : right, x.type, {x, like(x, by->second)});
  }
  if (given > bits)  // clamped before it is narrowed
    amount = resize(x.type, least(amount, like(amount, bits + 1), true), false);
  else
    amount = resize(x.type, amount, false);
  const Piece zero = like(x, 0);
  if (o == Op::shr) return shifted_right(x, amount);
  const Piece all = test(spv::OpUGreaterThanEqual, amount, like(x, bits));
  return select(all, zero, op(spv::OpShiftLeftLogical, x.type, {x, select(all, zero, amount)}));
}

Piece Arithmetic::comparison(Op o, Piece x, Piece y) {
  const Type t = x.type;
  if (t.is_bool()) return test(o == Op::eq ? spv::OpLogicalEqual : spv::OpLogicalNotEqual, x, y);
  auto pick = [&](spv::Op real, spv::Op with_sign, spv::Op without) {
    if (t.is_float() || t.is_unsigned() || with_sign == without) return test(t.is_float() ? real : without, x, y);
    return ordered(with_sign, x, y);
  };
  switch (o) {
    case Op::eq:
      return pick(spv::OpFOrdEqual, spv::OpIEqual, spv::OpIEqual);
    case Op::ne:
      return pick(spv::OpFUnordNotEqual, spv::OpINotEqual, spv::OpINotEqual);
    case Op::lt:
      return pick(spv::OpFOrdLessThan, spv::OpSLessThan, spv::OpULessThan);
    case Op::le:
      return pick(spv::OpFOrdLessThanEqual, spv::OpSLessThanEqual, spv::OpULessThanEqual);
    case Op::gt:
      return pick(spv::OpFOrdGreaterThan, spv::OpSGreaterThan, spv::OpUGreaterThan);
    case Op::ge:
      return pick(spv::OpFOrdGreaterThanEqual, spv::OpSGreaterThanEqual, spv::OpUGreaterThanEqual);
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " is no comparison");
  }
}

}  // namespace ashlar::codegen::spirv
