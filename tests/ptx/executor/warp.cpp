// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/warp.h"

#include <cstring>

#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {

const SpecialRow* special_named(std::string_view name) {
  using S = Special;
  static constexpr SpecialRow rows[] = {{"%tid.x", S::kTidX, 32},
                                        {"%tid.y", S::kTidY, 32},
                                        {"%tid.z", S::kTidZ, 32},
                                        {"%ntid.x", S::kNtidX, 32},
                                        {"%ntid.y", S::kNtidY, 32},
                                        {"%ntid.z", S::kNtidZ, 32},
                                        {"%ctaid.x", S::kCtaX, 32},
                                        {"%ctaid.y", S::kCtaY, 32},
                                        {"%ctaid.z", S::kCtaZ, 32},
                                        {"%nctaid.x", S::kNctaX, 32},
                                        {"%nctaid.y", S::kNctaY, 32},
                                        {"%nctaid.z", S::kNctaZ, 32},
                                        {"%laneid", S::kLane, 32},
                                        {"%warpid", S::kWarp, 32},
                                        {"%nwarpid", S::kWarps, 32},
                                        {"%smid", S::kSm, 32},
                                        {"%nsmid", S::kSms, 32},
                                        {"%gridid", S::kGrid, 64},
                                        {"%lanemask_eq", S::kMaskEq, 32},
                                        {"%lanemask_le", S::kMaskLe, 32},
                                        {"%lanemask_lt", S::kMaskLt, 32},
                                        {"%lanemask_ge", S::kMaskGe, 32},
                                        {"%lanemask_gt", S::kMaskGt, 32},
                                        {"%clock", S::kClock, 32},
                                        {"%clock_hi", S::kClockHigh, 32},
                                        {"%clock64", S::kClock64, 64},
                                        {"%globaltimer", S::kTimer, 64},
                                        {"%globaltimer_lo", S::kTimerLow, 32},
                                        {"%globaltimer_hi", S::kTimerHigh, 32},
                                        {"%clusterid.x", S::kClusterId, 32},
                                        {"%clusterid.y", S::kClusterIdY, 32},
                                        {"%clusterid.z", S::kClusterIdZ, 32},
                                        {"%nclusterid.x", S::kNcluster, 32},
                                        {"%nclusterid.y", S::kNclusterY, 32},
                                        {"%nclusterid.z", S::kNclusterZ, 32},
                                        {"%cluster_ctaid.x", S::kClusterCta, 32},
                                        {"%cluster_ctaid.y", S::kClusterCtaY, 32},
                                        {"%cluster_ctaid.z", S::kClusterCtaZ, 32},
                                        {"%cluster_nctaid.x", S::kClusterNcta, 32},
                                        {"%cluster_nctaid.y", S::kClusterNctaY, 32},
                                        {"%cluster_nctaid.z", S::kClusterNctaZ, 32},
                                        {"%cluster_ctarank", S::kClusterRank, 32},
                                        {"%cluster_nctarank", S::kClusterRanks, 32},
                                        {"%dynamic_smem_size", S::kDynamicShared, 32},
                                        {"%total_smem_size", S::kTotalShared, 32},
                                        {"%is_explicit_cluster", S::kExplicitCluster, 1}};
  for (const SpecialRow& r : rows)
    if (name == r.name) return &r;
  return nullptr;
}

u32 Warp::pred(const Operand& o) const {
  u32 value = 0;
  if (o.kind == Operand::kPred)
    value = p[o.index];
  else if (o.kind == Operand::kImm)
    value = run->loaded.pool[o.index][0] != 0 ? ~0u : 0;
  else if (o.kind == Operand::kSpecial)
    value = specials[std::size_t(o.index) * 32] != 0 ? ~0u : 0;
  return o.negate ? ~value : value;
}

const u64* Warp::other(const Operand& o, int which) {
  u64* to = scratch[which].data();
  switch (o.kind) {
    case Operand::kImm:
      return run->loaded.pool[o.index].data();
    case Operand::kSpecial: {
      u64* at = specials.data() + std::size_t(o.index) * 32;
      const u64 now = run->time;
      switch (static_cast<Special>(o.index)) {
        case Special::kClock:
        case Special::kClock64:
        case Special::kTimer:
        case Special::kTimerLow:
          std::fill_n(at, 32, now);
          break;
        default:
          break;
      }
      return at;
    }
    case Operand::kLocal: {
      const u64 value = frame->local + static_cast<u64>(o.offset) + (o.space == Space::kParam ? kLocalWindow : 0);
      std::fill_n(to, 32, value);
      return to;
    }
    case Operand::kFunction:
      std::fill_n(to, 32, kCodeWindow | o.index);
      return to;
    default:
      std::fill_n(to, 32, u64(0));
      return to;
  }
}

