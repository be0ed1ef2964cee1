// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements: loops, guards, lets, synchronization and the calls that a subgroup carries.
#include <algorithm>
#include <array>

#include <ashlar/ir/refusal.h>

#include "codegen/spirv/emitter.h"

namespace ashlar::codegen::spirv {

namespace {

using Sync = ir::Sync::Kind;

constexpr std::int64_t unrolled_by_drivers = 4;  // iterations

// What has no counterpart in Vulkan's SPIR-V, in the words of docs/parallel.md.
const char* foreign(Sync kind) {
  switch (kind) {
    case Sync::named:
    case Sync::named_arrive:
      return "a named barrier";
    case Sync::cluster_arrive:
    case Sync::cluster_wait:
      return "a cluster barrier";
    case Sync::mbarrier_init:
    case Sync::mbarrier_arrive:
    case Sync::mbarrier_expect:
    case Sync::mbarrier_wait:
      return "an mbarrier";
    case Sync::commit:
    case Sync::wait:
    case Sync::wait_read:
      return "a group of asynchronous operations";
    case Sync::fence_init:
    case Sync::fence_proxy:
    case Sync::fence_product:
      return "a fence of the asynchronous proxy";
    default:
      return nullptr;
  }
}

struct Shuffle {
  ir::DeviceOp device;
  spv::Op op;
  spv::Capability capability;
};
constexpr std::array kShuffles = {
    Shuffle{ir::DeviceOp::shuffle_xor, spv::OpGroupNonUniformShuffleXor, spv::CapabilityGroupNonUniformShuffle},
    Shuffle{ir::DeviceOp::shuffle_idx, spv::OpGroupNonUniformShuffle, spv::CapabilityGroupNonUniformShuffle},
    Shuffle{ir::DeviceOp::shuffle_up, spv::OpGroupNonUniformShuffleUp, spv::CapabilityGroupNonUniformShuffleRelative},
    Shuffle{ir::DeviceOp::shuffle_down, spv::OpGroupNonUniformShuffleDown, spv::CapabilityGroupNonUniformShuffleRelative},
};

}  // namespace

void Emitter::statements(const std::vector<ir::KStmt>& list) {
  for (const ir::KStmt& s : list) statement(s);
}

void Emitter::for_loop(const ir::KFor& s) {
  if (s.kind != ir::LoopKind::serial && s.kind != ir::LoopKind::parallel)
    throw InternalError("spirv: loop " + s.name + " of kernel " + k_.name + " was not vectorized or unrolled");
  std::int64_t extent = -1;
  const bool constant = ir::is_int(s.extent, &extent);
  if (constant && extent <= 0) return;
  const Piece begin = scalar(s.begin);
  if (constant && extent == 1) {
    bind(s.var, {begin.type, {begin}}, known_multiple(s.begin));
    if (const int depth = depth_of(s.begin); depth > 0) depths_[s.var] = depth;
    statements(s.body);
  } else {
    // Between numbers that fit, it counts in 32 bits, which devices compare at once.
    std::int64_t first = 0;
    const bool counts = constant && ir::is_int(s.begin, &first) && first >= 0 && first + extent <= INT32_MAX;
    const Type type = counts ? i32 : begin.type;
    const Ref from = counts ? m.integer(i32, first) : begin.id;
    const Ref end = counts ? m.integer(i32, first + extent) : math.binary(ir::Op::add, begin, scalar(s.extent)).id;
    const bool short_one = counts && extent <= unrolled_by_drivers;  // its variable is a number in the end
    if (!short_one) depths_[s.var] = ++loops_;
    c.loop(type, from, end, [&](Ref i) {
      bind(s.var, {begin.type, {math.convert(begin.type, {i, type})}});
      statements(s.body);
    });
    if (!short_one) --loops_;
  }
  depths_.erase(s.var);
  vars_.erase(s.var);
  multiples_.erase(s.var);
}

void Emitter::let(const ir::KLet& s) {
  Value v = expr(s.value);
  const bool one_index = v.type.is_index() && v.type.lanes == 1;
  bind(s.var, std::move(v), one_index ? known_multiple(s.value) : 1);
  if (const int depth = depth_of(s.value); depth > 0) depths_[s.var] = depth;
  statements(s.body);
  vars_.erase(s.var);
  multiples_.erase(s.var);
  depths_.erase(s.var);
}

void Emitter::statement(const ir::KStmt& s) {
  const Module::Line around = c.at(), line = m.line(s.where);
  if (line.file) c.at(line);
  s.visit([&](const ir::KFor& n) { for_loop(n); },
          [&](const ir::KIf& n) {
            const Ref condition = scalar(n.condition).id;
            if (n.otherwise.empty())
              c.when(condition, [&] { statements(n.body); });
            else
              c.choose(condition, [&] { statements(n.body); }, [&] { statements(n.otherwise); });
          },
          [&](const ir::KLet& n) { let(n); }, [&](const ir::KStore& n) { store(n); },
          [](const ir::KPrefetch&) {},  // asks for a cache line, which a shader cannot
          [&](const ir::KSync& n) { synchronize(n); }, [&](const ir::KCall& n) { call(n); },
          [](const ir::KLaunch&) { throw InternalError("spirv: a launch inside a launch"); });
  c.at(around);
}

void Emitter::synchronize(const ir::Sync& s) {
  auto number = [&](Word v) { return m.integer(u32, v); };
  constexpr Word order = spv::MemorySemanticsAcquireReleaseMask, shared = spv::MemorySemanticsWorkgroupMemoryMask,
                 device = spv::MemorySemanticsUniformMemoryMask;
  constexpr Word exchanged = Word{spv::MemorySemanticsMakeAvailableMask} | Word{spv::MemorySemanticsMakeVisibleMask};
  const Word seen = m.vulkan_memory ? exchanged : Word{0};
  const Word own = order | shared | seen | (orders_device_memory ? device : 0);
  switch (s.kind) {
    case Sync::block:
      c.effect(spv::OpControlBarrier, {number(spv::ScopeWorkgroup), number(spv::ScopeWorkgroup), number(own)});
      return;
    case Sync::warp:
      uses_subgroups = true;
      m.capability(spv::CapabilityGroupNonUniform);
      c.effect(spv::OpControlBarrier, {number(spv::ScopeSubgroup), number(spv::ScopeSubgroup), number(own)});
      return;
    case Sync::fence_device:
      c.effect(spv::OpMemoryBarrier, {number(m.device_scope()), number(order | device | seen)});
      return;
    case Sync::registers:
      return;  // no effect on values
    default:
      break;
  }
  refuse("vulkan", "block and warp barriers, which are all that Vulkan has",
         std::string(foreign(s.kind)) + " in kernel `" + k_.name + "`", Where{});
}

void Emitter::call(const ir::Call& call) {
  const ir::Intrinsic& f = k_.intrinsics.at(call.intrinsic);
  if (f.is_users()) return call_of_user(call, f);
  const auto known = std::find_if(kShuffles.begin(), kShuffles.end(), [&](const Shuffle& s) { return s.device == f.device; });
  if (known == kShuffles.end())
    refuse("vulkan", "shuffles within a warp, the only intrinsics beside users' that Vulkan's SPIR-V carries",
           "`" + f.name + "` in kernel `" + k_.name + "`", Where{});
  uses_subgroups = true;
  m.capability(known->capability);
  m.capability(spv::CapabilityGroupNonUniform);
  memo_.clear();
  kept_.clear();
  const ir::Call::Actual &to = call.actuals[0], &from = call.actuals[1], &by = call.actuals[2];
  const Type t = k_.buffers.at(from.buffer).type;
  const Piece value = load_at(from.buffer, t, from.address, {}).pieces[0];
  const Piece selector = math.convert(u32, emit(by.address).pieces[0]);
  Piece inside;  // whether there is such a lane; where not, the result is the lane's own value
  if (known->op == spv::OpGroupNonUniformShuffleUp || known->op == spv::OpGroupNonUniformShuffleDown) {
    const Piece lane{c.op(spv::OpLoad, m.type(u32), {m.built_in(spv::BuiltInSubgroupLocalInvocationId, u32)}), u32};
    const Piece size{c.op(spv::OpLoad, m.type(u32), {m.built_in(spv::BuiltInSubgroupSize, u32)}), u32};
    inside = known->op == spv::OpGroupNonUniformShuffleUp
                 ? math.comparison(ir::Op::ge, lane, selector)
                 : math.comparison(ir::Op::lt, math.binary(ir::Op::add, lane, selector), size);
  }
  const Ref scope = m.integer(u32, spv::ScopeSubgroup);
  auto moved = [&](Piece v) {
    const Piece r{c.op(known->op, m.type(v.type), {scope, v.id, selector.id}), v.type};
    return inside.id ? math.select(inside, r, v) : r;
  };
  // Subgroup operations on integers of other than 32 bits are an extension: their bits travel as words.
  const Type physical = m.registers.physical(t);
  Piece result{value.id, physical};
  if (physical.bits == 16 && physical.is_float()) {
    const Piece bits = math.bitcast(u16, {value.id, physical});
    result = math.bitcast(physical, math.convert(u16, moved(math.convert(u32, bits))));
  } else if (physical.is_float() || physical.bits == 32) {
    result = moved(result);
  } else if (physical.bits == 64) {
    const Piece whole{value.id, u64}, half = math.integer(u64, 32);
    const Piece low = moved(math.convert(u32, whole));
    const Piece high = moved(math.convert(u32, math.binary(ir::Op::shr, whole, half)));
    result = math.binary(ir::Op::bit_or, math.convert(u64, low), math.binary(ir::Op::shl, math.convert(u64, high), half));
  } else {
    const Type narrow = physical.is_bool() ? bool_ : physical.bits == 16 ? u16 : u8;
    result = math.convert(narrow, moved(math.convert(u32, Piece{value.id, narrow})));
  }
  store_at(to.buffer, to.address, Value{t, {Piece{result.id, t}}}, {});
}

}  // namespace ashlar::codegen::spirv
