// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions: one case an operator.
#include <numeric>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

Emitter::Emitter(Unit& u, llvm::Function* f, Where where)
    : unit(u), function(f), b(*u.context), math(b, u.target, u.is_device()), values_(u.kernel) {
  b.SetInsertPoint(llvm::BasicBlock::Create(*u.context, "entry", f));
  if (u.lines) b.SetCurrentDebugLocation(loop_ = u.lines->begin(f, where));
}

void Emitter::bind(ir::Id var, Value* value, std::int64_t multiple_of) {
  vars[var] = value;
  if (multiple_of > 1)
    multiples[var] = multiple_of;
  else
    multiples.erase(var);
}

Value* Emitter::value_of(ir::Id var) {
  const auto it = vars.find(var);
  if (it == vars.end() && var == ir::vscale_id) return b.CreateIntrinsic(llvm::Intrinsic::vscale, {b.getInt64Ty()}, {});
  if (it == vars.end()) throw InternalError("codegen: kernel " + unit.name + " uses a variable outside its scope");
  return it->second;
}

void Emitter::begin_root(const Expr& e) {
  if (e.empty()) throw InternalError("codegen: kernel " + unit.name + " lacks an expression");
  memo_.clear();
  ranges_of_.clear();
  kept_.clear();
  strided_.reset();
  root_ = e;
}

Value* Emitter::expr(const Expr& e) {
  begin_root(e);
  return emit(e);
}

Value* Emitter::checked(const Expr& e, Value** overflow) {
  overflow_ = overflow;
  Value* v = expr(e);
  overflow_ = nullptr;
  return v;
}

Value* Emitter::emit(const Expr& e) {
  if (const auto it = memo_.find(e.node()); it != memo_.end() && it->second.value) return it->second.value;
  const llvm::DebugLoc around = b.getCurrentDebugLocation();
  if (unit.lines && !e.type().is_index()) b.SetCurrentDebugLocation(unit.lines->inside(around, e.node()->where));
  Value* v = emit_node(e);
  b.SetCurrentDebugLocation(around);
  if (v->getType() != math.type(e.type()))
    throw InternalError(std::string("codegen: ") + ir::op_name(ir::op_of(e)) + " has operands that do not fit its type");
  return memo_[e.node()].value = v;
}

Value* Emitter::constant(const ir::Node& n) {
  if (n.op == Op::int_const) return math.integer(n.type, n.i);
  if (ir::is_narrow(n.type))
    return math.integer(n.type, static_cast<std::int64_t>(ir::to_bits(ir::float_value(n.type.element(), n.f))));
  return math.real(n.type, n.f);
}

Value* Emitter::index_arithmetic(Op op, Value* x, Value* y, Value** overflow) {
  if (op == Op::mul && unit.target.architecture() == Architecture::wasm32) return checked_product(x, y, overflow);
  const auto id = op == Op::add   ? llvm::Intrinsic::sadd_with_overflow
                  : op == Op::sub ? llvm::Intrinsic::ssub_with_overflow
                                  : llvm::Intrinsic::smul_with_overflow;
  Value* pair = b.CreateBinaryIntrinsic(id, x, y);
  *overflow = b.CreateOr(*overflow, b.CreateExtractValue(pair, 1));
  return b.CreateExtractValue(pair, 0);
}

// Where LLVM would call a function of 128 bits for it: the magnitude of the product in halves of 32 bits. A product of -2^63
// counts as an overflow.
Value* Emitter::checked_product(Value* x, Value* y, Value** overflow) {
  const auto magnitude = [&](Value* v) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b.getFalse()); };
  const auto high = [&](Value* v) { return b.CreateLShr(v, b.getInt64(32)); };
  const auto low = [&](Value* v) { return b.CreateAnd(v, b.getInt64(UINT32_MAX)); };
  const auto any = [&](Value* v) { return b.CreateICmpNE(v, b.getInt64(0)); };
  Value *p = magnitude(x), *q = magnitude(y);
  Value* across = b.CreateAdd(b.CreateMul(high(p), low(q)), b.CreateMul(low(p), high(q)));  // one of them is 0, or it overflows
  Value* below = b.CreateMul(low(p), low(q));
  Value* upper = b.CreateAdd(across, high(below));
  Value* lost = b.CreateOr(b.CreateAnd(any(high(p)), any(high(q))), any(high(across)));
  lost = b.CreateOr(lost, b.CreateICmpUGT(upper, b.getInt64(INT32_MAX)));
  *overflow = b.CreateOr(*overflow, lost);
  return b.CreateMul(x, y);
}