u32 Warp::known_of(const Operand& o) const {
  switch (o.kind) {
    case Operand::kReg:
      return k[o.index];
    case Operand::kPred:
      return pk[o.index];
    case Operand::kVector:
    case Operand::kList:
    case Operand::kAddress: {
      u32 all_parts = ~0u;
      for (const Operand& part : o.parts) all_parts &= known_of(part);
      return all_parts;
    }
    default:
      return ~0u;
  }
}

void Warp::know(const Operand& o, u32 mask, u32 known_lanes) {
  if (o.kind == Operand::kReg) {
    k[o.index] = (k[o.index] & ~mask) | (known_lanes & mask);
    if ((mask & ~known_lanes) != 0 && !partial.empty()) {
      const auto at = partial.find(frame->slots + o.index);
      if (at != partial.end()) each(mask & ~known_lanes, [&](int l) { at->second[static_cast<std::size_t>(l)] = ~u64(0); });
    }
  } else if (o.kind == Operand::kPred) {
    pk[o.index] = (pk[o.index] & ~mask) | (known_lanes & mask);
  } else if (o.kind == Operand::kVector) {
    for (const Operand& part : o.parts) know(part, mask, known_lanes);
  }
}

namespace {

std::string triple(const std::array<u32, 3>& t) {
  return "(" + std::to_string(t[0]) + ", " + std::to_string(t[1]) + ", " + std::to_string(t[2]) + ")";
}

const Operand* unknown_register(const Warp& w, const Operand& o, u32 bit) {
  if (o.kind == Operand::kReg || o.kind == Operand::kPred) return (w.known_of(o) & bit) == 0 ? &o : nullptr;
  for (const Operand& part : o.parts)
    if (const Operand* found = unknown_register(w, part, bit)) return found;
  return nullptr;
}

}  // namespace

void Warp::fault(FaultKind kind, const Instr& i, int lane, const std::string& what, u64 address) const {
  const Image& m = run->image;
  const std::array<u32, 3>& e = run->grid.block;
  const u32 t = thread(lane);
  const std::array<u32, 3> id = {t % e[0], t / e[0] % e[1], t / e[0] / e[1]};
  std::string text = std::string(name_of(kind)) + " in " + run->function.name + ": " + what + "\n  line " +
                     std::to_string(i.line) + ": " + m.instruction(i) + "\n";
  const auto file = m.files.find(i.source_file);
  if (i.source_file != 0 && file != m.files.end())
    text += "  source " + file->second + ":" + std::to_string(i.source_line) + "\n";
  text += "  thread " + triple(id) + ", lane " + std::to_string(lane) + " of warp " + std::to_string(number) + ", block " +
          triple(block->id);
  Fault f(text);
  f.kind = kind, f.kernel = run->function.name, f.instruction = m.instruction(i), f.line = i.line, f.thread = id,
  f.block = block->id;
  f.address = address;
  if (i.source_file != 0 && file != m.files.end())
    f.source_file = file->second, f.source_line = static_cast<int>(i.source_line);
  throw f;
}

void Warp::need_known(const Instr& i, const Operand& o, u32 mask, const char* what) const {
  const u32 unknown = mask & ~known_of(o);
  if (unknown == 0 || !run->state.checks.unwritten) return;
  const int lane = first_lane(unknown);
  std::string text = std::string(what) + " depends on what nobody wrote";
  if (const Operand* reg = unknown_register(*this, o, 1u << lane); reg != nullptr && reg->kind == Operand::kReg) {
    const auto origin = origins.find({frame->slots + reg->index, static_cast<u32>(lane)});
    if (origin != origins.end())
      text +=
          ", loaded at line " + std::to_string(origin->second.first) + " from address " + std::to_string(origin->second.second);
  }
  fault(FaultKind::kUnwritten, i, lane, text);
}

std::string_view name_of(FaultKind kind) {
  static constexpr std::string_view names[] = {"access out of bounds",
                                               "misaligned access",
                                               "store to read-only memory",
                                               "value that nobody wrote",
                                               "race on shared memory",
                                               "race on global memory",
                                               "divergent barrier",
                                               "deadlock",
                                               "missing lanes",
                                               "copy not waited for",
                                               "asynchronous group",
                                               "trap",
                                               "invalid operation",
                                               "too long"};
  return names[static_cast<int>(kind)];
}

}  // namespace ashlar::ptx
