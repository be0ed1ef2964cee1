// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The integer operators of fixed-point arithmetic that LLVM has (offers.h); all others were spelled (codegen/legalize.h). What
// it does not select is asked for by name.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsARM.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/arithmetic/arithmetic.h"
#include "codegen/llvm/arithmetic/offers.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

Value* Arithmetic::fixed_point(Op op, Type t, Value* x, Value* y) {
  const bool is_unsigned = t.is_unsigned();
  switch (op) {
    case Op::mul_high: {
      llvm::Type* wide = vector_of(b_.getIntNTy(2u * t.bits), t);
      const auto widened = [&](Value* v) { return is_unsigned ? b_.CreateZExt(v, wide) : b_.CreateSExt(v, wide); };
      Value* product = b_.CreateMul(widened(x), widened(y));
      return b_.CreateTrunc(b_.CreateLShr(product, llvm::ConstantInt::get(wide, t.bits)), type(t));
    }
    case Op::add_sat:
      return intrinsic(is_unsigned ? llvm::Intrinsic::uadd_sat : llvm::Intrinsic::sadd_sat, {x, y});
    case Op::sub_sat:
      return intrinsic(is_unsigned ? llvm::Intrinsic::usub_sat : llvm::Intrinsic::ssub_sat, {x, y});
    case Op::halving_sub:
      return neon(is_unsigned ? llvm::Intrinsic::aarch64_neon_uhsub : llvm::Intrinsic::aarch64_neon_shsub, t, x, y);
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " was not expanded");
  }
}

// pmulhrsw wraps: of the square of the lowest number, the only result that is the lowest number, the bits are turned. The
// instructions of NEON and Helium saturate.
Value* Arithmetic::mul_high_rounding(Type t, Value* x, Value* y, bool both_lowest) {
  if (fills_neon(target_, t)) return neon(llvm::Intrinsic::aarch64_neon_sqrdmulh, t, x, y);
  if (fills_helium(target_, t)) return helium(llvm::Intrinsic::arm_mve_vqrdmulh, t, x, y);
  Value* result = t.lanes == 8    ? b_.CreateIntrinsic(llvm::Intrinsic::x86_ssse3_pmul_hr_sw_128, {}, {x, y})
                  : t.lanes == 16 ? b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_pmul_hr_sw, {}, {x, y})
                                  : b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_pmul_hr_sw_512, {}, {x, y});
  if (!both_lowest) return result;
  Value* wrapped = b_.CreateICmpEQ(result, integer(t, ir::lowest_of(t.element())));
  return b_.CreateXor(result, b_.CreateSExt(wrapped, type(t)));
}

// Shifts to the left by less than nothing, of which SRSHL and URSHL take the lowest byte: those by more than all bits give 0.
Value* Arithmetic::rounding_shift(Type t, Value* x, Type amount_type, Value* amount, bool within) {
  if (amount_type.bits > t.bits)  // clamped before it is narrowed
    amount = b_.CreateTrunc(intrinsic(llvm::Intrinsic::umin, {amount, integer(amount_type, t.bits + 1)}), type(t));
  else if (amount_type.bits < t.bits)
    amount = b_.CreateZExt(amount, type(t));
  Value* down = b_.CreateNeg(within ? amount : intrinsic(llvm::Intrinsic::umin, {amount, integer(t, t.bits + 1)}));
  if (fills_helium(target_, t))
    return helium(llvm::Intrinsic::arm_mve_vshl_vector, t, x, down, {0, 1, t.is_unsigned() ? 1 : 0});
  return neon(t.is_unsigned() ? llvm::Intrinsic::aarch64_neon_urshl : llvm::Intrinsic::aarch64_neon_srshl, t, x, down);
}

Value* Arithmetic::neon(llvm::Intrinsic::ID id, Type t, Value* x, Value* y) {
  if (t.lanes * t.bits <= 128) return b_.CreateIntrinsic(id, {x->getType()}, {x, y});
  const int lanes = 128 / t.bits;
  Value* all = llvm::PoisonValue::get(x->getType());
  for (int from = 0; from < t.lanes; from += lanes) {
    llvm::Type* part = llvm::FixedVectorType::get(lane_type(t, false), static_cast<unsigned>(lanes));
    const auto piece = [&](Value* v) { return b_.CreateExtractVector(part, v, b_.getInt64(static_cast<std::uint64_t>(from))); };
    all = b_.CreateInsertVector(x->getType(), all, b_.CreateIntrinsic(id, {part}, {piece(x), piece(y)}),
                                b_.getInt64(static_cast<std::uint64_t>(from)));
  }
  return all;
}

Value* Arithmetic::helium(llvm::Intrinsic::ID id, Type t, Value* x, Value* y, std::initializer_list<int> more) {
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
    const auto piece = [&](Value* v) { return b_.CreateExtractVector(part, v, b_.getInt64(static_cast<std::uint64_t>(from))); };
    all = b_.CreateInsertVector(x->getType(), all, one(piece(x), piece(y)), b_.getInt64(static_cast<std::uint64_t>(from)));
  }
  return all;
}

}  // namespace ashlar::codegen