// Tails: base + lane < n, in vectors, is lane < clamp(n - base, 0, lanes): one scalar difference and one comparison of 32-bit
// lanes with constants, where 64-bit lanes would take several registers. Null for what has another form.
Value* Emitter::lanes_below(const Expr& e) {
  const auto args = ir::args_of(e);
  const Type t = args[0].type();
  const Op op = ir::op_of(e);
  if (!t.is_index() || t.lanes == 1 || op == Op::eq || op == Op::ne) return nullptr;
  const auto x = as_ramp(args[0]), y = as_ramp(args[1]);
  if (!x || !y) return nullptr;
  const Expr slope = ir::sub(x->stride, y->stride);
  std::int64_t s = 0;
  if (!ir::is_int(slope, &s) || (s != 1 && s != -1)) return nullptr;
  // lane * s < d, or <=, >, >= as in `op`; for s = -1 the sides change places
  const Expr difference = s == 1 ? ir::sub(y->base, x->base) : ir::sub(x->base, y->base);
  kept_.push_back(difference);
  const bool less = (op == Op::lt || op == Op::le) == (s == 1);   // lane < d or lane <= d
  const bool past = op == Op::le || op == Op::ge ? less : !less;  // compare with d + 1
  Value* d = emit(difference);
  if (past) d = b.CreateAdd(d, b.getInt64(1));
  d = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, d, b.getInt64(0));
  if (t.scalable) {  // whilelo
    llvm::Type* bools = math.type(ir::like(bool_, t));
    Value* mask = b.CreateIntrinsic(llvm::Intrinsic::get_active_lane_mask, {bools, b.getInt64Ty()}, {b.getInt64(0), d});
    return less ? mask : b.CreateNot(mask);
  }
  d = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, d, b.getInt64(t.lanes));
  Value* limit = b.CreateVectorSplat(math.count(t), b.CreateTrunc(d, b.getInt32Ty()));
  std::vector<llvm::Constant*> lanes;
  for (int k = 0; k < t.lanes; ++k) lanes.push_back(math.integer(u32, k));
  return less ? b.CreateICmpULT(llvm::ConstantVector::get(lanes), limit)
              : b.CreateICmpUGE(llvm::ConstantVector::get(lanes), limit);
}

// A select whose first arm is rarely taken: branched around where no lane takes it.
Value* Emitter::rare_arm(const Expr& e) {
  const auto args = ir::args_of(e);
  Value *taken = emit(args[0]), *usual = emit(args[2]);
  Value* any = taken->getType()->isVectorTy() ? b.CreateOrReduce(taken) : taken;
  llvm::BasicBlock* from = b.GetInsertBlock();
  llvm::BasicBlock* arm = llvm::BasicBlock::Create(*unit.context, "rare", function);
  llvm::BasicBlock* join = llvm::BasicBlock::Create(*unit.context, "usual", function);
  b.CreateCondBr(any, arm, join, llvm::MDBuilder(*unit.context).createUnlikelyBranchWeights());
  b.SetInsertPoint(arm);
  const auto before = memo_;  // what the arm computes is not known behind it
  Value* chosen = b.CreateSelect(taken, emit(args[1]), usual);
  memo_ = before;
  llvm::BasicBlock* end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  llvm::PHINode* result = b.CreatePHI(usual->getType(), 2);
  result->addIncoming(usual, from);
  result->addIncoming(chosen, end);
  return result;
}

