// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating point: IEEE, no contraction but where fma is written; sequences where the target has no instruction.
#include <algorithm>
#include <vector>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <ashlar/ir/refusal.h>

#include "codegen/llvm/arithmetic/arithmetic.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

Value* Arithmetic::bits_of(Type t, Value* x) { return b_.CreateBitCast(x, vector_of(b_.getIntNTy(t.bits), t)); }
Value* Arithmetic::float_of(Type t, Value* x) { return b_.CreateBitCast(x, type(t)); }

// What a C compiler calls functions for: GCC's for ARM round 2^63 - 2147483647.5 to the neighbor of the nearest double, and no
// two compilers promise the same bits.
void Arithmetic::require_doubles(Type t) const {
  if (soft_doubles_ && t.is_float() && t.bits == 64)
    refuse("target", "a target with a unit for doubles", "arithmetic on f64 for " + std::string(target_.text()), Where{});
}

Value* Arithmetic::float_unary(Op op, Value* x) {
  switch (op) {
    case Op::neg:
      return b_.CreateFNeg(x);
    case Op::abs:
      return intrinsic(llvm::Intrinsic::fabs, {x});
    case Op::sqrt:
      return intrinsic(llvm::Intrinsic::sqrt, {x});
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
      return rounded(op, x);
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " was not expanded");
  }
}

Value* Arithmetic::float_binary(Op op, Type t, Value* x, Value* y) {
  switch (op) {
    case Op::add:
      return b_.CreateFAdd(x, y);
    case Op::sub:
      return b_.CreateFSub(x, y);
    case Op::mul:
      return b_.CreateFMul(x, y);
    case Op::div:
      return b_.CreateFDiv(x, y);
    case Op::min:
    case Op::max:
      return minimum_or_maximum(op, t, x, y);
    case Op::copysign: {  // by choice: llvm.copysign of a sign that was converted makes conversions of its own, to calls
      const Type word = ir::like(t.bits == 64 ? i64 : i32, t);
      Value* magnitude = intrinsic(llvm::Intrinsic::fabs, {x});
      return b_.CreateSelect(b_.CreateICmpSLT(bits_of(t, y), integer(word, 0)), b_.CreateFNeg(magnitude), magnitude);
    }
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " was not expanded");
  }
}

// The smaller of two zeros has the sign bit of either, the larger that of both; a NaN gives a NaN. On x86-64 two sequences do
// better than LLVM's of llvm.minimum, which asks for signs first. A constant operand leaves LLVM less to ask than there is
// here.
Value* Arithmetic::minimum_or_maximum(Op op, Type t, Value* x, Value* y) {
  if (host_ && target_.architecture() == Architecture::x86_64 && !llvm::isa<llvm::Constant>(x) && !llvm::isa<llvm::Constant>(y))
    return ranges(t) ? chosen_by_range(op, t, x, y) : chosen_both_ways(op, t, x, y);
  return intrinsic(op == Op::min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, {x, y});
}

// maxps gives its second operand where the two are equal or one is NaN. So the two orders differ for zeros of both signs alone,
// and where there is a NaN:
//
//   maxps(x, y) & maxps(y, x) | unordered(x, y)        a mask of ones is a NaN; of a single number x + y is taken there
Value* Arithmetic::chosen_both_ways(Op op, Type t, Value* x, Value* y) {
  const bool least = op == Op::min;
  const auto first = [&](Value* u, Value* v) {
    return bits_of(t, b_.CreateSelect(least ? b_.CreateFCmpOLT(u, v) : b_.CreateFCmpOGT(u, v), u, v));
  };
  Value *p = first(x, y), *q = first(y, x);
  Value* both = least ? b_.CreateOr(p, q) : b_.CreateAnd(p, q);
  Value* unordered = b_.CreateFCmpUNO(x, y);
  if (t.lanes == 1) return b_.CreateSelect(unordered, b_.CreateFAdd(x, y), float_of(t, both));
  return float_of(t, b_.CreateOr(both, b_.CreateSExt(unordered, both->getType())));
}

// Whole registers, or several of them.
bool Arithmetic::ranges(Type t) const {
  const int bits = t.bits * t.lanes;
  return target_.has("avx512dq") && target_.has("avx512vl") && (bits == 128 || bits == 256 || (bits > 0 && bits % 512 == 0));
}

// vrangeps orders the two zeros, and of a NaN and a number gives the number:
//
//   rangeps(x, y) | unordered(x, y)
Value* Arithmetic::chosen_by_range(Op op, Type t, Value* x, Value* y) {
  constexpr int least = 0b0100, most = 0b0101;  // by value, with the sign of what was chosen
  constexpr int as_set = 4;                     // no rounding of its own, exceptions as they are set
  const int bits = t.bits * t.lanes, width = std::min(bits, 512), lanes = width / t.bits;
  const bool f64s = t.bits == 64;
  const llvm::Intrinsic::ID id =
      width == 128   ? (f64s ? llvm::Intrinsic::x86_avx512_mask_range_pd_128 : llvm::Intrinsic::x86_avx512_mask_range_ps_128)
      : width == 256 ? (f64s ? llvm::Intrinsic::x86_avx512_mask_range_pd_256 : llvm::Intrinsic::x86_avx512_mask_range_ps_256)
                     : (f64s ? llvm::Intrinsic::x86_avx512_mask_range_pd_512 : llvm::Intrinsic::x86_avx512_mask_range_ps_512);
  const auto chosen = [&](Value* u, Value* v) {
    std::vector<Value*> args = {
        u, v, b_.getInt32(op == Op::min ? least : most), u,
        b_.getIntN(static_cast<unsigned>(std::max(8, lanes)), ~std::uint64_t{0} >> (64 - std::max(8, lanes)))};
    if (width == 512) args.push_back(b_.getInt32(as_set));
    return b_.CreateIntrinsic(u->getType(), id, args);
  };
  std::vector<Value*> parts;
  for (int first = 0; lanes < t.lanes && first < t.lanes; first += lanes) {
    std::vector<int> part;
    for (int k = 0; k < lanes; ++k) part.push_back(first + k);
    parts.push_back(chosen(b_.CreateShuffleVector(x, part), b_.CreateShuffleVector(y, part)));
  }
  Value* all = lanes == t.lanes ? chosen(x, y) : llvm::concatenateVectors(b_, parts);
  Value* unordered = b_.CreateFCmpUNO(x, y);
  Value* ordered = bits_of(t, all);
  return float_of(t, b_.CreateOr(ordered, b_.CreateSExt(unordered, ordered->getType())));
}

Value* Arithmetic::rounded(Op op, Value* x) {
  const auto id = op == Op::floor   ? llvm::Intrinsic::floor
                  : op == Op::ceil  ? llvm::Intrinsic::ceil
                  : op == Op::trunc ? llvm::Intrinsic::trunc
                                    : llvm::Intrinsic::roundeven;
  return intrinsic(id, {x});
}

Value* Arithmetic::fma(Type t, Value* x, Value* y, Value* z) {
  require_doubles(t);
  if (t.is_float() && apart(t))
    return each_lane(t, [&](Value* a, Value* b, Value* c) { return fma(t.with_lanes(1), a, b, c); }, x, y, z);
  return intrinsic(llvm::Intrinsic::fma, {x, y, z});
}

}  // namespace ashlar::codegen
