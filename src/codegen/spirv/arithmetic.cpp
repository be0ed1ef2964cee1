// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors, bools and integers.
#include "codegen/spirv/arithmetic.h"

#include <algorithm>

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

Piece Arithmetic::word_of(Piece bytes) {
  if (const auto n = words_.find(bytes.id); n != words_.end()) return {n->second, u32};
  return op(spv::OpBitcast, u32, {bytes});
}

Piece Arithmetic::bytes_of(Type t, Ref word) {
  const Piece bytes{c.op(spv::OpBitcast, m.type(t), {word}), t};
  words_[bytes.id] = word;
  return bytes;
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
    case Op::popcount:  // of u32, as clz
      return op(spv::OpBitCount, t, {x});
    case Op::clz:
      return sub(like(x, 31), glsl(GLSLstd450FindUMsb, {x}));  // of 0 is -1
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " was not expanded");
  }
}

// NVIDIA's driver (580.159 on an H100) gets x - x / n * n wrong where a shader has several of them, n is a number and x has 64
// bits and a sign: each may take the remainder of another. Without a sign it gets them right. So such a quotient is one of
// magnitudes, with the sign put back; (x ^ s) - s is -x where s is -1, and x where it is 0.
Piece Arithmetic::quotient(Piece x, Piece y) {
  const Type t = x.type;
  if (t.is_unsigned()) return op(spv::OpUDiv, t, {x, y});
  const auto by = constants_.find(y.id);
  if (by == constants_.end() || m.registers.physical(t).bits < 64) return op(spv::OpSDiv, t, {x, y});
  const auto negated_where = [&](Piece s, Piece v) { return sub(op(spv::OpBitwiseXor, t, {v, s}), s); };
  const std::int64_t n = by->second;
  const Piece below = op(spv::OpShiftRightArithmetic, t, {x, like(x, 63)});
  const auto magnitude = static_cast<std::int64_t>(n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n));
  const Piece q = op(spv::OpUDiv, t, {negated_where(below, x), like(x, magnitude)});
  return negated_where(n < 0 ? not_(below) : below, q);
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
    case Op::trunc_div:  // of a divisor that makes no exception
      return quotient(x, y);
    case Op::trunc_rem:
      return op(spv::OpUMod, t, {x, y});
    case Op::logic_and:
    case Op::bit_and:
      return and_(x, y);
    case Op::logic_or:
    case Op::bit_or:
      return or_(x, y);
    case Op::bit_xor:
      return op(spv::OpBitwiseXor, t, {x, y});
    case Op::shl:  // of amounts below the width, as shr
      return op(spv::OpShiftLeftLogical, t, {x, y});
    case Op::shr:
      return op(t.is_unsigned() ? spv::OpShiftRightLogical : spv::OpShiftRightArithmetic, t, {x, y});
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " was not expanded");
  }
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
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " is not a comparison");
  }
}

}  // namespace ashlar::codegen::spirv
