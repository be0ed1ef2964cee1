// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types, integers and bools.
#include "codegen/llvm/arithmetic/arithmetic.h"

#include <bit>

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
  return llvm::ConstantInt::get(
      to, llvm::APInt(to->getScalarSizeInBits(), static_cast<std::uint64_t>(v), true, /*implicitTrunc=*/true));
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
    case Op::div:
    case Op::mod:
    case Op::trunc_div:
    case Op::trunc_rem:
      return divide(op, t, x, y);
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
    case Op::shl:
    case Op::shr:
    case Op::rounding_shr:
      return shift(op, t, x, t, y);
    default:
      return fixed_point(op, t, x, y);
  }
}

// x / 0 and x % 0 are 0; the smallest value by -1 wraps. A divisor that would trap is replaced by 1, which already gives the
// right remainder (0) in both cases, and the right quotient in the second.
Value* Arithmetic::divide(Op op, Type t, Value* x, Value* y) {
  const bool quotient = op == Op::div || op == Op::trunc_div, floors = op == Op::div || op == Op::mod;
  Value* zero = integer(t, 0);
  Value* by_zero = b_.CreateICmpEQ(y, zero);
  if (t.is_unsigned()) {
    Value* safe = b_.CreateSelect(by_zero, integer(t, 1), y);
    return quotient ? b_.CreateSelect(by_zero, zero, b_.CreateUDiv(x, safe)) : b_.CreateURem(x, safe);
  }
  const std::int64_t lowest = t.bits >= 64 ? INT64_MIN : -(std::int64_t{1} << (t.bits - 1));
  Value* wraps = b_.CreateAnd(b_.CreateICmpEQ(x, integer(t, lowest)), b_.CreateICmpEQ(y, integer(t, -1)));
  Value* safe = b_.CreateSelect(b_.CreateOr(by_zero, wraps), integer(t, 1), y);
  Value* q = b_.CreateSDiv(x, safe);
  Value* r = b_.CreateSub(x, b_.CreateMul(q, safe));
  if (floors) {
    Value* below = b_.CreateAnd(b_.CreateICmpNE(r, zero), b_.CreateICmpSLT(b_.CreateXor(r, safe), zero));
    if (!quotient) return b_.CreateSelect(below, b_.CreateAdd(r, safe), r);
    q = b_.CreateSelect(below, b_.CreateSub(q, integer(t, 1)), q);
  }
  return quotient ? b_.CreateSelect(by_zero, zero, q) : r;
}

Value* Arithmetic::divide_by(Op op, Type t, Value* x, std::int64_t divisor) {
  const bool quotient = op == Op::div || op == Op::trunc_div, floors = op == Op::div || op == Op::mod;
  Value* c = integer(t, divisor);
  if (divisor == 0) return c;
  if (t.is_unsigned()) return quotient ? b_.CreateUDiv(x, c) : b_.CreateURem(x, c);
  if (divisor < 0) return divide(op, t, x, c);
  if (!floors) return quotient ? b_.CreateSDiv(x, c) : b_.CreateSRem(x, c);
  if (std::has_single_bit(static_cast<std::uint64_t>(divisor)))
    return quotient ? b_.CreateAShr(x, integer(t, std::countr_zero(static_cast<std::uint64_t>(divisor))))
                    : b_.CreateAnd(x, integer(t, divisor - 1));
  Value* q = b_.CreateSDiv(x, c);
  Value* r = b_.CreateSub(x, b_.CreateMul(q, c));
  Value* below = b_.CreateICmpSLT(r, integer(t, 0));
  return quotient ? b_.CreateAdd(q, b_.CreateSExt(below, q->getType()))
                  : b_.CreateAdd(r, b_.CreateSelect(below, c, integer(t, 0)));
}

// By an amount of x's type, read as unsigned: the width or more shifts everything out.
Value* Arithmetic::shifted_right(Type t, Value* x, Value* amount) {
  Value* width = integer(t, t.bits);
  if (t.is_unsigned()) {
    Value* all = b_.CreateICmpUGE(amount, width);
    return b_.CreateSelect(all, integer(t, 0), b_.CreateLShr(x, b_.CreateSelect(all, integer(t, 0), amount)));
  }
  return b_.CreateAShr(x, intrinsic(llvm::Intrinsic::umin, {amount, integer(t, t.bits - 1)}));
}

Value* Arithmetic::shift(Op op, Type t, Value* x, Type amount_type, Value* amount, const std::optional<ir::Interval>& amounts) {
  if (amount_type.bits > t.bits)  // clamped before it is narrowed
    amount = b_.CreateTrunc(intrinsic(llvm::Intrinsic::umin, {amount, integer(amount_type, t.bits + 1)}), type(t));
  else if (amount_type.bits < t.bits)
    amount = b_.CreateZExt(amount, type(t));
  Value* zero = integer(t, 0);
  const auto right = [&](Value* v, Value* by) { return t.is_unsigned() ? b_.CreateLShr(v, by) : b_.CreateAShr(v, by); };
  const bool within = amounts && amounts->low >= 0 && amounts->high < t.bits;
  if (op == Op::shr) return within ? right(x, amount) : shifted_right(t, x, amount);
  if (op == Op::shl && within) return b_.CreateShl(x, amount);
  if (op == Op::shl) {
    Value* all = b_.CreateICmpUGE(amount, integer(t, t.bits));
    return b_.CreateSelect(all, zero, b_.CreateShl(x, b_.CreateSelect(all, zero, amount)));
  }
  return rounding_shift(t, x, amount, within);
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
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " is no comparison");
  }
  return b_.CreateCmp(p, x, y);
}

}  // namespace ashlar::codegen
