// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between types, the narrow floats included.
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/binary_format.h"
#include "codegen/spirv/arithmetic.h"

#include <spirv/unified1/GLSL.std.450.h>

namespace ashlar::codegen::spirv {

using ir::Op;

Piece Arithmetic::widen(Piece x) {
  const Type t = x.type;
  const int lanes = t.lanes;
  const Type word = u32.with_lanes(lanes), wide = f32.with_lanes(lanes);
  if (const auto n = constants_.find(x.id); n != constants_.end()) {
    const std::uint64_t bits = static_cast<std::uint64_t>(n->second) & ((std::uint64_t{1} << t.bits) - 1);
    return real(wide, ir::from_bits(t.element(), bits).f);
  }
  const Piece bits = resize(word, as(t.bits == 16 ? u16 : u8, x), false);
  if (t.code == Type::Code::bfloat) return float_of(wide, left(bits, 16));
  const Format f = format_of(t);
  const Piece magnitude = and_(bits, integer(word, (std::int64_t{1} << (t.bits - 1)) - 1));
  // Normal values move into place and change their bias; subnormal ones are small integers, scaled without a subnormal f32.
  const Piece placed = left(magnitude, 23 - f.mantissa);
  const Piece normal = add(placed, integer(word, static_cast<std::int64_t>(127 - f.bias) << 23));
  const Piece scaled = bits_of(
      exact(spv::OpFMul, op(spv::OpConvertUToF, wide, {magnitude}), real(wide, std::ldexp(1.0, 1 - f.bias - f.mantissa))));
  const Piece small = test(spv::OpULessThan, magnitude, integer(word, std::int64_t{1} << f.mantissa));
  const Piece special = t.code == Type::Code::e4m3 ? test(spv::OpIEqual, magnitude, integer(word, f.nan))
                                                   : test(spv::OpUGreaterThanEqual, magnitude, integer(word, f.top));
  const Piece finite = select(small, scaled, normal);
  const Piece whole = select(special, or_(placed, integer(word, 0x7F800000)), finite);
  return float_of(wide, or_(whole, left(right(bits, t.bits - 1), 31)));
}

Piece Arithmetic::narrow(Type to, Piece x) {
  const int lanes = x.type.lanes;
  const Type word = u32.with_lanes(lanes), wide = f32.with_lanes(lanes);
  const Format f = format_of(to);
  const Piece bits = bits_of(x);
  const int shift = 23 - f.mantissa;
  auto n = [&](std::int64_t v) { return integer(word, v); };
  const Piece sign = left(right(bits, 31), to.bits - 1);
  const Piece magnitude = and_(bits, n(0x7FFFFFFF));
  const Piece nan = test(spv::OpUGreaterThan, magnitude, n(0x7F800000));
  // Normal results: half a unit less one, plus the last bit kept, carries exactly when nearest even rounds up.
  const Piece last = and_(right(magnitude, shift), n(1));
  const Piece carried = add(add(magnitude, n((std::int64_t{1} << (shift - 1)) - 1)), last);
  const Piece rebiased = sub(carried, n(static_cast<std::int64_t>(127 - f.bias) << 23));
  Piece result = least(right(rebiased, shift), n(f.top), true);
  if (f.bias != 127) {  // bf16 has the exponents of f32: its subnormals round as its normals do
    // Subnormal results: added to a power of two whose last place is theirs, the sum's low bits are the result.
    const double magic = std::ldexp(1.0, 1 - f.bias - f.mantissa + 23);
    const Piece sum = exact(spv::OpFAdd, float_of(wide, magnitude), real(wide, magic));
    const Piece low = sub(bits_of(sum), bits_of(real(wide, magic)));
    result = select(test(spv::OpULessThan, magnitude, n(static_cast<std::int64_t>(128 - f.bias) << 23)), low, result);
  }
  result = select(nan, n(f.nan), result);
  const Piece whole = or_(result, sign);
  return as(to, resize(to.bits == 16 ? u16 : u8, whole, false));
}

// Truncates towards zero, clamps to the type, NaN gives 0. The instruction is defined only for values that fit: it gets 0 in
// place of the others. Types below 32 bits go through 32 and are clamped there.
Piece Arithmetic::float_to_integer(Type to, Piece x) {
  const Type physical = m.registers.physical(to);
  const bool is_unsigned = to.is_unsigned();
  const int lanes = x.type.lanes;
  if (physical.bits < 32) {
    const Piece wide = float_to_integer(is_unsigned ? u32 : i32, x);
    Piece clamped = least(wide, like(wide, ir::highest_of(to.element())), is_unsigned);
    if (!is_unsigned) clamped = most(clamped, like(wide, ir::lowest_of(to.element())), false);
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

Piece Arithmetic::convert(Type wanted, Piece x) {
  const int lanes = x.type.lanes;
  const Type to = wanted.with_lanes(lanes), from = x.type;
  if (to == from) return x;
  const Type wide = f32.with_lanes(lanes);
  if (is_narrow_float(from)) return convert(to, widen(x));
  if (is_narrow_float(to)) return narrow(to, convert(wide, x));
  if (to.is_bool()) {
    if (!from.is_float()) return test(spv::OpINotEqual, x, like(x, 0));
    // by the bits, so that a NaN or a subnormal number counts whatever the device does with it
    const Piece bits = bits_of(x);
    const Piece magnitude = and_(bits, like(bits, from.bits == 64 ? INT64_MAX : INT32_MAX));
    return test(spv::OpINotEqual, magnitude, like(bits, 0));
  }
  if (from.is_bool()) {
    if (to.is_float()) return select(x, real(to, 1), real(to, 0));
    return select(x, integer(to, 1), integer(to, 0));
  }
  if (to.is_float()) {
    if (from.is_float()) return op(spv::OpFConvert, to, {x});
    const bool no_sign = from.is_unsigned();
    if (m.registers.physical(from).bits < 32) x = resize(no_sign ? u32 : i32, x, !no_sign);
    return op(no_sign ? spv::OpConvertUToF : spv::OpConvertSToF, to, {x});
  }
  if (from.is_float()) return float_to_integer(to, x);
  return resize(to, x, !from.is_unsigned());
}

Piece Arithmetic::saturate(Type wanted, Piece x) {
  const int lanes = x.type.lanes;
  const Type to = wanted.with_lanes(lanes), from = x.type;
  if (to == from && !to.is_float()) return x;
  if (to.is_bool()) return convert(to, x);
  if (is_narrow_float(from)) return saturate(to, widen(x));
  if (to.is_float()) {
    if (from.is_bool() || (!from.is_float() && to.bits >= 32)) return convert(to, x);
    // Beyond the largest finite value: that value with the sign; NaN stays.
    const double largest = to.bits == 64 ? 0x1.FFFFFFFFFFFFFp1023 : to.bits == 32 ? 0x1.FFFFFEp127 : format_of(to).largest;
    Type middle = from.is_float() && from.bits == 64 ? f64.with_lanes(lanes) : f32.with_lanes(lanes);
    if (to.bits == 64) middle = f64.with_lanes(lanes);
    const Piece v = convert(middle, x), limit = float_binary(Op::copysign, real(middle, largest), v);
    const Piece beyond = test(spv::OpFOrdGreaterThan, glsl(GLSLstd450FAbs, {v}), real(middle, largest));
    return convert(to, select(beyond, limit, v));
  }
  if (from.is_float()) return float_to_integer(to, rounded(Op::round, x));
  if (from.is_bool()) return convert(to, x);
  // Integer to integer: clamp in the source's type by those limits that it can exceed.
  using ir::highest_of, ir::lowest_of;
  const Type source = m.registers.physical(from.element()), target = m.registers.physical(to.element());
  if (from.is_unsigned()) {
    if (static_cast<std::uint64_t>(highest_of(target)) < static_cast<std::uint64_t>(highest_of(source)))
      x = least(x, like(x, highest_of(target)), true);
    return convert(to, x);
  }
  if (lowest_of(target) > lowest_of(source)) x = most(x, like(x, lowest_of(target)), false);
  const bool fits = target.is_unsigned() && target.bits >= 64;
  if (!fits && highest_of(target) < highest_of(source)) x = least(x, like(x, highest_of(target)), false);
  return convert(to, x);
}

Piece Arithmetic::bitcast(Type wanted, Piece x) {
  const Type to = wanted.with_lanes(x.type.lanes);
  if (to.is_bool()) return x.type.is_bool() ? x : test(spv::OpINotEqual, x, like(x, 0));
  if (x.type.is_bool()) return select(x, integer(to, 1), integer(to, 0));
  if (m.type(to) == m.type(x.type)) return {x.id, to};
  return op(spv::OpBitcast, to, {x});
}

}  // namespace ashlar::codegen::spirv
