// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interp/external.h"

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"

namespace ashlar::interp {

ExternalCall::ExternalCall(const ir::Function& f, const std::string& where) : function_(f), where_(where) {
  if (!f.compute)
    throw RunError(RunError::Kind::arguments, where + " is computed by " + f.symbol +
                                                  ", which was declared by its symbol alone: it is not in this process");
}

ExternalCall::Region& ExternalCall::add(Type type, const IndexBox& box) {
  Region r{type, box, {}, std::vector<std::int64_t>(box.extent.size()), {}};
  for (std::int64_t& e : r.box.extent) e = std::max<std::int64_t>(e, 0);
  std::int64_t stride = 1;
  for (std::size_t d = box.extent.size(); d-- > 0; stride *= r.box.extent[d]) r.strides[d] = stride;
  // what the function leaves out has a value that nobody would compute
  r.bytes.assign(static_cast<std::size_t>(r.box.elements() * type.bytes()), std::byte{0xA5});
  regions_.push_back(std::move(r));
  return regions_.back();
}

void ExternalCall::reads(Type type, const IndexBox& box, const Read& read) {
  Region& r = add(type, box);
  std::byte* to = r.bytes.data();
  std::vector<std::int64_t> at(box.begin.size());
  for_each_index(r.box.extent, [&](std::span<const std::int64_t> offset) {
    for (std::size_t d = 0; d < at.size(); ++d) at[d] = box.begin[d] + offset[d];
    ir::write_value(to, read(at));
    to += type.bytes();
  });
}

void ExternalCall::writes(Type type, const IndexBox& box, Write write) { add(type, box).write = std::move(write); }

void ExternalCall::run() {
  std::vector<ashlar_tensor> tensors(regions_.size());
  std::vector<std::int64_t> begin;
  for (std::size_t k = 0; k < regions_.size(); ++k) {
    Region& r = regions_[k];
    const Type t = r.type;
    ashlar_tensor& a = tensors[k];
    a.data = r.bytes.data(), a.device_type = 1, a.ndim = static_cast<std::int32_t>(r.box.extent.size());
    const ir::TensorCode code = ir::tensor_code(t);
    a.type_code = code.code, a.type_bits = code.bits, a.type_lanes = 1;
    a.shape = r.box.extent.data(), a.strides = r.strides.data();
    begin.insert(begin.end(), r.box.begin.begin(), r.box.begin.end());
  }
  if (const int rc = function_.compute(tensors.data(), begin.data()))
    throw RunError(RunError::Kind::broken_promise, where_ + ": " + function_.symbol + " returned " + std::to_string(rc));
  for (Region& r : regions_) {
    if (!r.write) continue;
    const std::byte* from = r.bytes.data();
    std::vector<std::int64_t> at(r.box.begin.size());
    for_each_index(r.box.extent, [&](std::span<const std::int64_t> offset) {
      for (std::size_t d = 0; d < at.size(); ++d) at[d] = r.box.begin[d] + offset[d];
      r.write(at, ir::read_value(r.type, from));
      from += r.type.bytes();
    });
  }
}

ExternalStage::ExternalStage(const ir::Stage& stage, Slots& slots, Memory& memory) : function_(*ir::computed_by(stage.values)) {
  for (const Expr& v : stage.values) types_.push_back(v.type());
  for (const ir::IterVar& v : stage.iters) iters_.push_back(slots.slot(v.id));
  for (const ir::Needed& n : ir::needed_by(stage.values.front())) {
    const ir::Node& load = *n.first.node();
    Read r{memory.resolve(load.id, load.name), load.type, {}, {}, {}};
    if (!n.condition.empty()) r.condition = Tape(n.condition, slots, memory, Select::lazy);
    for (const Expr& e : ir::args_of(n.first)) r.first.emplace_back(e, slots, memory, Select::lazy);
    for (const Expr& e : ir::args_of(n.last)) r.last.emplace_back(e, slots, memory, Select::lazy);
    reads_.push_back(std::move(r));
  }
}

void ExternalStage::run(const IndexBox& box, Slots& slots, Memory& memory, const Write& write) {
  ExternalCall call(function_, memory.where());
  for (Read& r : reads_) {
    // The hull of what is needed; where nothing is, of the ranges as they are, so that each dimension has its extent.
    const std::size_t rank = r.first.size();
    std::vector<std::int64_t> first[2], last[2];
    bool any = false;
    for (int k : {0, 1}) first[k].assign(rank, INT64_MAX), last[k].assign(rank, INT64_MIN);
    for_each_index(box.extent, [&](std::span<const std::int64_t> at) {
      for (std::size_t d = 0; d < at.size(); ++d) slots.set_index(iters_[d], box.begin[d] + at[d]);
      const bool needs = r.condition.empty() || r.condition.run().i;
      any = any || needs;
      for (std::size_t d = 0; d < rank; ++d) {
        first[needs][d] = std::min(first[needs][d], r.first[d].run_index());
        last[needs][d] = std::max(last[needs][d], r.last[d].run_index());
      }
    });
    IndexBox region{first[any], std::vector<std::int64_t>(rank)};
    for (std::size_t d = 0; d < rank; ++d) region.extent[d] = std::max<std::int64_t>(last[any][d] - first[any][d] + 1, 0);
    if (!any && region.elements() > 0) region.extent.assign(rank, 0);
    call.reads(r.type, region,
               [&](std::span<const std::int64_t> at) { return memory.read(r.place, at.data(), static_cast<int>(at.size())); });
  }
  for (int slot : iters_) slots.set_slot(slot, {});
  for (std::size_t c = 0; c < types_.size(); ++c)
    call.writes(types_[c], box, [&write, c](std::span<const std::int64_t> at, const ir::Value& v) { write(c, at, v); });
  call.run();
}

}  // namespace ashlar::interp
