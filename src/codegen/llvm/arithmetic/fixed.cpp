// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The integer operators of fixed-point and pixel arithmetic: what would need one more bit, or twice the bits.
//
// Sums and differences that are halved are taken apart into the bits that the operands share and those in which they differ, so
// nothing is widened, and 64-bit integers are as others:
//
//   x + y = 2 (x & y) + (x ^ y) = 2 (x | y) - (x ^ y)          x - y = (x ^ y) - 2 (~x & y)
//
// These are the forms from which LLVM selects pavgb, uhadd, srhadd, sabd, pmulhw where the machine has them; what it does not
// select is asked for by name.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsARM.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/arithmetic/arithmetic.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

Value* Arithmetic::fixed_point(Op op, Type t, Value* x, Value* y) {
  const bool is_unsigned = t.is_unsigned();
  const auto half = [&](Value* v) { return is_unsigned ? b_.CreateLShr(v, integer(t, 1)) : b_.CreateAShr(v, integer(t, 1)); };
  switch (op) {
    case Op::mul_high_rounding:
      return mul_high_rounding(t, x, y);
    case Op::mul_high: {
      if (splits_products(t)) return product_in_halves(t, x, y).high;
      llvm::Type* wide = vector_of(b_.getIntNTy(2u * t.bits), t);
      const auto widened = [&](Value* v) { return is_unsigned ? b_.CreateZExt(v, wide) : b_.CreateSExt(v, wide); };
      Value* product = b_.CreateMul(widened(x), widened(y));
      return b_.CreateTrunc(b_.CreateLShr(product, llvm::ConstantInt::get(wide, t.bits)), type(t));
    }
    case Op::add_sat:
      return intrinsic(is_unsigned ? llvm::Intrinsic::uadd_sat : llvm::Intrinsic::sadd_sat, {x, y});
    case Op::sub_sat:
      return intrinsic(is_unsigned ? llvm::Intrinsic::usub_sat : llvm::Intrinsic::ssub_sat, {x, y});
    case Op::halving_add:
      return b_.CreateAdd(b_.CreateAnd(x, y), half(b_.CreateXor(x, y)));
    case Op::rounding_halving_add:
      return b_.CreateSub(b_.CreateOr(x, y), half(b_.CreateXor(x, y)));
    case Op::halving_sub:
      if (t.bits < 64)
        if (Value* v = neon(llvm::Intrinsic::aarch64_neon_shsub, llvm::Intrinsic::aarch64_neon_uhsub, t, x, y)) return v;
      return b_.CreateSub(half(b_.CreateXor(x, y)), b_.CreateAnd(b_.CreateNot(x), y));
    case Op::abs_diff:
      return b_.CreateSub(intrinsic(is_unsigned ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, {x, y}),
                          intrinsic(is_unsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin, {x, y}));
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " is no operator of fixed-point arithmetic");
  }
}

// Signed, only the square of the smallest number is out of range, and no other result is the smallest number: its bits are
// turned.
Value* Arithmetic::mul_high_rounding(Type t, Value* x, Value* y, bool both_lowest) {
  const bool is_unsigned = t.is_unsigned();
  if (!is_unsigned && (t.bits == 16 || t.bits == 32)) {
    const auto id = llvm::Intrinsic::aarch64_neon_sqrdmulh;  // which saturates by itself
    if (Value* v = neon(id, id, t, x, y)) return v;
  }
  if (!is_unsigned)
    if (Value* v = helium(llvm::Intrinsic::arm_mve_vqrdmulh, t, x, y)) return v;
  const unsigned shift = is_unsigned ? t.bits : t.bits - 1u;
  if (splits_products(t)) return rounded_high(t, product_in_halves(t, x, y));
  Value* result = is_unsigned ? nullptr : rounded_product_of_halves(t, x, y);
  if (!result) {
    llvm::Type* wide = vector_of(b_.getIntNTy(2u * t.bits), t);
    auto constant = [&](const llvm::APInt& v) { return llvm::ConstantInt::get(wide, v); };
    Value* product = is_unsigned ? b_.CreateMul(b_.CreateZExt(x, wide), b_.CreateZExt(y, wide))
                                 : b_.CreateMul(b_.CreateSExt(x, wide), b_.CreateSExt(y, wide));
    product = b_.CreateAdd(product, constant(llvm::APInt::getOneBitSet(2u * t.bits, shift - 1)));
    result = b_.CreateTrunc(b_.CreateLShr(product, constant({2u * t.bits, shift})), type(t));
  }
  return is_unsigned || !both_lowest ? result : unwrapped(t, result);
}

Value* Arithmetic::unwrapped(Type t, Value* result) {
  Value* wrapped = b_.CreateICmpEQ(result, integer(t, ir::lowest_of(t.element())));
  return b_.CreateXor(result, b_.CreateSExt(wrapped, type(t)));
}

// WebAssembly has no product of 128 bits, and LLVM would call a function for it.
bool Arithmetic::splits_products(Type t) const {
  return host_ && t.bits == 64 && target_.architecture() == Architecture::wasm32;
}

