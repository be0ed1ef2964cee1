// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: where the elements of each operand lie, what a described intrinsic computes, operations in flight.
#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"
#include "interp/device_run.h"

namespace ashlar::interp::device {

using ir::Completion;
using Kind = RunError::Kind;
using Operand = ir::IntrinsicOperand;
using Place = Operand::Place;

// The operands of one operation as memory, for the tape of a description.
class OperandView final : public Memory {
 public:
  DeviceRun* run = nullptr;
  const ir::Intrinsic* f = nullptr;
  Operation* operation = nullptr;
  bool issue = false;

  int resolve(Id id, const char* name) override {
    for (std::size_t k = 0; k < f->operands.size(); ++k)
      if (f->operands[k].id == id) return static_cast<int>(k);
    throw InternalError("the intrinsic " + f->name + " reads no operand " + (name ? name : ""));
  }
  Value read(int k, const std::int64_t* index, int rank) override {
    const auto& shape = f->operands[static_cast<std::size_t>(k)].shape;
    std::int64_t element = 0;
    if (rank != static_cast<int>(shape.size())) throw InternalError("the intrinsic " + f->name + " indexes with another rank");
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (index[d] < 0 || index[d] >= shape[d])
        run->fail(Kind::out_of_bounds,
                  f->name + " reads " + f->operands[static_cast<std::size_t>(k)].name + " at " +
                      text_of_index({index, static_cast<std::size_t>(rank)}) + ", outside its shape",
                  {operation->code->number});
      element = element * shape[d] + index[d];
    }
    return run->load(*operation, k, element, issue);
  }
  std::string where() const override { return run->where(); }
};

struct Description {
  OperandView view;
  Slots slots;
  Tape value, left, right;
  bool fused = false;
};

// ---- operands --------------------------------------------------------------------------------------------------------------

void DeviceRun::call(int first, Code& c) {
  const IntrinsicInfo& info = intrinsics_[static_cast<std::size_t>(c.intrinsic)];
  const ir::Intrinsic& f = *info.f;
  const auto o = std::make_shared<Operation>();
  o->number = static_cast<int>(operations_.size());
  o->code = &c;
  o->first = first;
  o->block = thread(first).block;
  o->actuals.resize(f.operands.size());
  o->at.resize(f.operands.size());
  const int n = static_cast<int>(c.width);
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    const Operand& operand = f.operands[k];
    const auto& elements = info.tiles[k].elements;
    const bool by_thread = operand.kind == Operand::Kind::tile && operand.place != Place::registers && !elements.empty() &&
                           elements.front().thread >= 0;
    ActualValue& v = o->actuals[k];
    for (int t = first; t < first + n; ++t) {
      enter(thread(t));
      ActualCode& a = c.actuals[k];
      std::vector<std::int64_t> positions;
      for (Tape& p : a.positions) positions.push_back(p.run_index());
      const Value address = a.address.empty() ? ir::int_value(ir::index_type, 0) : a.address.run();
      if (t == first) {
        v.value = address;
        v.positions = positions;
      } else if (!by_thread && (!ir::same_value(address, v.value) || positions != v.positions)) {
        fail(Kind::divergence, f.name + ": the operand " + operand.name + " differs from that of " + who(first), {c.number});
      }
      if (t == first || by_thread) v.addresses.push_back(address.i);
    }
    locate(*o, static_cast<int>(k));
  }
  enter(thread(first));
  if (const Native* native = Native::find(f.device)) native->locate(*this, *o);
  if (info.asynchronous) {
    operations_.push_back(o);
    issue(o);
    return;
  }
  describe(*o, false);
  for (std::size_t e = 0; e < o->result.size(); ++e) put(*o, info.result, static_cast<std::int64_t>(e), o->result[e]);
}

void DeviceRun::locate(Operation& o, int k) {
  const IntrinsicInfo& info = intrinsics_[static_cast<std::size_t>(o.code->intrinsic)];
  const ActualValue& v = o.actuals[static_cast<std::size_t>(k)];
  auto& at = o.at[static_cast<std::size_t>(k)];
  for (const Location& e : info.tiles[static_cast<std::size_t>(k)].elements) {
    const int in_group = std::max(0, e.thread);
    const std::size_t given = v.addresses.size() == 1 ? 0 : static_cast<std::size_t>(in_group);
    at.push_back({o.first + in_group, v.addresses[given] + e.at});
  }
}

