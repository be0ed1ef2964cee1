// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/interp/tape.h>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::interp {

using ir::Op;

int Slots::slot(Id id, int lanes) {
  const auto [at, fresh] = slots_.try_emplace(id, Run{});
  if (fresh || at->second.lanes < lanes) {
    at->second = {static_cast<int>(values_.size()), lanes};
    values_.resize(values_.size() + static_cast<std::size_t>(lanes));
  }
  return at->second.first;
}

Tape::Tape(const Expr& e, Slots& slots, Memory& memory, Select select)
    : slots_(&slots), memory_(&memory), strict_(select == Select::strict) {
  std::unordered_map<const ir::Node*, int> seen;
  add(e, slots, memory, seen, select);
  lanes_ = slots.lanes(e.node()->type);
}

int Tape::add(const Expr& e, Slots& slots, Memory& memory, std::unordered_map<const ir::Node*, int>& seen, Select select) {
  const ir::Node* n = e.node();
  if (!n) throw InternalError("interpreter: an empty expression");
  if (const auto at = seen.find(n); at != seen.end()) return at->second;
  Node node;
  node.op = n->op;
  node.type = n->type.element();
  node.vector = n->type.lanes > 1;
  node.count = n->count;
  node.name = n->name;
  const bool constant = n->op == Op::int_const || n->op == Op::float_const;
  if (constant) node.value = ir::value_of(e);
  if (n->op == Op::var) node.slot = slots.slot(n->id, slots.lanes(n->type));
  if (n->op == Op::load) node.slot = memory.resolve(n->id, n->name);
  if (n->op == Op::call) {
    node.function = &ir::function(n->id);
    if (!node.function->run)
      throw RunError(RunError::Kind::arguments, memory.where() + " calls " + node.function->symbol +
                                                    ", which was declared by its symbol alone: it is not in this process");
  }
  std::vector<int> operands;
  for (const Expr& arg : ir::args_of(e)) operands.push_back(add(arg, slots, memory, seen, select));
  node.reads = n->op == Op::load || n->op == Op::in_range || n->op == Op::call;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool reads = nodes_[static_cast<std::size_t>(operands[k])].reads;
    node.reads |= reads;
    if (n->op == Op::select && select == Select::lazy && k > 0) node.lazy_select |= reads;
  }
  lazy_ = lazy_ || node.lazy_select;
  node.first = static_cast<std::uint32_t>(operands_.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  for (std::size_t k = 0; k < operands.size() && k < 3; ++k) node.in[k] = static_cast<std::uint32_t>(operands[k]);
  if (!operands.empty()) node.direct = ir::direct(n->op, node.type, nodes_[node.in[0]].type);
  if (node.direct) node.value.type = node.type;
  nodes_.push_back(node);
  const int index = static_cast<int>(nodes_.size()) - 1;
  if (!constant) steps_.push_back(static_cast<std::uint32_t>(index));
  seen.emplace(n, index);
  return index;
}

void Tape::compute(Node& n, int lane) {
  const auto operand = [&](std::uint32_t k) -> const Value& {
    return nodes_[static_cast<std::size_t>(operands_[n.first + k])].value;
  };
  switch (n.op) {
    case Op::int_const:
    case Op::float_const:
      return;
    case Op::var: {
      n.value = slots_->value(n.slot + (n.vector ? lane : 0));
      if (n.value.type.code == Type::Code::handle)
        throw InternalError(std::string("interpreter: the variable ") + (n.name ? n.name : "?") + " has no value in " +
                            memory_->where());
      return;
    }
    case Op::load: {
      std::int64_t index[8] = {};
      if (n.count > 8) throw InternalError("interpreter: a load with more than 8 operands");
      int rank = static_cast<int>(n.count);
      for (std::uint32_t k = 0; k < n.count; ++k) {
        const Value& v = operand(k);
        if (v.type.is_bool()) {  // the mask of a lowered load: a lane that is false reads nothing and gives 0
          rank = static_cast<int>(k);
          if (!v.i) {
            n.value = n.type.is_float() ? ir::float_value(n.type, 0) : ir::int_value(n.type, 0);
            return;
          }
        } else {
          index[k] = v.i;
        }
      }
      n.value = memory_->read(n.slot, index, rank);
      if (n.value.type != n.type)
        throw InternalError("interpreter: a load of " + ir::text(n.type) + " from a buffer of " + ir::text(n.value.type));
      return;
    }
    case Op::ramp: {
      const Value step[2] = {ir::int_value(operand(1).type, lane), operand(1)};
      const auto offset = ir::evaluate(Op::mul, n.type, step);
      if (offset) {
        const Value sum[2] = {operand(0), *offset};
        if (const auto v = ir::evaluate(Op::add, n.type, sum)) {
          n.value = *v;
          return;
        }
      }
      throw RunError(RunError::Kind::overflow, memory_->where() + ": index arithmetic leaves 63 bits");
    }
    case Op::broadcast:
      n.value = operand(0);
      return;
    case Op::call: {
      std::vector<Value> operands;
      for (std::uint32_t k = 0; k < n.count; ++k) operands.push_back(operand(k));
      n.value = ir::run(*n.function, operands.data());
      return;
    }
    case Op::in_range:
      if (operand(0).i < operand(1).i || operand(0).i >= operand(2).i)
        throw RunError(RunError::Kind::broken_promise, memory_->where() + ": in_range promised [" + text(operand(1)) + ", " +
                                                           text(operand(2)) + "), found " + text(operand(0)));
      n.value = operand(0);
      return;
    default:
      break;
  }
  Value args[3];
  if (n.count > 3) throw InternalError("interpreter: an operator with more than 3 operands");
  for (std::uint32_t k = 0; k < n.count; ++k) args[k] = operand(k);
  const auto v = ir::evaluate(n.op, n.type, {args, n.count});
  if (!v) throw RunError(RunError::Kind::overflow, memory_->where() + ": index arithmetic leaves 63 bits");
  n.value = *v;
}

