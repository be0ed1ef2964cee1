// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers, shared and global memory as threads see them: bounds, what was written by whom, what is in flight, races.
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "interp/device_run.h"

namespace ashlar::interp::device {

using ir::Storage;
using Kind = RunError::Kind;

int DeviceRun::resolve(Id id, const char* name) {
  const auto it = buffer_of_.find(id);
  if (it == buffer_of_.end())
    throw InternalError(std::string("the launch ") + launch_.name + " has no buffer " + (name ? name : ""));
  return it->second;
}

Value DeviceRun::read(int b, const std::int64_t* index, int rank) {
  if (rank != 1) throw InternalError("a lowered load has one address");
  const BufferInfo& info = buffer(b);
  if (!current_) throw InternalError("a bound of the launch reads " + info.info->name);
  Thread& t = *current_;
  switch (info.info->storage) {
    case Storage::registers:
    case Storage::stack:
      return read_register(t, b, index[0]);
    case Storage::shared:
      if (options_.races && !lane_idle_) race_shared(block(t.block), b, index[0], Touch::read, generic(t, *code_now_));
      return read_shared(block(t.block), b, index[0], !lane_idle_);
    case Storage::argument:
    case Storage::workspace:
    case Storage::constant:
      if (!lane_idle_) race_global(b, index[0], Touch::read, generic(t, *code_now_));
      return global_.read_global(info.index, index[0], !lane_idle_);
    case Storage::barrier:
      break;
  }
  throw InternalError("a load of a barrier");
}

void DeviceRun::write(int b, std::int64_t at, const Value& v) {
  const BufferInfo& info = buffer(b);
  Thread& t = *current_;
  if (v.type != info.info->type) throw InternalError("kernel: a store of " + ir::text(v.type) + " into " + info.info->name);
  switch (info.info->storage) {
    case Storage::registers:
    case Storage::stack:
      write_register(t, b, at, v);
      return;
    case Storage::shared:
      if (options_.races) race_shared(block(t.block), b, at, Touch::write, generic(t, *code_now_));
      write_shared(block(t.block), b, at, v);
      return;
    case Storage::argument:
    case Storage::workspace:
      race_global(b, at, Touch::write, generic(t, *code_now_));
      global_.write_global(info.index, at, v);
      return;
    case Storage::constant:
    case Storage::barrier:
      break;
  }
  throw InternalError("a store into a barrier or a constant");
}

void DeviceRun::update(int b, std::int64_t at, ir::Op op, const Value& v) {
  const BufferInfo& info = buffer(b);
  Thread& t = *current_;
  if (v.type != info.info->type) throw InternalError("kernel: a store of " + ir::text(v.type) + " into " + info.info->name);
  const auto combined = [&](const Value& old) {
    const Value args[] = {old, v};
    const auto result = ir::evaluate(op, v.type, args);
    if (!result) throw InternalError("kernel: an atomic store without a value");
    return *result;
  };
  if (info.info->storage == Storage::shared) {
    if (options_.races) race_shared(block(t.block), b, at, Touch::update, generic(t, *code_now_));
    write_shared(block(t.block), b, at, combined(read_shared(block(t.block), b, at, true)));
    return;
  }
  if (info.info->storage != Storage::argument && info.info->storage != Storage::workspace)
    throw InternalError("kernel: an atomic store into " + info.info->name + ", a thread's own");
  race_global(b, at, Touch::update, generic(t, *code_now_));
  global_.write_global(info.index, at, combined(global_.read_global(info.index, at, true)));
}

// ---- registers -------------------------------------------------------------------------------------------------------------

const BufferInfo& DeviceRun::inside(int b, std::int64_t at, const char* verb) const {
  const BufferInfo& info = buffer(b);
  if (at < 0 || at >= info.elements)
    fail(Kind::out_of_bounds,
         std::string(verb) + " " + info.info->name + "[" + std::to_string(at) + "], outside its " +
             std::to_string(info.elements) + " elements",
         {code_now_->number}, {info.info->name});
  return info;
}

Register& DeviceRun::reg(Thread& t, int b, std::int64_t at, const char* verb) {
  const BufferInfo& info = inside(b, at, verb);
  return t.registers[static_cast<std::size_t>(info.index)][static_cast<std::size_t>(at)];
}

Value DeviceRun::read_register(Thread& t, int b, std::int64_t at) {
  Register& r = reg(t, b, at, "reads");
  const std::string& name = buffer(b).info->name;
  if (r.writers > 0)
    fail(Kind::in_flight,
         "reads " + name + "[" + std::to_string(at) + "], which a product will write that has not been waited for",
         {code_now_->number, operations_[static_cast<std::size_t>(r.operation)]->code->number}, {name});
  if (!r.defined && !lane_idle_)
    fail(Kind::uninitialized, "reads " + name + "[" + std::to_string(at) + "], which was not written", {code_now_->number},
         {name});
  r.touched = true;
  if (!r.defined) r.value.type = buffer(b).info->type;
  return r.value;
}

void DeviceRun::write_register(Thread& t, int b, std::int64_t at, const Value& v) {
  Register& r = reg(t, b, at, "writes");
  const std::string& name = buffer(b).info->name;
  if (r.writers > 0 || r.readers > 0)
    fail(Kind::in_flight, "writes " + name + "[" + std::to_string(at) + "], which a product uses that has not been waited for",
         {code_now_->number, operations_[static_cast<std::size_t>(r.operation)]->code->number}, {name});
  r.value = v;
  r.defined = r.touched = true;
}

// ---- shared memory ---------------------------------------------------------------------------------------------------------

std::size_t DeviceRun::shared_at(int b, std::int64_t at, const char* verb) const {
  const BufferInfo& info = inside(b, at, verb);
  return static_cast<std::size_t>(info.offset + at * info.size);
}

Value DeviceRun::read_shared(Block& k, int b, std::int64_t at, bool used) {
  const std::size_t from = shared_at(b, at, "reads");
  const BufferInfo& info = buffer(b);
  if (used)
    for (std::size_t x = from; x < from + static_cast<std::size_t>(info.size); ++x) {
      const std::uint32_t owner = k.owner[x];
      if (owner == static_cast<std::uint32_t>(b) + 1) continue;
      const std::string what = "reads " + info.info->name + "[" + std::to_string(at) + "], ";
      if (owner & in_flight) {
        const int copy = operations_[owner & ~in_flight]->code->number;
        fail(Kind::in_flight, what + "which the copy at " + line(copy) + " will write that has not been waited for",
             {code_now_->number, copy}, {info.info->name});
      }
      fail(Kind::uninitialized,
           what + (owner == 0 ? "which was not written"
                              : "whose bytes " + buffer(static_cast<int>(owner) - 1).info->name + " holds"),
           {code_now_->number}, {info.info->name});
    }
  return ir::read_value(info.info->type, k.bytes.data() + from);
}

void DeviceRun::write_shared(Block& k, int b, std::int64_t at, const Value& v) {
  const std::size_t from = shared_at(b, at, "writes");
  const BufferInfo& info = buffer(b);
  for (std::size_t x = from; x < from + static_cast<std::size_t>(info.size); ++x) {
    if (k.owner[x] & in_flight) {
      const int copy = operations_[k.owner[x] & ~in_flight]->code->number;
      fail(Kind::in_flight,
           "writes " + info.info->name + "[" + std::to_string(at) + "], which the copy at " + line(copy) +
               " will write that has not been waited for",
           {code_now_->number, copy}, {info.info->name});
    }
    k.owner[x] = static_cast<std::uint32_t>(b) + 1;
  }
  ir::write_value(k.bytes.data() + from, v);
}

// ---- races -----------------------------------------------------------------------------------------------------------------

Accessor DeviceRun::generic(Thread& t, const Code& c) const {
  if (!options_.races) return {};
  const auto agent = static_cast<std::uint32_t>(t.number);
  return {{base_ + agent, t.clocks.all[agent], c.number, t.number}, &t.clocks, false, base_};
}

void DeviceRun::race_shared(Block& k, int b, std::int64_t at, Touch how, const Accessor& by) {
  if (!options_.races) return;
  const std::size_t from = shared_at(b, at, how == Touch::read ? "reads" : "writes");
  for (std::size_t x = from; x < from + static_cast<std::size_t>(buffer(b).size); ++x)
    if (const auto conflict = k.shadow.access(x, how, by)) report_race(*conflict, b, at, how, by);
}

void DeviceRun::race_global(int b, std::int64_t at, Touch how, const Accessor& by) {
  if (!options_.races) return;
  const auto shadow = global_shadows_.find(b);
  if (shadow == global_shadows_.end() || at < 0 || at >= buffer(b).elements) return;  // not written; or reported by the access
  if (const auto conflict = shadow->second.access(static_cast<std::size_t>(at), how, by))
    report_race(*conflict, b, at, how, by);
}

void DeviceRun::report_race(const Conflict& c, int b, std::int64_t at, Touch how, const Accessor& by) const {
  static constexpr const char* verb[] = {"reads", "writes", "atomically updates"};
  static constexpr const char* did[] = {" read", " wrote", " atomically updated"};
  const std::string& name = buffer(b).info->name;
  const bool other_cluster = c.earlier.agent < base_ || c.earlier.agent >= base_ + static_cast<std::uint32_t>(agents_);
  std::string text = std::string(by.async ? "asynchronously " : "") + verb[static_cast<int>(how)] + " " + name + "[" +
                     std::to_string(at) + "], which ";
  text += other_cluster ? "a thread of another cluster" : who(c.earlier.thread);
  text += std::string(did[static_cast<int>(c.how)]) + " at " + line(c.earlier.code);
  text += c.fence_missing ? ": no fence between proxies orders them" : ": nothing orders them";
  fail(Kind::race, text, {by.epoch.code, c.earlier.code}, {name});
}

}  // namespace ashlar::interp::device