// Reads one element; where an operation is issued, it only looks at who may read.
Value DeviceRun::load(Operation& o, int k, std::int64_t element, bool at_issue) {
  const Operand& operand = intrinsic(o).operands[static_cast<std::size_t>(k)];
  const Location l = o.at[static_cast<std::size_t>(k)][static_cast<std::size_t>(element)];
  const int b = o.code->actuals[static_cast<std::size_t>(k)].buffer;
  if (operand.place == Place::registers) {
    enter(thread(l.thread));
    return read_register(thread(l.thread), b, l.at);
  }
  if (at_issue || operand.completion == Completion::call) {
    Clocks scratch;
    enter(thread(l.thread));
    access_at_issue(o, k, element, false, at_issue ? issuer(o, operand, scratch) : generic(thread(l.thread), *o.code));
    if (at_issue) return operand.type.is_float() ? ir::float_value(operand.type, 0) : ir::int_value(operand.type, 0);
  }
  if (operand.place == Place::shared) return read_shared(block(o.block), b, l.at);
  return global_.read_global(buffer(b).index, l.at, true);
}

// Bounds and races of one element in memory.
void DeviceRun::access_at_issue(Operation& o, int k, std::int64_t element, bool write, const Accessor& by) {
  const Operand& operand = intrinsic(o).operands[static_cast<std::size_t>(k)];
  const Location l = o.at[static_cast<std::size_t>(k)][static_cast<std::size_t>(element)];
  if (operand.kind == Operand::Kind::tensor_map) {
    if (l.at >= 0)
      race_global(maps_[static_cast<std::size_t>(o.code->actuals[static_cast<std::size_t>(k)].tensor_map)].buffer, l.at,
                  write ? Touch::write : Touch::read, by);
    return;
  }
  const int b = o.code->actuals[static_cast<std::size_t>(k)].buffer;
  if (operand.place == Place::shared) {
    shared_at(b, l.at, write ? "writes" : "reads");
    race_shared(block(o.block), b, l.at, write ? Touch::write : Touch::read, by);
  } else {
    if (l.at < 0 || l.at >= buffer(b).elements)
      fail(Kind::out_of_bounds,
           std::string(write ? "writes " : "reads ") + buffer(b).info->name + "[" + std::to_string(l.at) + "], outside its " +
               std::to_string(buffer(b).elements) + " elements",
           {o.code->number}, {buffer(b).info->name});
    race_global(b, l.at, write ? Touch::write : Touch::read, by);
  }
}

// ---- descriptions ----------------------------------------------------------------------------------------------------------

void DeviceRun::describe(Operation& o, bool at_issue) {
  IntrinsicInfo& info = intrinsics_[static_cast<std::size_t>(o.code->intrinsic)];
  const ir::Intrinsic& f = *info.f;
  if (!info.description) {
    info.description = std::make_shared<Description>();
    Description& d = *info.description;
    d.view.run = this;
    d.view.f = &f;
    d.fused = !f.reduce.empty() && ir::is(f.value, ir::Op::mul);
    if (d.fused) {
      d.left = Tape(ir::args_of(f.value)[0], d.slots, d.view, Select::lazy);
      d.right = Tape(ir::args_of(f.value)[1], d.slots, d.view, Select::lazy);
    } else {
      d.value = Tape(f.value, d.slots, d.view, Select::lazy);
    }
  }
  Description& d = *info.description;
  d.view.operation = &o;
  d.view.issue = at_issue;
  for (std::size_t k = 0; k < f.operands.size(); ++k)
    if (f.operands[k].kind == Operand::Kind::value) d.slots.set(f.operands[k].id, o.actuals[k].value);
  const Operand& to = f.operands[static_cast<std::size_t>(info.result)];
  o.result.clear();
  std::int64_t element = 0;
  for_each_index(to.shape, [&](std::span<const std::int64_t> at) {
    for (std::size_t k = 0; k < at.size(); ++k) d.slots.set(f.spatial.at(k), ir::int_value(ir::index_type, at[k]));
    if (f.reduce.empty()) {
      o.result.push_back(d.value.run());
    } else {
      Value sum = f.accumulates        ? load(o, info.result, element, at_issue)
                  : to.type.is_float() ? ir::float_value(to.type, 0)
                                       : ir::int_value(to.type, 0);
      for_each_index(f.reduce_extents, [&](std::span<const std::int64_t> r) {
        for (std::size_t k = 0; k < r.size(); ++k) d.slots.set(f.reduce[k], ir::int_value(ir::index_type, r[k]));
        if (d.fused) {
          const Value terms[3] = {d.left.run(), d.right.run(), sum};
          sum = *ir::evaluate(ir::Op::fma, to.type, terms);
        } else {
          const Value terms[2] = {sum, d.value.run()};
          sum = *ir::evaluate(ir::Op::add, to.type, terms);
        }
      });
      o.result.push_back(sum);
    }
    ++element;
  });
}

void DeviceRun::put(Operation& o, int k, std::int64_t element, const Value& v) {
  const Location l = o.at[static_cast<std::size_t>(k)][static_cast<std::size_t>(element)];
  const int copies = intrinsics_[static_cast<std::size_t>(o.code->intrinsic)].tiles[static_cast<std::size_t>(k)].copies;
  for (int copy = copies;; copy = (copy - 1) & copies) {
    enter(thread(l.thread + copy));
    write(o.code->actuals[static_cast<std::size_t>(k)].buffer, l.at, v);
    if (copy == 0) return;
  }
}

