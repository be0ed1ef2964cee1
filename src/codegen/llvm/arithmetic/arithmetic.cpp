// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types, integers and bools.
#include "codegen/llvm/arithmetic/arithmetic.h"

#include <string_view>

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>

#include <ashlar/ir/refusal.h>

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

Arithmetic::Arithmetic(llvm::IRBuilder<>& builder, const Target& target, bool device)
    : b_(builder),
      target_(target),
      host_(!device),
      fuses_doubles_(device || target.offers("fma64")),
      soft_doubles_(!device && target.architecture() == Architecture::thumb && !target.has("fp64")),
      apart_(!device && (target.architecture() == Architecture::arm || target.architecture() == Architecture::thumb) &&
             !target.flushes_subnormals()) {}

llvm::Type* Arithmetic::lane_type(Type t, bool memory) const {
  if (t.is_bool()) return memory ? b_.getInt8Ty() : b_.getInt1Ty();
  if (t.is_float() && t.bits == 32) return b_.getFloatTy();
  if (t.is_float() && t.bits == 64) return b_.getDoubleTy();
  if (t.is_packed()) return b_.getInt8Ty();
  if (t.bits % 8 != 0 || t.bits == 0)
    throw InternalError("codegen: a value of " + std::to_string(t.bits) + " bits was not unpacked");
  return b_.getIntNTy(t.bits);
}

llvm::Type* Arithmetic::vector_of(llvm::Type* lane, Type t) const {
  return t.lanes == 1 && !t.scalable ? lane : llvm::VectorType::get(lane, count(t));
}

llvm::Type* Arithmetic::type(Type t) const { return vector_of(lane_type(t, false), t); }

llvm::Type* Arithmetic::memory_type(Type t) const { return vector_of(lane_type(t, true), t); }

llvm::Constant* Arithmetic::integer(Type t, std::int64_t v) const {
  llvm::Type* to = type(t);
  return llvm::ConstantInt::get(to,
                                llvm::APInt(64, static_cast<std::uint64_t>(v), true).sextOrTrunc(to->getScalarSizeInBits()));
}

llvm::Constant* Arithmetic::real(Type t, double v) const { return llvm::ConstantFP::get(type(t), v); }

Value* Arithmetic::from_memory(Type t, Value* v) {
  return t.is_bool() ? b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
}

Value* Arithmetic::to_memory(Type t, Value* v) { return t.is_bool() ? b_.CreateZExt(v, memory_type(t)) : v; }

Value* Arithmetic::intrinsic(llvm::Intrinsic::ID id, std::initializer_list<Value*> args) {
  return b_.CreateIntrinsic((*args.begin())->getType(), id, llvm::ArrayRef<Value*>(args.begin(), args.size()));
}

Value* Arithmetic::unary(Op op, Type t, Value* x) {
  require_doubles(t);
  if (t.is_float() && apart(t)) {
    const Type result = op == Op::isnan || op == Op::isinf ? ir::like(bool_, t) : t;
    return each_lane(result, [&](Value* a) { return unary(op, t.with_lanes(1), a); }, x);
  }
  if (op == Op::isnan || op == Op::isinf) {
    if (op == Op::isnan) return b_.CreateFCmpUNO(x, x);
    return b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs, {x}), llvm::ConstantFP::getInfinity(x->getType()));
  }
  if (t.is_float()) return float_unary(op, x);
  switch (op) {
    case Op::neg:
      return b_.CreateNeg(x);
    case Op::logic_not:
    case Op::bit_not:
      return b_.CreateNot(x);
    case Op::abs:
      return t.is_unsigned() ? x : b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse());
    case Op::popcount:
      return intrinsic(llvm::Intrinsic::ctpop, {x});
    case Op::clz:
      return b_.CreateIntrinsic(x->getType(), llvm::Intrinsic::ctlz, {x, b_.getFalse()});
    case Op::ctz:
      return b_.CreateIntrinsic(x->getType(), llvm::Intrinsic::cttz, {x, b_.getFalse()});
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " was not expanded");
  }
}

