// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions that LLVM has: of f16 and bf16 where the machine has them; others of narrow floats were spelled
// (codegen/legalize.h).
#include <cmath>

#include <llvm/IR/Intrinsics.h>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/arithmetic/arithmetic.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

// Truncates toward zero, clamps to the type, NaN gives 0.
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

// f32 to f16, and to bf16. LLVM does not say which NaN of bf16 a processor gives; a device has one (PTX ISA, "cvt").
Value* Arithmetic::narrowed(Type t, Value* x) {
  // LLVM looks through two roundings for a sign, and would call a function for the two in one.
  if (host_ && llvm::isa<llvm::FPTruncInst>(x)) x = intrinsic(llvm::Intrinsic::arithmetic_fence, {x});
  if (t.code == Type::Code::bfloat) {
    const Type word = ir::like(u32, t);
    Value* rounded = b_.CreateBitCast(b_.CreateFPTrunc(x, vector_of(b_.getBFloatTy(), t)), type(t));
    if (!host_) return rounded;
    Value* sign = b_.CreateAnd(b_.CreateLShr(bits_of(ir::like(f32, t), x), integer(word, 16)), integer(word, 0x8000));
    return b_.CreateSelect(b_.CreateFCmpUNO(x, x), b_.CreateTrunc(b_.CreateOr(sign, integer(word, 0x7FC0)), type(t)), rounded);
  }
  return b_.CreateBitCast(b_.CreateFPTrunc(x, vector_of(b_.getHalfTy(), t)), type(t));
}

Value* Arithmetic::convert(Type to, Type from, Value* x) {
  if (to.lanes != from.lanes) throw InternalError("codegen: a cast changes the number of lanes");
  if (to == from) return x;
  if (to.is_packed()) throw InternalError("codegen: a conversion to " + std::to_string(to.bits) + " bits");
  if (!(to == from)) require_doubles(to.is_float() && to.bits == 64 ? to : from);
  if ((to.is_float() || from.is_float()) && apart(to))
    return each_lane(to, [&](Value* a) { return convert(to.with_lanes(1), from.with_lanes(1), a); }, x);
  if (ir::is_narrow(from)) return b_.CreateFPExt(b_.CreateBitCast(x, vector_of(b_.getHalfTy(), from)), type(to));
  if (ir::is_narrow(to)) return narrowed(to, x);
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

Value* Arithmetic::bitcast(Type to, Type from, Value* x) {
  if (to.is_bool()) return b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  if (from.is_bool()) return b_.CreateZExt(x, type(to));
  return b_.CreateBitCast(x, type(to));
}

}  // namespace ashlar::codegen