// x y = (a 2^32 + b) (c 2^32 + d), of unsigned halves; what a signed operand is less than the unsigned one of its bits is 2^64.
Arithmetic::Wide Arithmetic::product_in_halves(Type t, Value* x, Value* y) {
  const auto upper = [&](Value* v) { return b_.CreateLShr(v, integer(t, 32)); };
  const auto lower = [&](Value* v) { return b_.CreateAnd(v, integer(t, UINT32_MAX)); };
  Value *a = upper(x), *b = lower(x), *c = upper(y), *d = lower(y);
  Value *bd = b_.CreateMul(b, d), *ad = b_.CreateMul(a, d), *bc = b_.CreateMul(b, c);
  Value* middle = b_.CreateAdd(b_.CreateAdd(lower(ad), lower(bc)), upper(bd));  // less than 2^34
  Value* high = b_.CreateAdd(b_.CreateAdd(b_.CreateMul(a, c), upper(middle)), b_.CreateAdd(upper(ad), upper(bc)));
  if (!t.is_unsigned()) {
    const auto where_negative = [&](Value* sign, Value* v) { return b_.CreateAnd(b_.CreateAShr(sign, integer(t, 63)), v); };
    high = b_.CreateSub(b_.CreateSub(high, where_negative(x, y)), where_negative(y, x));
  }
  return {high, b_.CreateMul(x, y)};
}

Value* Arithmetic::rounded_high(Type t, const Wide& p) {
  if (t.is_unsigned()) return b_.CreateAdd(p.high, b_.CreateLShr(p.low, integer(t, 63)));
  Value* low = b_.CreateAdd(p.low, integer(t, std::int64_t{1} << 62));
  Value* high = b_.CreateAdd(p.high, b_.CreateZExt(b_.CreateICmpULT(low, p.low), type(t)));
  return unwrapped(t, b_.CreateOr(b_.CreateShl(high, integer(t, 1)), b_.CreateLShr(low, integer(t, 63))));
}

// pmulhrsw, which wraps, of a whole register of i16; null where there is none.
Value* Arithmetic::rounded_product_of_halves(Type t, Value* x, Value* y) {
  if (!host_ || t.element() != i16) return nullptr;
  if (t.lanes == 8 && target_.has("sse4.1")) return b_.CreateIntrinsic(llvm::Intrinsic::x86_ssse3_pmul_hr_sw_128, {}, {x, y});
  if (t.lanes == 16 && target_.has("avx2")) return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_pmul_hr_sw, {}, {x, y});
  if (t.lanes == 32 && target_.has("avx512bw"))
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_pmul_hr_sw_512, {}, {x, y});
  return nullptr;
}

Value* Arithmetic::neon(llvm::Intrinsic::ID signed_id, llvm::Intrinsic::ID unsigned_id, Type t, Value* x, Value* y) {
  const int bits = t.lanes * t.bits;
  if (!host_ || target_.architecture() != Architecture::aarch64 || t.scalable || t.lanes == 1) return nullptr;
  if (bits != 64 && bits % 128 != 0) return nullptr;
  const auto id = t.is_unsigned() ? unsigned_id : signed_id;
  if (bits <= 128) return b_.CreateIntrinsic(id, {x->getType()}, {x, y});
  const int lanes = 128 / t.bits;
  Value* all = llvm::PoisonValue::get(x->getType());
  for (int from = 0; from < t.lanes; from += lanes) {
    llvm::Type* part = llvm::FixedVectorType::get(lane_type(t, false), static_cast<unsigned>(lanes));
    const auto piece = [&](Value* v) { return b_.CreateExtractVector(part, v, static_cast<std::uint64_t>(from)); };
    all = b_.CreateInsertVector(x->getType(), all, b_.CreateIntrinsic(id, {part}, {piece(x), piece(y)}),
                                static_cast<std::uint64_t>(from));
  }
  return all;
}

Value* Arithmetic::helium(llvm::Intrinsic::ID id, Type t, Value* x, Value* y, std::initializer_list<int> more) {
  if (!host_ || !target_.has("mve") || t.bits > 32 || t.lanes * t.bits % 128 != 0) return nullptr;
  const int lanes = 128 / t.bits;
  llvm::Type* part = llvm::FixedVectorType::get(lane_type(t, false), static_cast<unsigned>(lanes));
  llvm::SmallVector<llvm::Type*, 2> overloads{part};
  if (id == llvm::Intrinsic::arm_mve_vshl_vector) overloads.push_back(part);
  const auto one = [&](Value* a, Value* b) {
    llvm::SmallVector<Value*, 5> operands{a, b};
    for (const int n : more) operands.push_back(b_.getInt32(static_cast<std::uint32_t>(n)));
    return b_.CreateIntrinsic(id, overloads, operands);
  };
  if (t.lanes == lanes) return one(x, y);
  Value* all = llvm::PoisonValue::get(x->getType());
  for (int from = 0; from < t.lanes; from += lanes) {
    const auto piece = [&](Value* v) { return b_.CreateExtractVector(part, v, static_cast<std::uint64_t>(from)); };
    all = b_.CreateInsertVector(x->getType(), all, one(piece(x), piece(y)), static_cast<std::uint64_t>(from));
  }
  return all;
}

}  // namespace ashlar::codegen
