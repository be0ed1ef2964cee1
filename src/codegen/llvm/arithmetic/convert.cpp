// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between types, the narrow floats included.
#include <cmath>

#include <llvm/IR/Intrinsics.h>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/binary_format.h"
#include "codegen/llvm/arithmetic/arithmetic.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

Value* Arithmetic::widen(Type t, Value* x) {
  if (apart(t) && t.code != Type::Code::bfloat)
    return each_lane(ir::like(f32, t), [&](Value* a) { return widen(t.with_lanes(1), a); }, x);
  const Type wide = ir::like(f32, t), word = ir::like(i32, t);
  if (t.code == Type::Code::bfloat) return float_of(wide, b_.CreateShl(b_.CreateZExt(x, type(word)), integer(word, 16)));
  if (t.code == Type::Code::ieee && converts_halves_)
    return b_.CreateFPExt(b_.CreateBitCast(x, vector_of(b_.getHalfTy(), t)), type(wide));
  // The bits moved into place are the value times 2^(bias - 127), subnormals included.
  const Format f = format_of(t);
  Value* bits = b_.CreateZExt(x, type(word));
  Value* magnitude = b_.CreateAnd(bits, integer(word, (std::int64_t{1} << (t.bits - 1)) - 1));
  Value* placed = b_.CreateShl(magnitude, integer(word, 23 - f.mantissa));
  Value* scaled = bits_of(wide, b_.CreateFMul(float_of(wide, placed), real(wide, std::ldexp(1.0, 127 - f.bias))));
  Value* special = t.code == Type::Code::e4m3 ? b_.CreateICmpEQ(magnitude, integer(word, f.nan))
                                              : b_.CreateICmpUGE(magnitude, integer(word, f.top));
  Value* unsigned_ = b_.CreateSelect(special, b_.CreateOr(placed, integer(word, 0x7F800000)), scaled);
  Value* sign = b_.CreateShl(b_.CreateLShr(bits, integer(word, t.bits - 1)), integer(word, 31));
  return float_of(wide, b_.CreateOr(unsigned_, sign));
}

// BFCVTN; what x86-64 has for it (vcvtneps2bf16) takes subnormals for zero.
bool Arithmetic::rounds_to_bfloat() const {
  return host_ && target_.architecture() == Architecture::aarch64 && target_.has("bf16");
}

Value* Arithmetic::narrow(Type t, Value* x) {
  if (apart(t)) return each_lane(t, [&](Value* a) { return narrow(t.with_lanes(1), a); }, x);
  const Type wide = ir::like(f32, t), word = ir::like(u32, t);
  if (t.code == Type::Code::ieee && converts_halves_)
    return b_.CreateBitCast(b_.CreateFPTrunc(x, vector_of(b_.getHalfTy(), t)), type(t));
  const Format f = format_of(t);
  Value* bits = bits_of(wide, x);
  const int shift = 23 - f.mantissa;
  Value* sign = b_.CreateShl(b_.CreateLShr(bits, integer(word, 31)), integer(word, t.bits - 1));
  Value* magnitude = b_.CreateAnd(bits, integer(word, 0x7FFFFFFF));
  Value* is_nan = b_.CreateICmpUGT(magnitude, integer(word, 0x7F800000));
  if (t.code == Type::Code::bfloat && rounds_to_bfloat()) {  // but for NaN, of which there is one
    Value* rounded = b_.CreateBitCast(b_.CreateFPTrunc(x, vector_of(b_.getBFloatTy(), t)), type(t));
    return b_.CreateSelect(is_nan, b_.CreateTrunc(b_.CreateOr(sign, integer(word, f.nan)), type(t)), rounded);
  }
  // Normal results: half a unit less one, plus the last bit kept, carries exactly when nearest even rounds up.
  Value* last = b_.CreateAnd(b_.CreateLShr(magnitude, integer(word, shift)), integer(word, 1));
  Value* carried = b_.CreateAdd(b_.CreateAdd(magnitude, integer(word, (std::int64_t{1} << (shift - 1)) - 1)), last);
  Value* rebiased = b_.CreateSub(carried, integer(word, static_cast<std::int64_t>(127 - f.bias) << 23));
  Value* result = intrinsic(llvm::Intrinsic::umin, {b_.CreateLShr(rebiased, integer(word, shift)), integer(word, f.top)});
  if (f.bias != 127) {  // bf16 has the exponents of f32: its subnormals round as its normals do
    // Subnormal results: added to a power of two whose last place is theirs, the sum's low bits are the result.
    const double magic = std::ldexp(1.0, 1 - f.bias - f.mantissa + 23);
    Value* sum = b_.CreateFAdd(float_of(wide, magnitude), real(wide, magic));
    Value* low = b_.CreateSub(bits_of(wide, sum), bits_of(wide, real(wide, magic)));
    result =
        b_.CreateSelect(b_.CreateICmpULT(magnitude, integer(word, static_cast<std::int64_t>(128 - f.bias) << 23)), low, result);
  }
  result = b_.CreateSelect(is_nan, integer(word, f.nan), result);
  return b_.CreateTrunc(b_.CreateOr(result, sign), type(t));
}