// Integers wrap, so the order of a sum is free. Bools of vectors are counted one after the other: x + 1 is x - mask there, one
// instruction, where two that are added first are made numbers.
//
//   x + (i32(a) + i32(b))   as   (x + i32(a)) + i32(b)
Value* Arithmetic::sum_of_integers(Value* x, Value* y) {
  const auto counts = [](Value* v) {
    const auto* z = llvm::dyn_cast<llvm::ZExtInst>(v);
    return z && z->getSrcTy()->isIntOrIntVectorTy(1);
  };
  const auto* sum = y->getType()->isVectorTy() ? llvm::dyn_cast<llvm::BinaryOperator>(y) : nullptr;
  if (!sum || sum->getOpcode() != llvm::Instruction::Add || !counts(sum->getOperand(0)) || !counts(sum->getOperand(1)))
    return b_.CreateAdd(x, y);
  return b_.CreateAdd(b_.CreateAdd(x, sum->getOperand(0)), sum->getOperand(1));
}

Value* Arithmetic::binary(Op op, Type t, Value* x, Value* y) {
  require_doubles(t);
  if (t.is_float() && apart(t))
    return each_lane(t, [&](Value* a, Value* b) { return binary(op, t.with_lanes(1), a, b); }, x, y);
  if (t.is_float()) return float_binary(op, t, x, y);
  const bool is_unsigned = t.is_unsigned();
  switch (op) {
    case Op::add:
      return sum_of_integers(x, y);
    case Op::sub:
      return b_.CreateSub(x, y);
    case Op::mul:
      return b_.CreateMul(x, y);
    case Op::trunc_div:  // of a divisor that makes no exception
      return is_unsigned ? b_.CreateUDiv(x, y) : b_.CreateSDiv(x, y);
    case Op::trunc_rem:
      return b_.CreateURem(x, y);
    case Op::min:
      return intrinsic(is_unsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin, {x, y});
    case Op::max:
      return intrinsic(is_unsigned ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, {x, y});
    case Op::logic_and:
    case Op::bit_and:
      return b_.CreateAnd(x, y);
    case Op::logic_or:
    case Op::bit_or:
      return b_.CreateOr(x, y);
    case Op::bit_xor:
      return b_.CreateXor(x, y);
    case Op::shl:  // of amounts below the width, as shr
      if (!host_ && t.bits == 64) return device_shift("shl.b64", t, x, y);
      return b_.CreateShl(x, y);
    case Op::shr:
      if (!host_ && t.bits == 64 && is_unsigned) return device_shift("shr.u64", t, x, y);
      return is_unsigned ? b_.CreateLShr(x, y) : b_.CreateAShr(x, y);
    default:
      return fixed_point(op, t, x, y);
  }
}

// LLVM 22 takes `n < 64 ? x << n : 0` for the one instruction of PTX, which shifts everything out by amounts above 63, but
// reads 32 bits of them: of an n of 2^32 the condition would be lost. It does not see through a text.
Value* Arithmetic::device_shift(const char* instruction, Type t, Value* x, Value* y) {
  if (t.lanes > 1)
    return each_lane(t, [&](Value* a, Value* n) { return device_shift(instruction, t.with_lanes(1), a, n); }, x, y);
  if (llvm::isa<llvm::Constant>(y))
    return std::string_view(instruction) == "shl.b64" ? b_.CreateShl(x, y) : b_.CreateLShr(x, y);
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getInt64Ty(), b_.getInt32Ty()}, false);
  auto* text = llvm::InlineAsm::get(type, std::string(instruction) + " $0, $1, $2;", "=l,l,r", false);
  return b_.CreateCall(type, text, {x, b_.CreateTrunc(y, b_.getInt32Ty())});
}

Value* Arithmetic::comparison(Op op, Type t, Value* x, Value* y) {
  require_doubles(t);
  if (t.is_float() && apart(t))
    return each_lane(ir::like(bool_, t), [&](Value* a, Value* b) { return comparison(op, t.with_lanes(1), a, b); }, x, y);
  using P = llvm::CmpInst::Predicate;
  auto pick = [&](P real, P with_sign, P without) {
    return t.is_float() ? real : t.is_unsigned() || t.is_bool() ? without : with_sign;
  };
  P p = P::ICMP_EQ;
  switch (op) {
    case Op::eq:
      p = pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
      break;
    case Op::ne:
      p = pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
      break;
    case Op::lt:
      p = pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
      break;
    case Op::le:
      p = pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
      break;
    case Op::gt:
      p = pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
      break;
    case Op::ge:
      p = pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
      break;
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " is not a comparison");
  }
  return b_.CreateCmp(p, x, y);
}

}  // namespace ashlar::codegen