// ---- operations in flight --------------------------------------------------------------------------------------------------

Accessor DeviceRun::issuer(Operation& o, const Operand& operand, Clocks& scratch) {
  if (!options_.races) return {};
  Thread& t = thread(o.first);
  Accessor a;
  a.clocks = &t.clocks;
  a.async = operand.proxy == ir::Proxy::async;
  a.base = base_;
  a.epoch = {0, 0, o.code->number, o.first};
  switch (operand.completion) {
    case Completion::call:
      return generic(t, *o.code);
    case Completion::copy_group:
      a.epoch.agent = base_ + copy_agent(t);
      a.epoch.clock = t.copies.commits + 1;
      break;
    case Completion::bulk_group:
      a.epoch.agent = base_ + (operand.access == Operand::Access::read ? bulk_read_agent(t) : bulk_write_agent(t));
      a.epoch.clock = t.bulk.commits + 1;
      break;
    case Completion::product_group:
      if (scratch.all.empty()) {  // every thread of the group must know
        scratch = t.clocks;
        for (int k = o.first + 1; k < o.first + static_cast<int>(o.code->width); ++k) scratch.meet_with(thread(k).clocks);
      }
      a.clocks = &scratch;
      a.epoch.agent = base_ + product_agent(o.first);
      a.epoch.clock = products_[static_cast<std::size_t>(o.first / warpgroup_)].commits + 1;
      break;
    case Completion::barrier:
      a.epoch.agent = base_ + barrier_agent(o.block, o.barrier);
      a.epoch.clock = static_cast<std::uint32_t>(block(o.block).barriers[static_cast<std::size_t>(o.barrier)].phase + 1);
  }
  return a;
}

void DeviceRun::issue(const OperationPtr& p) {
  Operation& o = *p;
  const ir::Intrinsic& f = intrinsic(o);
  Thread& t = thread(o.first);
  Clocks scratch;
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    const Operand& operand = f.operands[k];
    if (operand.kind != Operand::Kind::barrier) continue;
    const BufferInfo& b = buffer(o.code->actuals[k].buffer);
    const std::int64_t at = o.actuals[k].addresses.front();
    if (at < 0 || at >= b.elements)
      fail(Kind::out_of_bounds, f.name + " names a barrier outside " + b.info->name, {o.code->number});
    o.barrier = b.index + static_cast<int>(at);
    MBarrier& m = block(o.block).barriers[static_cast<std::size_t>(o.barrier)];
    const std::string name = barrier_text(o.barrier);
    if (!m.initialized)
      fail(Kind::synchronization, "copies to " + name + ", which is not initialized", {o.code->number}, {name});
    if (options_.races && t.clocks.all[m.init.agent - base_] < m.init.clock)
      fail(Kind::race, "copies to " + name + ", initialized at " + line(m.init.code) + ": nothing orders them",
           {o.code->number, m.init.code}, {name});
    if (!m.fenced)
      fail(Kind::synchronization,
           "copies to " + name + ", whose initialization at " + line(m.init.code) +
               " was not fenced: the asynchronous proxy may not see it",
           {o.code->number, m.init.code}, {name});
  }
  if (!f.value.empty()) describe(o, true);
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    const Operand& operand = f.operands[k];
    const int operand_index = static_cast<int>(k);
    if (operand.kind == Operand::Kind::value || operand.kind == Operand::Kind::barrier) continue;
    if (operand.place == Place::registers) {
      take_registers(o, operand_index);
      continue;
    }
    const bool write = operand.access != Operand::Access::read;
    if (!write && !f.value.empty()) continue;  // the description has read it
    const Accessor by = issuer(o, operand, scratch);
    for (std::size_t e = 0; e < o.at[k].size(); ++e) {
      access_at_issue(o, operand_index, static_cast<std::int64_t>(e), write, by);
      if (!write) continue;
      const std::int64_t at = o.at[k][e].at;
      if (operand.kind == Operand::Kind::tensor_map) {
        if (at >= 0)
          global_.poison_global(buffer(maps_[static_cast<std::size_t>(o.code->actuals[k].tensor_map)].buffer).index, at);
        continue;
      }
      const int b = o.code->actuals[k].buffer;
      if (operand.place == Place::global) {
        global_.poison_global(buffer(b).index, at);
        continue;
      }
      const std::size_t from = shared_at(b, at, "writes");
      for (std::size_t x = from; x < from + static_cast<std::size_t>(buffer(b).size); ++x) {
        std::uint32_t& owner = block(o.block).owner[x];
        if (owner & in_flight) {
          const int other = operations_[owner & ~in_flight]->code->number;
          fail(Kind::in_flight,
               "copies to " + buffer(b).info->name + "[" + std::to_string(at) + "], which the copy at " + line(other) +
                   " will write that has not been waited for",
               {o.code->number, other}, {buffer(b).info->name});
        }
        owner = in_flight | static_cast<std::uint32_t>(o.number);
      }
    }
  }
  switch (intrinsics_[static_cast<std::size_t>(o.code->intrinsic)].completion) {
    case Completion::copy_group:
      t.copies.open.push_back(p);
      break;
    case Completion::bulk_group:
      t.bulk.open.push_back(p);
      break;
    case Completion::product_group:
      products_[static_cast<std::size_t>(o.first / warpgroup_)].open.push_back(p);
      break;
    case Completion::barrier: {
      MBarrier& m = block(o.block).barriers[static_cast<std::size_t>(o.barrier)];
      m.queue.push_back(p);
      m.queued += o.bytes;
      break;
    }
    case Completion::call:
      throw InternalError("the intrinsic " + f.name + " is asynchronous, and its result is not");
  }
}

