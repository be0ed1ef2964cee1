// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic where registers have 32 bits: in 32 bits, if that changes no value that matters.
//
//   an address     counts modulo 2^32, and sums, differences and products of indices are right modulo 2^32 in 32 bits
//   anything else  is exact in 32 bits where the ranges of its variables show that it fits, and computed in 64 where not
//
// So a loop counts in 32 bits if its bounds fit: numbers, Symbols (codegen/extents.h), quotients of them; not products.
// Variables of type index are i64; what fits is widened where its 64 bits are asked for.
//
// On a processor addresses have 32 bits too, and ranges are sought here. On a device they have 64, and what fits was found
// beforehand (analysis/narrow_indices.h), together with the condition under which that is so.
#include <algorithm>

#include <ashlar/analysis/narrow_indices.h>
#include <ashlar/analysis/simplify.h>

#include "codegen/extents.h"
#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

namespace {

bool is_exact_in_operands(Op op) {  // of operands that fit the result fits, and is not right modulo 2^32 alone
  return op == Op::min || op == Op::max || op == Op::div || op == Op::mod || op == Op::trunc_div || op == Op::trunc_rem;
}

bool is_bitwise(Op op) { return op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor; }

bool is_modular(Op op) {
  return op == Op::add || op == Op::sub || op == Op::mul || op == Op::ramp || op == Op::select || is_bitwise(op);
}

bool divides(Op op) { return op != Op::min && op != Op::max; }

}  // namespace

bool Emitter::narrows_indices() const { return (unit.pointer_bytes() == 4 || unit.narrow) && !overflow_; }

std::optional<std::pair<std::int64_t, std::int64_t>> Emitter::range_of(const Expr& e) {
  if (!narrows_indices()) return std::nullopt;
  if (unit.narrow) {
    const auto r = unit.narrow->range(e);
    return r ? std::optional(std::pair(r->low, r->high)) : std::nullopt;
  }
  if (const auto it = ranges_of_.find(e.node()); it != ranges_of_.end()) return it->second;
  analysis::Facts facts;
  ir::walk(e, [&](const Expr& part) {
    if (!ir::is(part, Op::var)) return true;
    const ir::Id id = part.node()->id;
    if (const auto r = ranges.find(id); r != ranges.end()) facts.bound(id, r->second.first, r->second.second);
    if (const auto s = unit.kernel.symbols.find(id); s != unit.kernel.symbols.end())
      facts.bound(id, std::max<std::int64_t>(s->second.min, 0), most_of(s->second, unit.pointer_bytes()));
    return true;
  });
  const auto low = analysis::constant_min(e, facts), high = analysis::constant_max(e, facts);
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
  if (low && high && *low >= INT32_MIN && *high <= INT32_MAX) range.emplace(*low, *high);
  kept_.push_back(e);
  return ranges_of_[e.node()] = range;
}

bool Emitter::fits(const Expr& e) { return range_of(e).has_value(); }

bool Emitter::narrows(const Expr& e) {
  const Op op = ir::op_of(e);
  const auto args = ir::args_of(e);
  if (op == Op::select && ir::is(args[0], Op::rare)) return false;  // its arm has a block of its own
  if (is_bitwise(op) && !unit.narrow) return false;
  if (is_modular(op)) return fits(e);
  if (!is_exact_in_operands(op)) return false;
  const auto by = range_of(args[1]);
  return by && (!divides(op) || by->first >= 0) && fits(args[0]);  // the smallest number by -1 would not fit
}

// Of numbers that are not negative. By zero the quotient is zero, and so is the remainder.
Value* Emitter::divided_unsigned(Op op, std::span<const Expr> args, Value* x, Value* y) {
  const auto of = range_of(args[0]), by = range_of(args[1]);
  if (!unit.narrow || !of || !by || of->first < 0 || by->first < 0) return nullptr;
  Value *one = llvm::ConstantInt::get(y->getType(), 1), *zero = llvm::ConstantInt::get(y->getType(), 0);
  Value* divisor = by->first > 0 ? y : b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, y, one);
  if (op == Op::mod || op == Op::trunc_rem) return b.CreateURem(x, divisor);
  Value* quotient = b.CreateUDiv(x, divisor);
  return by->first > 0 ? quotient : b.CreateSelect(b.CreateICmpEQ(y, zero), zero, quotient);
}

// Two indices that fit compare in 32 bits; null where one does not.
Value* Emitter::compared_narrow(const Expr& e) {
  const auto args = ir::args_of(e);
  if (!unit.narrow || !narrows_indices() || !args[0].type().is_index() || !fits(args[0]) || !fits(args[1])) return nullptr;
  Value* x = narrow(args[0]);
  return math.comparison(ir::op_of(e), i32.with_lanes(args[0].type().lanes), x, narrow(args[1]));
}

