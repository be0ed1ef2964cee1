// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interp/described.h"

#include <algorithm>
#include <optional>

#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"

namespace ashlar::interp {

using Operand = ir::IntrinsicOperand;

Described::Described(const ir::Intrinsic& f) : f_(f), tiles_(f.operands.size()), extents_(f.operands.size()) {
  for (const Operand& o : f.operands)
    if (o.kind != Operand::Kind::tile) slots_.slot(o.id);
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    const Operand& o = f.operands[k];
    if (o.kind != Operand::Kind::tile) continue;
    if (o.access != Operand::Access::read) result_ = k;
    for (const Expr& e : o.extents) extents_[k].emplace_back(e, slots_, *this, Select::lazy);
  }
  for (const Expr& e : f.spatial_extents) spatial_.emplace_back(e, slots_, *this, Select::lazy);
  for (const Expr& e : f.reduce_sizes) reduce_.emplace_back(e, slots_, *this, Select::lazy);
  for (Id v : f.spatial) spatial_slots_.push_back(slots_.slot(v));
  for (Id v : f.reduce) reduce_slots_.push_back(slots_.slot(v));
  fused_ = !f.reduce.empty() && f.value.type().is_float() && ir::is(f.value, ir::Op::mul);
  if (fused_) {
    left_ = Tape(ir::args_of(f.value)[0], slots_, *this, Select::lazy);
    right_ = Tape(ir::args_of(f.value)[1], slots_, *this, Select::lazy);
  } else {
    value_ = Tape(f.value, slots_, *this, Select::lazy);
  }
}

void Described::set(std::size_t operand, const Value& v) { slots_.set(f_.operands.at(operand).id, v); }

std::vector<std::int64_t> Described::shape(std::size_t tile) {
  std::vector<std::int64_t> s;
  for (Tape& t : extents_.at(tile)) s.push_back(t.run_index());
  return s;
}

std::int64_t Described::flat(const Tile& t, std::span<const std::int64_t> at) const {
  std::int64_t f = 0;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d] < 0 || at[d] >= t.shape[d]) throw InternalError("the meaning of " + f_.name + " leaves a tile");
    f = f * t.shape[d] + at[d];
  }
  return f;
}

void Described::fill(std::size_t tile, const std::function<Value(std::span<const std::int64_t>)>& element) {
  Tile& t = tiles_.at(tile);
  t.shape = shape(tile);
  t.elements.clear();
  for_each_index(t.shape, [&](std::span<const std::int64_t> at) { t.elements.push_back(element(at)); });
}

void Described::run() {
  evaluations_ = 0;
  std::vector<std::int64_t> extents, steps;
  for (Tape& t : spatial_) extents.push_back(t.run_index());
  for (Tape& t : reduce_) steps.push_back(t.run_index());
  Tile& out = tiles_.at(result_);
  if (!f_.accumulates) {
    out.shape = extents;
    std::size_t count = 1;
    for (std::int64_t e : extents) count *= static_cast<std::size_t>(std::max<std::int64_t>(0, e));
    out.elements.assign(count, Value{});
  }
  const Type type = f_.operands[result_].type;
  for_each_index(extents, [&](std::span<const std::int64_t> at) {
    for (std::size_t d = 0; d < at.size(); ++d) slots_.set_index(spatial_slots_[d], at[d]);
    Value& element = out.elements[static_cast<std::size_t>(flat(out, at))];
    if (f_.reduce.empty()) {
      ++evaluations_;
      element = value_.run();
      return;
    }
    Value sum = f_.accumulates ? element : type.is_float() ? ir::float_value(type, 0) : ir::int_value(type, 0);
    for_each_index(steps, [&](std::span<const std::int64_t> k) {
      for (std::size_t d = 0; d < k.size(); ++d) slots_.set_index(reduce_slots_[d], k[d]);
      ++evaluations_;
      std::optional<Value> next;
      if (fused_) {
        const Value args[3] = {left_.run(), right_.run(), sum};
        next = ir::evaluate(ir::Op::fma, type, args);
      } else {
        const Value args[2] = {sum, value_.run()};
        next = ir::evaluate(ir::Op::add, type, args);
      }
      if (!next) throw InternalError("the meaning of " + f_.name + " has no value");
      sum = *next;
    });
    element = sum;
  });
}

void Described::take(const std::function<void(std::span<const std::int64_t>, const Value&)>& store) const {
  const Tile& t = tiles_.at(result_);
  std::size_t k = 0;
  for_each_index(t.shape, [&](std::span<const std::int64_t> at) { store(at, t.elements[k++]); });
}

int Described::resolve(Id buffer, const char*) {
  for (std::size_t k = 0; k < f_.operands.size(); ++k)
    if (f_.operands[k].id == buffer) return static_cast<int>(k);
  throw InternalError("the meaning of " + f_.name + " loads something that is not an operand");
}

Value Described::read(int operand, const std::int64_t* index, int rank) {
  const Tile& t = tiles_.at(static_cast<std::size_t>(operand));
  return t.elements[static_cast<std::size_t>(flat(t, {index, static_cast<std::size_t>(rank)}))];
}

}  // namespace ashlar::interp
