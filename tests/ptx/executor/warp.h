// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A warp while it runs: its registers, the groups of lanes that are at one instruction, and what handlers of instructions use.
//
// Lanes that take different ways form groups. The group that is deepest in calls, and of these the one at the first
// instruction, runs until it meets another, which it joins: lanes come together where the text comes together. A group that has
// run for long beside others lets them run, so that lanes may wait for each other.
#include <bit>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/ptx/executor/image.h"

namespace ashlar::ptx {

struct Allocation;
struct Block;
struct Run;

struct Frame {
  const Frame* parent = nullptr;
  u32 return_to = 0, call = 0;
  const Function* function = nullptr;
  u32 depth = 0, slots = 0, predicates = 0, local = 0;  // where they begin
};

struct Group {
  enum State : u8 { kReady, kAwaiting, kAtBarrier };  // awaiting: other lanes of the warp, at the same instruction
  u32 pc = 0, mask = 0;
  const Frame* frame = nullptr;
  State state = kReady;
  u32 barrier = 0;
  u64 last_run = 0;
  u32 credit = 0;  // instructions that it may run before others that would come first
};

enum class Special : u32 {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaX,
  kCtaY,
  kCtaZ,
  kNctaX,
  kNctaY,
  kNctaZ,
  kLane,
  kWarp,
  kWarps,
  kSm,
  kSms,
  kGrid,
  kMaskEq,
  kMaskLe,
  kMaskLt,
  kMaskGe,
  kMaskGt,
  kClock,
  kClockHigh,
  kClock64,
  kTimer,
  kTimerLow,
  kTimerHigh,
  kClusterId,
  kClusterIdY,
  kClusterIdZ,
  kNcluster,
  kNclusterY,
  kNclusterZ,
  kClusterCta,
  kClusterCtaY,
  kClusterCtaZ,
  kClusterNcta,
  kClusterNctaY,
  kClusterNctaZ,
  kClusterRank,
  kClusterRanks,
  kDynamicShared,
  kTotalShared,
  kExplicitCluster,
  kCount
};
struct SpecialRow {
  const char* name;
  Special special;
  int bits;
};
const SpecialRow* special_named(std::string_view);

struct Local {  // of one lane
  std::vector<u8> data, written;
};

struct AsyncCopy {  // of one lane, not waited for
  u32 to = 0, bytes = 0, valid = 0;
  u64 from = 0;
  int line = 0;
};

struct LaneCopies {
  std::vector<std::vector<AsyncCopy>> groups;  // committed, the oldest first
  std::vector<AsyncCopy> open;
};

struct BulkCopy {  // cp.async.bulk
  Warp* warp = nullptr;
  const Instr* instr = nullptr;
  int lane = 0;
  u32 to = 0, barrier = 0;  // in shared memory; where that is the source, to is it
  u64 from = 0, bytes = 0;  // in global memory
  TensorMap map;
  std::array<i64, 5> origin = {};
};
struct BulkGroups {  // of one lane: those that complete by groups
  std::vector<std::vector<BulkCopy>> groups;
  std::vector<BulkCopy> open;
};

struct Warp {
  Run* run = nullptr;
  Block* block = nullptr;
  u32 number = 0, first_thread = 0, live = 0, all = 0;
  std::vector<u64> registers, specials;
  std::vector<u32> known, predicates, predicates_known;
  std::vector<Group> groups;
  std::deque<Frame> frames;
  std::map<std::pair<const Frame*, std::pair<u32, u32>>, const Frame*> calls;
  std::array<Local, 32> locals;
  std::array<LaneCopies, 32> copies;
  std::array<u32, 32> synced = {};  // when the lane last met others of its warp
  std::vector<u32> clock;           // of each warp of the cluster: until when all that it did comes before what comes here
  u32 cluster_arrived = 0;          // lanes, at barrier.cluster
  std::array<u32, 32> cluster_phase = {};
  u32 rank = 0;  // among the warps of the cluster

