// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating point: IEEE, no contraction but where fma is written. NaNs are told by their bits, which no driver optimizes away.
#include <bit>

#include <ashlar/ir/refusal.h>

#include "codegen/spirv/arithmetic.h"

#include <spirv/unified1/GLSL.std.450.h>

namespace ashlar::codegen::spirv {

using ir::Op;

namespace {

// The bits of an IEEE format, as numbers of their width.
struct Layout {
  std::int64_t sign, infinity, nan;
};
Layout layout_of(Type t) {
  if (t.bits == 64) return {INT64_MIN, 0x7FF0000000000000, 0x7FF8000000000000};
  if (t.bits == 16) return {INT16_MIN, 0x7C00, 0x7E00};
  return {INT32_MIN, 0x7F800000, 0x7FC00000};
}

}  // namespace

Piece Arithmetic::bits_of(Piece x) {
  return op(spv::OpBitcast, Type{Type::Code::unsigned_, x.type.bits}.with_lanes(x.type.lanes), {x});
}
Piece Arithmetic::magnitude_of(Piece bits) { return and_(bits, like(bits, ~layout_of(bits.type).sign)); }
Piece Arithmetic::float_of(Type t, Piece bits) { return op(spv::OpBitcast, t.with_lanes(bits.type.lanes), {bits}); }

Piece Arithmetic::exact(spv::Op o, Piece x, Piece y) {
  const Piece r = op(o, x.type, {x, y});
  m.decorate(r.id, spv::DecorationNoContraction);
  return r;
}

Piece Arithmetic::is_nan(Piece x) {
  const Piece magnitude = magnitude_of(bits_of(x));
  return test(spv::OpUGreaterThan, magnitude, like(magnitude, layout_of(x.type).infinity));
}

Piece Arithmetic::float_unary(Op o, Piece x) {
  switch (o) {
    case Op::neg:
      return op(spv::OpFNegate, x.type, {x});
    case Op::abs:  // FAbs takes a subnormal number for zero on some devices
      return float_of(x.type, magnitude_of(bits_of(x)));
    case Op::sqrt:
      return x.type.bits == 32 ? root(x) : glsl(GLSLstd450Sqrt, {x});
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
      return rounded(o, x);
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " was not expanded");
  }
}

// An f32 to a whole number. Mesa's llvmpipe rounds vectors that are wider than the processor's by way of integers, and loses
// the sign of a zero there. So the result takes x's sign, which each of the four has but for a zero's. (Of f64 it gets values
// wrong too, 1.5 gives 1: those were spelled.)
Piece Arithmetic::rounded(Op o, Piece x) {
  const Piece bits = bits_of(x), sign = and_(bits, like(bits, INT32_MIN));
  const Piece r = glsl(o == Op::floor   ? GLSLstd450Floor
                       : o == Op::ceil  ? GLSLstd450Ceil
                       : o == Op::round ? GLSLstd450RoundEven
                                        : GLSLstd450Trunc,
                       {x});
  return float_of(x.type, or_(bits_of(r), sign));
}

// With a constant 0, by the bits of the other operand: Mesa's llvmpipe takes 0 * x and 0 / x for 0, 0 + x for x and x / 0 for
// anything, though it says that it keeps signed zeros, infinities and NaN. Nothing where neither operand is one.
std::optional<Piece> Arithmetic::with_zero(Op o, Piece x, Piece y) {
  const auto a = zeros_.find(x.id), b = zeros_.find(y.id);
  const bool first = a != zeros_.end();
  if (!first && b == zeros_.end()) return {};
  bool negative = (first ? a : b)->second;
  Piece other = first ? y : x;
  if (o == Op::sub) {
    if (first)
      other = float_unary(Op::neg, other);
    else
      negative = !negative;
  }
  const auto [signs, top, nan] = layout_of(other.type);
  const Piece bits = bits_of(other);
  const Piece magnitude = magnitude_of(bits), zero = like(bits, 0), infinity = like(bits, top);
  const auto is_zero = [&] { return test(spv::OpIEqual, magnitude, zero); };
  if (o == Op::add || o == Op::sub)  // -0 + x is x
    return negative ? other : float_of(other.type, select(is_zero(), zero, bits));
  if (o != Op::mul && o != Op::div) return {};
  Piece sign = and_(bits, like(bits, signs));
  if (negative) sign = op(spv::OpBitwiseXor, bits.type, {sign, like(bits, signs)});
  const Piece no_number = o == Op::mul ? test(spv::OpUGreaterThanEqual, magnitude, infinity)
                                       : or_(is_zero(), test(spv::OpUGreaterThan, magnitude, infinity));
  const Piece number = o == Op::mul || first ? sign : or_(sign, infinity);
  return float_of(other.type, select(no_number, like(bits, nan), number));
}

Piece Arithmetic::float_binary(Op o, Piece x, Piece y) {
  if (const auto r = with_zero(o, x, y)) return *r;
  switch (o) {
    case Op::add:
      return exact(spv::OpFAdd, x, y);
    case Op::sub:
      return exact(spv::OpFSub, x, y);
    case Op::mul:
      return exact(spv::OpFMul, x, y);
    case Op::div:
      return exact(spv::OpFDiv, x, y);
    default:
      throw InternalError(std::string("spirv: ") + ir::op_name(o) + " was not expanded");
  }
}

Piece Arithmetic::fma(Piece x, Piece y, Piece z) {
  const Type t = x.type;
  if (const auto product = with_zero(Op::mul, x, y)) return float_binary(Op::add, *product, z);
  (t.bits == 64 ? used_fma64 : used_fma32) = true;
  const Piece r = glsl(GLSLstd450Fma, {x, y, z});
  m.decorate(r.id, spv::DecorationNoContraction);
  return r;
}

Piece Arithmetic::fma_of_machine(Piece x, Piece y, Piece z) { return glsl(GLSLstd450Fma, {x, y, z}); }

}  // namespace ashlar::codegen::spirv