void DeviceRun::take_registers(Operation& o, int k) {
  const Operand& operand = intrinsic(o).operands[static_cast<std::size_t>(k)];
  const bool write = operand.access != Operand::Access::read;
  const int b = o.code->actuals[static_cast<std::size_t>(k)].buffer;
  const std::string& name = buffer(b).info->name;
  for (const Location& l : o.at[static_cast<std::size_t>(k)]) {
    Thread& t = thread(l.thread);
    Register& r = reg(t, b, l.at, write ? "writes" : "reads");
    const auto complain = [&](Kind kind, const char* why) {
      fail(kind, "uses " + name + "[" + std::to_string(l.at) + "] of " + who(l.thread) + ", " + why, {o.code->number}, {name});
    };
    if (r.touched) complain(Kind::synchronization, "which was accessed with no fence of products since");
    if (r.product >= 0 && (!write || r.product != o.code->intrinsic))
      complain(Kind::synchronization, "which a product of another kind wrote with no fence of products since");
    if (r.readers > 0 || (!write && r.writers > 0)) complain(Kind::in_flight, "which a product in flight uses");
    r.operation = o.number;
    if (write) {
      ++r.writers;
      r.product = o.code->intrinsic;
    } else {
      ++r.readers;
    }
  }
}

void DeviceRun::sample(Operation& o) {
  const Code* waiting = code_now_;
  Thread* waiter = current_;
  code_now_ = o.code;
  const Native* native = Native::find(intrinsic(o).device);
  if (native)
    native->sample(*this, o);
  else
    describe(o, false);
  o.sampled = true;
  code_now_ = waiting;
  if (waiter) enter(*waiter);
}

void DeviceRun::land(Operation& o) {
  const IntrinsicInfo& info = intrinsics_[static_cast<std::size_t>(o.code->intrinsic)];
  const Native* native = Native::find(info.f->device);
  if (native && native->land) {
    native->land(*this, o);
  } else {
    const auto k = static_cast<std::size_t>(info.result);
    const Operand& to = info.f->operands[k];
    const int b = o.code->actuals[k].buffer;
    Block& shared = block(o.block);
    for (std::size_t e = 0; e < o.at[k].size(); ++e) {
      const Location& l = o.at[k][e];
      if (to.place == Place::registers) {
        Register& r = thread(l.thread).registers[static_cast<std::size_t>(buffer(b).index)][static_cast<std::size_t>(l.at)];
        r.value = o.result[e];
        r.defined = true;
        --r.writers;
      } else if (to.place == Place::shared) {
        const std::size_t from = shared_at(b, l.at, "writes");
        for (std::size_t x = from; x < from + static_cast<std::size_t>(buffer(b).size); ++x) {
          if (shared.owner[x] != (in_flight | static_cast<std::uint32_t>(o.number)))
            throw InternalError("a copy lands in bytes that were taken from it");
          shared.owner[x] = static_cast<std::uint32_t>(b) + 1;
        }
        ir::write_value(shared.bytes.data() + from, o.result[e]);
      } else {
        global_.write_global(buffer(b).index, l.at, o.result[e]);
      }
    }
  }
  for (std::size_t k = 0; k < o.at.size(); ++k) {
    const Operand& operand = info.f->operands[k];
    if (operand.place != Place::registers || operand.access != Operand::Access::read || operand.kind != Operand::Kind::tile)
      continue;
    for (const Location& l : o.at[k])
      --thread(l.thread)
            .registers[static_cast<std::size_t>(buffer(o.code->actuals[k].buffer).index)][static_cast<std::size_t>(l.at)]
            .readers;
  }
  o.result = {};
  o.at = {};
}

}  // namespace ashlar::interp::device