// Truncates towards zero, clamps to the type, NaN gives 0.
Value* Arithmetic::float_to_integer(Type to, Type from, Value* x) {
  if (host_ && target_.architecture() == Architecture::x86_64 && to.lanes > 1) return clamped_to_integer(to, from, x);
  const auto id = to.is_unsigned() ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
  return b_.CreateIntrinsic(id, {type(to), type(from)}, {x});
}

// The conversions of x86-64 neither clamp nor know NaN, and what LLVM makes of its own for vectors goes through one element
// after another. So x is clamped before, which is exact where the largest integer is a floating number; elsewhere what reaches
// 2^bits is chosen afterwards.
Value* Arithmetic::clamped_to_integer(Type to, Type from, Value* x) {
  const bool is_unsigned = to.is_unsigned();
  const int digits = to.bits - !is_unsigned;
  Value *lowest = real(from, is_unsigned ? 0 : -std::ldexp(1.0, digits)), *end = real(from, std::ldexp(1.0, digits));
  const Type word = to.bits < 32 ? ir::like(i32, to) : to;  // smaller integers on the way through i32
  const auto converted = [&](Value* v) {
    Value* w = is_unsigned && to.bits >= 32 ? b_.CreateFPToUI(v, type(word)) : b_.CreateFPToSI(v, type(word));
    return b_.CreateTrunc(w, type(to));
  };
  Value* above = b_.CreateSelect(b_.CreateFCmpOGT(x, lowest), x, lowest);  // NaN: the lowest
  Value* result;
  if (digits <= (from.bits == 64 ? 53 : 24)) {
    Value* highest = real(from, std::ldexp(1.0, digits) - 1);
    result = converted(b_.CreateSelect(b_.CreateFCmpOLT(above, highest), above, highest));
  } else {
    Value* below = b_.CreateFCmpOLT(above, end);
    result = b_.CreateSelect(below, converted(b_.CreateSelect(below, above, real(from, 0))),
                             integer(to, ir::highest_of(to.element())));
  }
  return is_unsigned ? result : b_.CreateSelect(b_.CreateFCmpORD(x, x), result, integer(to, 0));
}

