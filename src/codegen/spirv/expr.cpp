// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions: one case an operator, applied to each piece of its operands.
#include <numeric>

#include <ashlar/ir/function.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

#include "codegen/spirv/emitter.h"

namespace ashlar::codegen::spirv {

using ir::Op;

std::vector<int> piece_lanes(int lanes) {
  std::vector<int> all;
  for (; lanes > 4; lanes -= 4) all.push_back(4);
  all.push_back(lanes);
  return all;
}

Emitter::Emitter(const ir::Kernel& k, Function& code, const Offers& offers)
    : c(code), m(code.m), math(code), k_(k), offers_(offers) {}

void Emitter::bind(ir::Id var, Value v, std::int64_t multiple_of) {
  vars_[var] = std::move(v);
  if (multiple_of > 1)
    multiples_[var] = multiple_of;
  else
    multiples_.erase(var);
}
void Emitter::place(ir::Id buffer, Place p) { places_[buffer] = std::move(p); }

Value Emitter::expr(const Expr& e) {
  if (e.empty()) throw InternalError("spirv: kernel " + k_.name + " lacks an expression");
  memo_.clear();
  kept_.clear();
  return emit(e);
}

Piece Emitter::scalar(const Expr& e) {
  const Value v = expr(e);
  if (v.type.lanes != 1) throw InternalError("spirv: a vector where kernel " + k_.name + " needs one value");
  return v.pieces[0];
}

Value Emitter::emit(const Expr& e) {
  if (const auto it = memo_.find(e.node()); it != memo_.end()) return it->second;
  Value v = emit_node(e);
  if (v.type != e.type())
    throw InternalError(std::string("spirv: ") + ir::op_name(ir::op_of(e)) + " has operands that do not fit its type");
  return memo_[e.node()] = v;
}

Value Emitter::each(Type result, std::initializer_list<const Value*> operands, const PieceFunction& f) {
  Value v{result, {}};
  const std::size_t count = (*operands.begin())->pieces.size();
  for (const Value* o : operands)
    if (o->pieces.size() != count) throw InternalError("spirv: operands of different numbers of lanes in " + k_.name);
  std::vector<Piece> at(operands.size());
  for (std::size_t p = 0; p < count; ++p) {
    std::size_t n = 0;
    for (const Value* o : operands) at[n++] = o->pieces[p];
    v.pieces.push_back(f(std::span<const Piece>(at)));
  }
  return v;
}

Value Emitter::splat(Piece x, int lanes) {
  Value v{x.type.with_lanes(lanes), {}};
  for (int n : piece_lanes(lanes)) v.pieces.push_back(math.splat(x, n));
  return v;
}

Piece Emitter::lane(const Value& v, int k) { return math.lane(v.pieces[static_cast<std::size_t>(k / 4)], k % 4); }

Value Emitter::gather(Type t, std::span<const Piece> lanes) {
  Value v{t, {}};
  std::size_t at = 0;
  for (int n : piece_lanes(t.lanes)) {
    v.pieces.push_back(math.composite(lanes.subspan(at, static_cast<std::size_t>(n))));
    at += static_cast<std::size_t>(n);
  }
  return v;
}

Value Emitter::emit_node(const Expr& e) {
  const ir::Node& n = *e.node();
  const auto args = ir::args_of(e);
  const Type t = n.type;
  switch (n.op) {
    case Op::int_const:
      return splat(math.integer(t.element(), n.i), t.lanes);
    case Op::float_const:
      if (ir::is_narrow(t) && !m.registers.physical(t).is_float()) {
        const auto bits = static_cast<std::int64_t>(ir::to_bits(ir::float_value(t.element(), n.f)));
        return splat(math.integer(t.element(), bits), t.lanes);
      }
      return splat(math.real(t.element(), n.f), t.lanes);
    case Op::var: {
      const auto it = vars_.find(n.id);
      if (it == vars_.end())
        throw InternalError("spirv: kernel " + k_.name + " uses the variable " + (n.name ? n.name : "?") +
                            " outside its scope");
      return it->second;
    }
    case Op::load:
      return load(e);
    case Op::rare:
    case Op::in_range:
      return emit(args[0]);
    case Op::broadcast:
      return splat(emit(args[0]).pieces[0], t.lanes);
    case Op::ramp: {
      const Piece base = emit(args[0]).pieces[0];
      const bool step = ir::is_int(args[1], std::int64_t{1});
      const Piece stride = step ? Piece{} : emit(args[1]).pieces[0];
      Value v{t, {}};
      std::int64_t first = 0;
      for (int count : piece_lanes(t.lanes)) {
        std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
        std::iota(numbers.begin(), numbers.end(), first);
        first += count;
        const Type part = t.element().with_lanes(count);
        Piece steps{m.lanes(part, numbers), part};
        if (!step) steps = math.binary(Op::mul, steps, math.splat(stride, count));
        v.pieces.push_back(math.binary(Op::add, math.splat(base, count), steps));
      }
      return v;
    }
    default:
      break;
  }
  if (t.is_index() && !ir::expanded(e).empty()) return on_integers(e);
  if (n.op == Op::call)
    refuse("vulkan", "formulas without functions in C, which run on the host", ir::function(n.id).symbol, n.where);
  std::vector<Value> operands;
  for (const Expr& a : args) operands.push_back(emit(a));
  auto one = [&](auto&& f) { return each(t, {&operands[0]}, [&](std::span<const Piece> p) { return f(p[0]); }); };
  auto two = [&](auto&& f) {
    return each(t, {&operands[0], &operands[1]}, [&](std::span<const Piece> p) { return f(p[0], p[1]); });
  };
  if (n.count == 3) {
    // a scalar condition chooses whole vectors
    if (n.op == Op::select && operands[0].type.lanes == 1 && t.lanes > 1) operands[0] = splat(operands[0].pieces[0], t.lanes);
    if (n.op == Op::select || n.op == Op::fma)
      return each(t, {&operands[0], &operands[1], &operands[2]}, [&](std::span<const Piece> p) {
        return n.op == Op::fma ? math.fma(p[0], p[1], p[2]) : math.select(p[0], p[1], p[2]);
      });
  }
  if (n.count == 1) {
    switch (n.op) {
      case Op::cast:
        return one([&](Piece x) { return math.convert(t, x); });
      case Op::bitcast:
        return one([&](Piece x) { return math.bitcast(t, x); });
      default:
        return one([&](Piece x) { return math.unary(n.op, x); });
    }
  }
  if (n.count != 2) throw InternalError(std::string("spirv: ") + ir::op_name(n.op) + " is not an operator of the lowered form");
  return two([&](Piece x, Piece y) { return ir::is_comparison(n.op) ? math.comparison(n.op, x, y) : math.binary(n.op, x, y); });
}

Value Emitter::on_integers(const Expr& e) {
  constexpr ir::Id first = ~ir::Id{1};  // variables that stand for the operands
  const Type t = m.registers.physical(e.type().element()).with_lanes(e.type().lanes);
  std::vector<Value> operands;  // all of them first: one may be such an operator itself
  for (const Expr& a : ir::args_of(e)) {
    operands.push_back({t, {}});
    for (const Piece& p : emit(a).pieces) operands.back().pieces.push_back({p.id, t.with_lanes(p.type.lanes)});
  }
  for (std::size_t k = 0; k < operands.size(); ++k) vars_[first + k] = operands[k];
  const Expr spelled = codegen::on_integers(ir::op_of(e), t, ir::args_of(e), first, offers_);
  kept_.push_back(spelled);
  Value result{e.type(), {}};
  for (const Piece& p : emit(spelled).pieces) result.pieces.push_back({p.id, e.type().with_lanes(p.type.lanes)});
  return result;
}

std::int64_t Emitter::known_multiple(const Expr& e) const { return codegen::known_multiple(e, multiples_); }

}  // namespace ashlar::codegen::spirv
