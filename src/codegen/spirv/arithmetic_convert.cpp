// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between types; those of narrow floats were spelled (codegen/legalize.h).
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/spirv/arithmetic.h"

#include <spirv/unified1/GLSL.std.450.h>

namespace ashlar::codegen::spirv {

using ir::Op;

// Truncates toward zero, clamps to the type, NaN gives 0. The instruction is defined only for values that fit: it gets 0 in
// place of the others. Types below 32 bits go through 32 and are clamped there.
Piece Arithmetic::float_to_integer(Type to, Piece x) {
  const Type physical = m.registers.physical(to);
  const bool is_unsigned = to.is_unsigned();
  const int lanes = x.type.lanes;
  if (physical.bits < 32) {
    const Piece wide = float_to_integer(is_unsigned ? u32 : i32, x);
    const auto end = [&](Piece v, Op o, std::int64_t n) { return select(comparison(o, v, like(v, n)), v, like(v, n)); };
    Piece clamped = end(wide, Op::lt, ir::highest_of(to.element()));
    if (!is_unsigned) clamped = end(clamped, Op::gt, ir::lowest_of(to.element()));
    return resize(to, clamped, false);
  }
  const Type result = to.with_lanes(lanes);
  const Type t = x.type;
  const double past = std::ldexp(1.0, is_unsigned ? physical.bits : physical.bits - 1);  // the first value that is too large
  const std::int64_t top = is_unsigned ? -1 : physical.bits == 64 ? INT64_MAX : INT32_MAX;
  const std::int64_t bottom = is_unsigned ? 0 : physical.bits == 64 ? INT64_MIN : INT32_MIN;
  const Piece high = test(spv::OpFOrdGreaterThanEqual, x, real(t, past));
  // everything above this truncates to a value that fits; exact in both float types where the source has fewer bits
  const bool exact_below = !is_unsigned && t.bits == 64 && physical.bits == 32;
  const Piece low = is_unsigned   ? test(spv::OpFOrdLessThan, x, real(t, 0))  // (-1, 0) truncates to 0 all the same
                    : exact_below ? test(spv::OpFOrdLessThanEqual, x, real(t, -past - 1))
                                  : test(spv::OpFOrdLessThan, x, real(t, -past));
  const Piece bad = or_(or_(high, low), is_nan(x));
  const Piece safe = select(bad, real(t, 0), x);
  const Piece fits = op(is_unsigned ? spv::OpConvertFToU : spv::OpConvertFToS, result, {safe});
  return select(high, integer(result, top), select(low, integer(result, bottom), fits));
}

// FConvert takes a subnormal number for zero on some devices: such a one is its bits times 2^-149.
Piece Arithmetic::wider(Piece x) {
  const Type to = f64.with_lanes(x.type.lanes), word = u64.with_lanes(x.type.lanes);
  const Piece bits = bits_of(x), magnitude = and_(bits, like(bits, INT32_MAX));
  const Piece small = exact(spv::OpFMul, op(spv::OpConvertUToF, to, {magnitude}), real(to, 0x1p-149));
  const Piece sign = op(spv::OpShiftLeftLogical, word,
                        {resize(word, op(spv::OpBitwiseXor, bits.type, {bits, magnitude}), false), integer(word, 32)});
  const Piece subnormal = test(spv::OpULessThan, magnitude, like(bits, 0x00800000));
  return select(subnormal, float_of(to, or_(bits_of(small), sign)), op(spv::OpFConvert, to, {x}));
}

Piece Arithmetic::convert(Type wanted, Piece x) {
  const int lanes = x.type.lanes;
  const Type to = wanted.with_lanes(lanes), from = x.type;
  if (to == from) return x;
  if (to.is_bool()) {
    if (!from.is_float()) return test(spv::OpINotEqual, x, like(x, 0));
    // by the bits, so that a NaN or a subnormal number counts whatever the device does with it
    const Piece magnitude = magnitude_of(bits_of(x));
    return test(spv::OpINotEqual, magnitude, like(magnitude, 0));
  }
  if (from.is_bool()) {
    if (to.is_float()) return select(x, real(to, 1), real(to, 0));
    return select(x, integer(to, 1), integer(to, 0));
  }
  if (to.is_float()) {
    if (from.is_float()) return from.bits == 32 && to.bits == 64 ? wider(x) : op(spv::OpFConvert, to, {x});
    const bool no_sign = from.is_unsigned();
    if (m.registers.physical(from).bits < 32) x = resize(no_sign ? u32 : i32, x, !no_sign);
    return op(no_sign ? spv::OpConvertUToF : spv::OpConvertSToF, to, {x});
  }
  if (from.is_float()) return float_to_integer(to, x);
  return resize(to, x, !from.is_unsigned());
}

Piece Arithmetic::bitcast(Type wanted, Piece x) {
  const Type to = wanted.with_lanes(x.type.lanes);
  if (to.is_bool()) return x.type.is_bool() ? x : test(spv::OpINotEqual, x, like(x, 0));
  if (x.type.is_bool()) return select(x, integer(to, 1), integer(to, 0));
  if (m.type(to) == m.type(x.type)) return {x.id, to};
  return op(spv::OpBitcast, to, {x});
}

}  // namespace ashlar::codegen::spirv