Value* Arithmetic::convert(Type to, Type from, Value* x) {
  if (to.lanes != from.lanes) throw InternalError("codegen: a cast changes the number of lanes");
  if (to == from) return x;
  if (to.is_packed()) throw InternalError("codegen: a conversion to " + std::to_string(to.bits) + " bits");
  if (!(to == from)) require_doubles(to.is_float() && to.bits == 64 ? to : from);
  if ((to.is_float() || from.is_float()) && apart(to))
    return each_lane(to, [&](Value* a) { return convert(to.with_lanes(1), from.with_lanes(1), a); }, x);
  const Type wide = ir::like(f32, from);
  if (is_narrow_float(from)) return convert(to, wide, widen(from, x));
  if (is_narrow_float(to)) {
    Value* rounded = convert(wide, from, x);
    // LLVM looks through both roundings for a sign, and would call a function for the two in one.
    if (from.is_float() && from.bits == 64 && host_) rounded = intrinsic(llvm::Intrinsic::arithmetic_fence, {rounded});
    return narrow(to, rounded);
  }
  if (to.is_bool()) return from.is_float() ? b_.CreateFCmpUNE(x, real(from, 0)) : b_.CreateICmpNE(x, integer(from, 0));
  const bool no_sign = from.is_unsigned() || from.is_bool();
  if (to.is_float()) {
    if (from.is_float()) return to.bits > from.bits ? b_.CreateFPExt(x, type(to)) : b_.CreateFPTrunc(x, type(to));
    return no_sign ? b_.CreateUIToFP(x, type(to)) : b_.CreateSIToFP(x, type(to));
  }
  if (from.is_float()) return float_to_integer(to, from, x);
  if (to.bits <= from.bits) return b_.CreateZExtOrTrunc(x, type(to));
  return no_sign ? b_.CreateZExt(x, type(to)) : b_.CreateSExt(x, type(to));
}

Value* Arithmetic::saturate(Type to, Type from, Value* x) {
  require_doubles(to.is_float() && to.bits == 64 ? to : from);
  if ((to.is_float() || from.is_float()) && apart(to))
    return each_lane(to, [&](Value* a) { return saturate(to.with_lanes(1), from.with_lanes(1), a); }, x);
  if (to == from && !to.is_float()) return x;
  if (to.is_bool()) return convert(to, from, x);
  if (is_narrow_float(from)) return saturate(to, ir::like(f32, from), widen(from, x));
  if (to.is_float()) {
    if (from.is_bool() || (!from.is_float() && to.bits >= 32)) return convert(to, from, x);
    // Beyond the largest finite value: that value with the sign; NaN stays.
    const double largest = to.bits == 64 ? 0x1.FFFFFFFFFFFFFp1023 : to.bits == 32 ? 0x1.FFFFFEp127 : format_of(to).largest;
    Type middle = from.is_float() && from.bits == 64 ? ir::like(f64, from) : ir::like(f32, from);
    if (to.bits == 64) middle = ir::like(f64, from);
    Value* v = convert(middle, from, x);
    Value* magnitude = intrinsic(llvm::Intrinsic::fabs, {v});
    Value* limit = intrinsic(llvm::Intrinsic::copysign, {real(middle, largest), v});
    return convert(to, middle, b_.CreateSelect(b_.CreateFCmpOGT(magnitude, real(middle, largest)), limit, v));
  }
  if (from.is_float()) return float_to_integer(to, from, rounded(Op::round, from, x));
  if (from.is_bool()) return convert(to, from, x);
  // Integer to integer: clamp in the source's type by those limits that it can exceed.
  using ir::highest_of, ir::lowest_of;
  const Type source = from.element(), target = to.element();
  if (source.is_unsigned()) {
    if (static_cast<std::uint64_t>(highest_of(target)) < static_cast<std::uint64_t>(highest_of(source)))
      x = intrinsic(llvm::Intrinsic::umin, {x, integer(from, highest_of(target))});
    return convert(to, from, x);
  }
  if (lowest_of(target) > lowest_of(source)) x = intrinsic(llvm::Intrinsic::smax, {x, integer(from, lowest_of(target))});
  const bool fits = target.is_unsigned() && target.bits >= 64;
  if (!fits && highest_of(target) < highest_of(source))
    x = intrinsic(llvm::Intrinsic::smin, {x, integer(from, highest_of(target))});
  return convert(to, from, x);
}

Value* Arithmetic::bitcast(Type to, Type from, Value* x) {
  if (to.is_bool()) return b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  if (from.is_bool()) return b_.CreateZExt(x, type(to));
  return b_.CreateBitCast(x, type(to));
}

}  // namespace ashlar::codegen