// What was not written has no value, nor has an index that leaves 63 bits, nor what is computed from either; `select` has the
// value of the arm that it takes, `and` and `or` that of an operand which decides, and a load that its mask leaves out has one
// wherever it points.
void Tape::compute_strict(Node& n, int lane) {
  n.missing = nullptr;
  if (some_without_) {
    const auto operand = [&](std::uint32_t k) -> const Node& {
      return nodes_[static_cast<std::size_t>(operands_[n.first + k])];
    };
    const auto used = [&](std::uint32_t k) {
      if (n.op == Op::select) return k == 0 || k == (operand(0).value.i ? 1u : 2u);
      const Node& last = operand(n.count - 1);
      return !(n.op == Op::load && last.type.is_bool() && !last.missing && !last.value.i);
    };
    if (n.op == Op::logic_and || n.op == Op::logic_or)
      for (std::uint32_t k = 0; k < n.count; ++k)
        if (!operand(k).missing && (operand(k).value.i != 0) == (n.op == Op::logic_or)) {
          n.value = operand(k).value;
          return;
        }
    for (std::uint32_t k = 0; k < n.count && !n.missing; ++k)
      if (used(k)) n.missing = operand(k).missing;
    if (n.missing && n.op == Op::load) std::rethrow_exception(n.missing);  // it would read anywhere
    if (n.missing) return;
    if (n.op == Op::select) {
      n.value = operand(operand(0).value.i ? 1 : 2).value;
      return;
    }
  }
  try {
    compute(n, lane);
  } catch (const RunError& e) {
    if (e.kind != RunError::Kind::uninitialized && e.kind != RunError::Kind::overflow) throw;
    n.missing = std::current_exception();
    some_without_ = true;
  }
}

const Value& Tape::need(int index, int lane) {
  Node& n = nodes_[static_cast<std::size_t>(index)];
  const std::uint64_t now = n.vector ? lane_epoch_ : epoch_;
  if (n.stamp >= now) return n.value;
  if (n.lazy_select) {
    const bool taken = need(operands_[n.first], lane).i != 0;
    n.value = need(operands_[n.first + (taken ? 1 : 2)], lane);
  } else {
    for (std::uint32_t k = 0; k < n.count; ++k) need(operands_[n.first + k], lane);
    if (!compute_direct(n)) compute(n, lane);
  }
  n.stamp = now;
  return n.value;
}

Value Tape::run(int lane) {
  if (lazy_) {
    const int root = static_cast<int>(nodes_.size()) - 1;
    if (lane == 0)
      epoch_ = ++lane_epoch_;
    else
      ++lane_epoch_;
    return need(root, lane);
  }
  const Node& result = evaluate(lane);
  if (strict_ && some_without_ && result.missing) std::rethrow_exception(result.missing);
  return result.value;
}

const Tape::Node& Tape::evaluate(int lane) {
  if (lane == 0) some_without_ = false;
  for (const std::uint32_t step : steps_) {
    Node& n = nodes_[step];
    if (lane > 0 && !n.vector) continue;
    if (!some_without_ && compute_direct(n)) {
      if (n.missing) n.missing = nullptr;
      continue;
    }
    strict_ ? compute_strict(n, lane) : compute(n, lane);
  }
  return nodes_.back();
}

void Tape::run_unused(int lane) { lazy_ ? static_cast<void>(run(lane)) : static_cast<void>(evaluate(lane)); }

}  // namespace ashlar::interp