  // of the group that runs
  u64* r = nullptr;
  u32 *k = nullptr, *p = nullptr, *pk = nullptr;
  const Frame* frame = nullptr;
  u32 carry = 0, carry_known = 0;  // condition codes
  u32 stalled = 0;                 // set by a handler: lanes that execute the instruction again, when others have come
  bool yield = false;              // set by a handler: others should run first
  Allocation* last = nullptr;
  std::map<u32, std::array<u64, 32>> partial;                  // by slot: in lanes where it is not known, the bits that are not
  std::map<std::pair<u32, u32>, std::pair<int, u64>> origins;  // of registers that were loaded unwritten: line and address
  std::shared_ptr<struct Wgmma> wgmma;
  std::array<BulkGroups, 32> bulk;
  std::array<u32, 32> proxy_fenced = {};  // when the lane last made its writes visible to asynchronous copies and wgmma
  std::array<u64, 32> scratch[4];

  // ---- operands
  const u64* src(const Operand& o, int which = 0) {
    if (o.kind == Operand::kReg) return r + std::size_t(o.index) * 32;
    return other(o, which);
  }
  u64* dst(const Operand& o) { return o.kind == Operand::kReg ? r + std::size_t(o.index) * 32 : scratch[3].data(); }
  u32 pred(const Operand& o) const;
  void set_pred(const Operand& o, u32 mask, u32 value) {
    if (o.kind == Operand::kPred) p[o.index] = (p[o.index] & ~mask) | (value & mask);
  }
  u32 known_of(const Operand& o) const;  // lanes where it was written
  void know(const Operand& o, u32 mask, u32 known_lanes);
  u32 thread(int lane) const { return first_thread + static_cast<u32>(lane); }

  [[noreturn]] void fault(FaultKind kind, const Instr& i, int lane, const std::string& what, u64 address = 0) const;
  void need_known(const Instr& i, const Operand& o, u32 mask, const char* what) const;

 private:
  const u64* other(const Operand& o, int which);
};

template <class F>
inline void each(u32 mask, F f) {
  if (mask == ~0u) {
    for (int lane = 0; lane < 32; ++lane) f(lane);
  } else {
    for (u32 rest = mask; rest != 0; rest &= rest - 1) f(std::countr_zero(rest));
  }
}
// Lanes where a conjunction or a disjunction of predicates is known: both are, or one that decides.
inline u32 known_logic(bool conjunction, bool disjunction, u32 a, u32 known_a, u32 b, u32 known_b) {
  const u32 decided = conjunction ? (known_a & ~a) | (known_b & ~b) : disjunction ? (known_a & a) | (known_b & b) : 0;
  return (known_a & known_b) | decided;
}
inline int first_lane(u32 mask) { return std::countr_zero(mask); }

// The loops of handlers of values: one result of up to 64 bits, f of the sources.
template <class D, class F>
inline void map1(Warp& w, const Instr& i, u32 mask, F f) {
  const u64* a = w.src(i.ops[1], 0);
  u64* d = w.dst(i.ops[0]);
  each(mask, [&](int l) { d[l] = static_cast<u64>(static_cast<std::make_unsigned_t<D>>(f(a[l]))); });
}
template <class D, class F>
inline void map2(Warp& w, const Instr& i, u32 mask, F f) {
  const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
  u64* d = w.dst(i.ops[0]);
  each(mask, [&](int l) { d[l] = static_cast<u64>(static_cast<std::make_unsigned_t<D>>(f(a[l], b[l]))); });
}
template <class D, class F>
inline void map3(Warp& w, const Instr& i, u32 mask, F f) {
  const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1), *c = w.src(i.ops[3], 2);
  u64* d = w.dst(i.ops[0]);
  each(mask, [&](int l) { d[l] = static_cast<u64>(static_cast<std::make_unsigned_t<D>>(f(a[l], b[l], c[l]))); });
}

}  // namespace ashlar::ptx
