// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic where addresses have 32 bits and so have registers: in 32 bits, if that changes no value that matters.
//
//   an address     counts modulo 2^32, and sums, differences and products of indices are right modulo 2^32 in 32 bits
//   anything else  is exact in 32 bits where the ranges of its variables show that it fits, and computed in 64 where not
//
// So a loop counts in 32 bits if its bounds fit: numbers, Symbols (codegen/extents.h), quotients of them; not products.
// Variables of type index are i64; what fits is widened where its 64 bits are asked for.
#include <algorithm>

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

bool is_modular(Op op) { return op == Op::add || op == Op::sub || op == Op::mul || op == Op::ramp || op == Op::select; }

bool divides(Op op) { return op != Op::min && op != Op::max; }

}  // namespace

bool Emitter::narrows_indices() const { return unit.pointer_bytes() == 4 && !overflow_; }

std::optional<std::pair<std::int64_t, std::int64_t>> Emitter::range_of(const Expr& e) {
  if (!narrows_indices()) return std::nullopt;
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
  if (is_modular(op)) return fits(e);
  if (!is_exact_in_operands(op)) return false;
  const auto by = range_of(args[1]);
  return by && (!divides(op) || by->first >= 0) && fits(args[0]);  // the smallest number by -1 would not fit
}

Value* Emitter::lower_half(Value* v) {
  llvm::Type* to = llvm::Type::getInt32Ty(*unit.context);
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(v->getType())) to = llvm::VectorType::get(to, vector->getElementCount());
  auto* widened = llvm::dyn_cast<llvm::SExtInst>(v);
  if (widened && widened->getOperand(0)->getType() == to) return widened->getOperand(0);
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
      return both(
          [&](Value* x, Value* y) { return divides(op) ? by_expansion(op, t, args, {x, y}) : math.binary(op, t, x, y); });
  }
  return lower_half(emit(e));
}

Value* Emitter::place(const Expr& index) { return narrows_indices() ? narrow(index) : emit(index); }

Value* Emitter::address(const Expr& index) {
  begin_root(index);
  return place(index);
}

}  // namespace ashlar::codegen