Value* Emitter::lower_half(Value* v) {
  llvm::Type* to = llvm::Type::getInt32Ty(*unit.context);
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(v->getType())) to = llvm::VectorType::get(to, vector->getElementCount());
  auto* widened = llvm::dyn_cast<llvm::CastInst>(v);
  const bool extends = widened && (llvm::isa<llvm::SExtInst>(widened) || llvm::isa<llvm::ZExtInst>(widened));
  if (extends && widened->getOperand(0)->getType() == to) return widened->getOperand(0);
  return b.CreateTrunc(v, to);
}

Value* Emitter::narrow(const Expr& e) {
  if (const auto it = memo_.find(e.node()); it != memo_.end() && it->second.low) return it->second.low;
  Value* v = narrow_node(e);
  return memo_[e.node()].low = v;
}

Value* Emitter::narrow_node(const Expr& e) {
  const auto args = ir::args_of(e);
  const Op op = ir::op_of(e);
  const Type t = i32.with_lanes(e.type().lanes);
  const auto both = [&](auto&& combine) {
    Value* x = narrow(args[0]);
    return combine(x, narrow(args[1]));
  };
  if (e.type().scalable) return lower_half(emit(e));
  switch (op) {
    case Op::int_const:
      return math.integer(t, e.node()->i);
    case Op::in_range:
    case Op::rare:
      return narrow(args[0]);
    case Op::add:
      return both([&](Value* x, Value* y) { return b.CreateAdd(x, y); });
    case Op::sub:
      return both([&](Value* x, Value* y) { return b.CreateSub(x, y); });
    case Op::mul:
      return both([&](Value* x, Value* y) { return b.CreateMul(x, y); });
    case Op::var:
      if (const auto it = lower_halves.find(e.node()->id); it != lower_halves.end()) return it->second;
      break;
    case Op::cast:
      if (!unit.narrow || !args[0].type().is_data_integer() || args[0].type().is_packed()) break;
      return b.CreateIntCast(emit(args[0]), math.type(t), args[0].type().is_signed());
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
      if (!unit.narrow) break;
      return both([&](Value* x, Value* y) { return math.binary(op, t, x, y); });
    case Op::broadcast:
      return t.lanes == 1 ? narrow(args[0]) : b.CreateVectorSplat(math.count(t), narrow(args[0]));
    case Op::ramp: {
      Value *base = narrow(args[0]), *stride = narrow(args[1]);
      if (t.lanes == 1) return base;
      std::vector<llvm::Constant*> lanes;
      for (int k = 0; k < t.lanes; ++k) lanes.push_back(math.integer(i32, k));
      Value* steps = b.CreateMul(llvm::ConstantVector::get(lanes), b.CreateVectorSplat(math.count(t), stride));
      return b.CreateAdd(b.CreateVectorSplat(math.count(t), base), steps);
    }
    case Op::select: {
      if (ir::is(args[0], Op::rare)) break;
      Value *condition = emit(args[0]), *x = narrow(args[1]);
      return b.CreateSelect(condition, x, narrow(args[2]));
    }
    default:
      if (!is_exact_in_operands(op) || !narrows(e)) break;
      return both([&](Value* x, Value* y) {
        if (Value* v = divides(op) ? divided_unsigned(op, args, x, y) : nullptr) return v;
        return divides(op) ? by_expansion(op, t, args, {x, y}) : math.binary(op, t, x, y);
      });
  }
  return lower_half(emit(e));
}

Value* Emitter::place(const Expr& index) { return narrows_indices() && (!far_ || fits(index)) ? narrow(index) : emit(index); }

Emitter::Addressing::Addressing(Emitter& e, ir::Id buffer) : e_(e), before_(e.far_) {
  e.far_ = e.unit.narrow && e.unit.narrow->far.contains(buffer);
}
Emitter::Addressing::~Addressing() { e_.far_ = before_; }

Value* Emitter::exact(const Expr& index) {
  begin_root(index);
  return unit.narrow && fits(index) ? narrow(index) : emit(index);
}

Value* Emitter::element_of(const ir::KBuffer& buffer, const Expr& index) {
  const Addressing addressing(*this, buffer.id);
  begin_root(index);
  return element_at(buffer, index);
}

// A number that is added to an index stands in an instruction's address, outside the 32 bits: what is left of the index stays
// far enough inside of them.
Value* Emitter::element_at(const ir::KBuffer& buffer, const Expr& index) {
  std::int64_t distance = 0;
  const bool apart = unit.narrow && narrows_indices() && !far_ && analysis::stays_outside(index, &distance);
  if (!apart) return element(buffer, place(index));
  Value* base = element(buffer, place(ir::args_of(index)[0]));
  return b.CreateGEP(math.memory_type(buffer.type.element()), base, b.getInt64(static_cast<std::uint64_t>(distance)));
}

Value* Emitter::address(const Expr& index) {
  begin_root(index);
  return place(index);
}

}  // namespace ashlar::codegen
