// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interp/reduce.h"

#include <ashlar/ir/refusal.h>

namespace ashlar::interp {

using ir::Op;
using ir::ReducerKind;

Combiner::Combiner(const ir::Stage& stage, Slots& slots, Memory& memory) : kind_(stage.reducer.kind), slots_(&slots) {
  for (std::size_t c = 0; c < stage.values.size(); ++c) {
    const Expr& e = stage.values[c];
    Component part;
    part.type = e.type();
    part.value = Tape(e, slots, memory, Select::lazy);
    part.fused = stage.reducer.fused && part.type.is_float();
    if (part.fused) {
      if (!ir::is(e, Op::mul)) throw InternalError("the fused sum " + stage.name + " has no product for a term");
      part.left = Tape(ir::args_of(e)[0], slots, memory, Select::lazy);
      part.right = Tape(ir::args_of(e)[1], slots, memory, Select::lazy);
    }
    if (kind_ == ReducerKind::custom) part.combine = Tape(stage.reducer.combine.at(c), slots, memory, Select::lazy);
    components_.push_back(std::move(part));
  }
  for (Id id : stage.reducer.left) left_slots_.push_back(slots.slot(id));
  for (Id id : stage.reducer.right) right_slots_.push_back(slots.slot(id));
}

void Combiner::values(std::vector<Value>& out) {
  out.clear();
  for (Component& c : components_) out.push_back(c.value.run());
}

void Combiner::step(std::vector<Value>& accumulated) {
  if (kind_ == ReducerKind::custom) {
    values(term_);
    for (std::size_t c = 0; c < left_slots_.size(); ++c) slots_->set_slot(left_slots_[c], accumulated[c]);
    for (std::size_t c = 0; c < right_slots_.size(); ++c) slots_->set_slot(right_slots_[c], term_[c]);
    for (std::size_t c = 0; c < components_.size(); ++c) accumulated[c] = components_[c].combine.run();
    return;
  }
  for (std::size_t k = 0; k < components_.size(); ++k) {
    Component& c = components_[k];
    if (c.fused) {
      const Value args[3] = {c.left.run(), c.right.run(), accumulated[k]};
      accumulated[k] = *ir::evaluate(Op::fma, c.type, args);
      continue;
    }
    Op op = Op::add;
    switch (kind_) {
      case ReducerKind::sum:
      case ReducerKind::strict_sum:
        op = Op::add;
        break;
      case ReducerKind::product:
        op = Op::mul;
        break;
      case ReducerKind::minimum:
        op = Op::min;
        break;
      case ReducerKind::maximum:
        op = Op::max;
        break;
      default:
        throw InternalError("a step of a stage that is not a reduction");
    }
    const Value args[2] = {accumulated[k], c.value.run()};
    const auto v = ir::evaluate(op, c.type, args);
    if (!v) throw InternalError("a reduction without a value");
    accumulated[k] = *v;
  }
}

}  // namespace ashlar::interp