Value* Emitter::emit_node(const Expr& e) {
  const ir::Node& n = *e.node();
  const auto args = ir::args_of(e);
  const Type t = n.type;
  auto operand_type = [&](std::size_t k) { return args[k].type(); };
  if (t.is_index() && !t.scalable && narrows_indices() && narrows(e)) return b.CreateSExt(narrow(e), math.type(t));
  switch (n.op) {
    case Op::int_const:
    case Op::float_const:
      return constant(n);
    case Op::var:
      return value_of(n.id);
    case Op::load:
      return load(e);
    case Op::rare:
    case Op::in_range:
      return emit(args[0]);
    case Op::cast:
      if (unit.narrow && narrows_indices() && operand_type(0).is_index() && t.is_data_integer() && t.bits <= 32)
        return math.convert(t, i32.with_lanes(t.lanes), narrow(args[0]));
      return math.convert(t, operand_type(0), emit(args[0]));
    case Op::bitcast:
      return math.bitcast(t, operand_type(0), emit(args[0]));
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge: {
      if (Value* compared = compared_narrow(e)) return compared;
      if (Value* mask = lanes_below(e)) return mask;
      if (Value* mask = lanes_of_pattern(e)) return mask;
      Value* x = emit(args[0]);
      return math.comparison(n.op, operand_type(0), x, emit(args[1]));
    }
    case Op::select: {  // loads that must not happen where an arm is not taken carry their condition as a mask
      if (ir::is(args[0], Op::rare)) return rare_arm(e);
      Value* condition = emit(args[0]);
      Value* x = emit(args[1]);
      return b.CreateSelect(condition, x, emit(args[2]));
    }
    case Op::fma: {
      Value* x = emit(args[0]);
      Value* y = emit(args[1]);
      Value* z = emit(args[2]);
      return math.fuses(t) ? math.fma(t, x, y, z) : fused(t, x, y, z);
    }
    case Op::call:
      return call_function(e);
    case Op::broadcast: {
      Value* lane = emit(args[0]);
      return t.lanes == 1 ? lane : b.CreateVectorSplat(math.count(t), lane);
    }
    case Op::ramp: {
      Value* base = emit(args[0]);
      Value* stride = emit(args[1]);
      if (t.lanes == 1) return base;
      if (t.scalable) {
        Value* steps = b.CreateMul(b.CreateStepVector(math.type(t)), b.CreateVectorSplat(math.count(t), stride));
        return b.CreateAdd(b.CreateVectorSplat(math.count(t), base), steps);
      }
      std::vector<llvm::Constant*> lanes;
      for (int k = 0; k < t.lanes; ++k) lanes.push_back(math.integer(t.element(), k));
      Value* steps = b.CreateMul(llvm::ConstantVector::get(lanes), b.CreateVectorSplat(math.count(t), stride));
      return b.CreateAdd(b.CreateVectorSplat(math.count(t), base), steps);
    }
    case Op::div:
    case Op::mod:
    case Op::trunc_div:
    case Op::trunc_rem:
      if (t.is_integer()) {
        std::int64_t divisor = 0;
        const Expr& by = ir::is(args[1], Op::broadcast) ? ir::args_of(args[1])[0] : args[1];
        if (Value* v = ir::is_int(by, &divisor) ? divide_lanes(e, divisor) : nullptr) return v;
      }
      if (t.is_index()) return on_integers(n.op, ir::like(i64, t), args);
      break;
    case Op::add:
    case Op::sub:
    case Op::mul:
      // index arithmetic is that of integers inside 63 bits, which entry made sure of, or is just making sure of
      if (t.is_index() && t.lanes == 1 && overflow_) {
        Value* x = emit(args[0]);
        return index_arithmetic(n.op, x, emit(args[1]), overflow_);
      }
      break;
    case Op::shl:
    case Op::shr:
      if (t.is_index()) return on_integers(n.op, ir::like(i64, t), args);
      break;
    case Op::rounding_shr: {
      if (t.is_index()) return on_integers(n.op, ir::like(i64, t), args);
      const auto known = values_.of(args[1]);
      Value* x = emit(args[0]);
      return math.rounding_shift(t, x, operand_type(1), emit(args[1]), known && known->low >= 0 && known->high < t.bits);
    }
    case Op::mul_high_rounding: {
      const auto left = values_.of(args[0]), right = values_.of(args[1]);
      const std::int64_t lowest = ir::lowest_of(t.element());
      Value* x = emit(args[0]);
      return math.mul_high_rounding(t, x, emit(args[1]), !(left && left->low > lowest) && !(right && right->low > lowest));
    }
    default:
      break;
  }
  if (n.count == 1) return math.unary(n.op, operand_type(0), emit(args[0]));
  if (n.count != 2)
    throw InternalError(std::string("codegen: ") + ir::op_name(n.op) + " is not an operator of the lowered form");
  Value* x = emit(args[0]);
  return math.binary(n.op, operand_type(0), x, emit(args[1]));
}

// Variables that stand for the operands of an operator while it is emitted.
constexpr ir::Id kOperands = ~ir::Id{1};

Value* Emitter::by_expansion(Op op, Type t, std::span<const Expr> args, std::initializer_list<Value*> values) {
  ir::Id id = kOperands;
  for (Value* v : values) vars[id++] = v;
  const Expr e = codegen::on_integers(op, t, args, kOperands, unit.offers);
  kept_.push_back(e);
  return emit(e);
}

Value* Emitter::on_integers(Op op, Type t, std::span<const Expr> args) {
  Value* x = emit(args[0]);
  return by_expansion(op, t, args, {x, emit(args[1])});
}

Value* Emitter::divided(Op op, Type t, Value* x, std::int64_t divisor) {
  const Expr args[] = {ir::var(kOperands, "", t), ir::int_const(i64, divisor)};
  return by_expansion(op, t, args, {x});
}

std::int64_t Emitter::known_multiple(const Expr& e) const { return codegen::known_multiple(e, multiples); }

}  // namespace ashlar::codegen
