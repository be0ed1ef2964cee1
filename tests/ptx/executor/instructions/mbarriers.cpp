// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier: arrivals and bytes that are still to come, and phases. The 64 bits in shared memory say only that there is one; its
// counts lie beside.
#include <algorithm>
#include <cstring>

#include "tests/ptx/executor/instructions/bulk.h"
#include "tests/ptx/executor/instructions/lanes.h"

namespace ashlar::ptx {
namespace {

constexpr u64 kMark = 0x6d62617272696572;  // what the 64 bits hold

MbarrierNote& note_of(Warp& w, const Instr& i, int lane, const Place& p) {
  if (p.block == nullptr) w.fault(FaultKind::kAsyncGroup, i, lane, "an mbarrier lies in shared memory");
  const auto at = p.block->mbarriers.find(p.offset);
  u64 mark = 0;
  std::memcpy(&mark, p.data, 8);
  if (at == p.block->mbarriers.end() || mark != kMark)
    w.fault(FaultKind::kAsyncGroup, i, lane, "there is no mbarrier", p.offset);
  return at->second;
}

void advance(Warp& w, MbarrierNote& m) {
  if (m.arrivals != 0 || m.bytes != 0) return;
  ++m.phase, m.arrivals = m.expected;
  m.passed = m.clock;
  ++w.run->current->progress;
}

Place barrier_at(Warp& w, const Instr& i, const Operand& address, int lane) {
  return locate(w, i, lane, i.space, address_of(w, i, address, lane), 8, true, 8);
}

void initialize(Warp& w, const Instr& i, u32 mask) {
  const u64* count = w.src(i.ops[1]);
  w.need_known(i, i.ops[1], mask, "the number of arrivals");
  each(mask, [&](int l) {
    const Place p = barrier_at(w, i, i.ops[0], l);
    if (count[l] == 0 || count[l] >= (1u << 20))
      w.fault(FaultKind::kAsyncGroup, i, l, std::to_string(count[l]) + " arrivals of an mbarrier");
    const u8* value = reinterpret_cast<const u8*>(&kMark);
    accessed(w, i, l, p, 8, true, false, nullptr);
    std::memcpy(p.data, value, 8), std::memset(p.written, 1, 8);
    MbarrierNote m;
    m.arrivals = m.expected = static_cast<u32>(count[l]);
    m.clock.assign(w.clock.size(), 0);
    p.block->mbarriers[p.offset] = m;
  });
}

void invalidate(Warp& w, const Instr& i, u32 mask) {
  each(mask, [&](int l) {
    const Place p = barrier_at(w, i, i.ops[0], l);
    note_of(w, i, l, p);
    p.block->mbarriers.erase(p.offset);
    std::memset(p.written, 0, 8);
  });
}

// mode: 0 arrive, 1 arrive.expect_tx, 2 expect_tx, 3 complete_tx, 4 arrive_drop; ops[results] the address
void arrive(Warp& w, const Instr& i, u32 mask) {
  const std::size_t first = i.results;
  const u64* value = i.ops.size() > first + 1 ? w.src(i.ops[first + 1], 1) : nullptr;
  if (value != nullptr) w.need_known(i, i.ops[first + 1], mask, "the count");
  each(mask, [&](int l) {
    const Place p = barrier_at(w, i, i.ops[first], l);
    MbarrierNote& m = note_of(w, i, l, p);
    const u64 phase = m.phase;
    if (i.mode == 2) {
      m.bytes += static_cast<i64>(value[l]);
    } else if (i.mode == 3) {
      mbarrier_bytes(w, i, l, p, static_cast<i64>(value[l]));
    } else {
      if (i.mode == 4) m.expected -= value != nullptr ? static_cast<u32>(value[l]) : 1;
      mbarrier_arrive(w, i, l, p, i.mode != 1 && value != nullptr ? static_cast<u32>(value[l]) : 1,
                      i.mode == 1 ? static_cast<i64>(value[l]) : 0);
    }
    if (first != 0 && i.ops[0].kind == Operand::kReg) w.dst(i.ops[0])[l] = phase;
  });
  if (first != 0) w.know(i.ops[0], mask, ~0u);
}

// test_wait, try_wait: mode: 1 by parity. The phase that the state or the parity names is complete.
void wait(Warp& w, const Instr& i, u32 mask) {
  w.need_known(i, i.ops[2], mask, "the phase");
  const u64* state = w.src(i.ops[2], 1);
  u32 done = 0;
  each(mask, [&](int l) {
    const Place p = barrier_at(w, i, i.ops[1], l);
    MbarrierNote& m = note_of(w, i, l, p);
    const bool complete = i.mode != 0 ? (m.phase & 1) != (state[l] & 1) : m.phase != state[l];
    if (i.mode != 0 && state[l] > 1)
      w.fault(FaultKind::kAsyncGroup, i, l, "the parity of a phase is " + std::to_string(state[l]));
    if (!complete) return;
    join(w.clock, m.passed);
    done |= 1u << l;
  });
  if ((mask & ~done) != 0) {
    w.yield = true;
    bulk_arrivals(*w.run->current);
  }
  w.set_pred(i.ops[0], mask, done), w.know(i.ops[0], mask, ~0u);
}

void common(Decode& d) {
  d.order();
  d.scope();
  d.in.space = d.space(Space::kGeneric);
  d.type_among({T::b64});
}

void decode(Decode& d) {
  if (d.take("init")) {
    common(d);
    d.operands(2, 2);
    d.address(0), d.value(1, T::u32);
    d.in.run = initialize;
  } else if (d.take("inval")) {
    common(d);
    d.operands(1, 1);
    d.address(0);
    d.in.run = invalidate;
  } else if (d.take("test_wait") || d.take("try_wait")) {
    d.in.mode = d.take("parity");
    common(d);
    d.operands(3, 4);
    if (d.op(0).kind != Operand::kPred) d.fail("the result is a predicate");
    d.address(1), d.value(2, d.in.mode != 0 ? T::u32 : T::b64);
    d.in.run = wait;
  } else if (d.take("pending_count")) {
    d.fail("the number of pending arrivals of a state is not known");
  } else {
    const bool arrives = d.take("arrive"), drops = !arrives && d.take("arrive_drop"), expects = d.take("expect_tx"),
               completes = d.take("complete_tx");
    if (!arrives && !drops && !expects && !completes) d.fail("has no operation that is known");
    if (d.take("noComplete")) d.fail("the modifier .noComplete is not known");
    if (drops && expects) d.fail("the modifier .expect_tx of .arrive_drop is not known");
    d.in.mode = arrives ? (expects ? 1 : 0) : drops ? 4 : expects ? 2 : 3;
    common(d);
    const bool has_state = d.in.ops.size() > 0 && d.op(0).kind != Operand::kAddress;
    d.in.results = has_state ? 1 : 0;
    const std::size_t first = d.in.results;
    d.operands(first + 1, first + 2);
    if (has_state) d.result(0, T::b64);
    d.address(first);
    if (d.in.ops.size() == first + 2)
      d.value(first + 1, T::u32);
    else if (d.in.mode != 0 && d.in.mode != 4)
      d.fail("has no number of bytes");
    d.in.run = arrive;
  }
}

// barrier.cluster: all threads of all blocks of the cluster. mode: 0 arrive, 1 wait
void cluster_barrier(Warp& w, const Instr& i, u32 mask) {
  Cluster& c = *w.run->current;
  if (i.mode2 != 0 && whole_warp(w, i, mask) == 0) return;
  u32 live = 0;
  for (const auto& b : c.blocks) live += b->live;
  if (i.mode == 0) {
    if ((w.cluster_arrived & mask) != 0)
      w.fault(FaultKind::kInvalid, i, first_lane(w.cluster_arrived & mask),
              "arrives twice at the barrier of the cluster, without a wait");
    w.cluster_arrived |= mask;
    each(mask, [&](int l) { w.cluster_phase[static_cast<std::size_t>(l)] = c.arrived_phase; });
    join(c.barrier.clock, w.clock);
    c.barrier.clock[w.rank] = w.run->time;
    c.barrier.arrived += static_cast<u32>(std::popcount(mask));
    if (c.barrier.arrived >= live) {
      c.barrier.arrived = 0, ++c.arrived_phase, ++c.progress;
      c.passed = c.barrier.clock;
      std::fill(c.barrier.clock.begin(), c.barrier.clock.end(), 0);
    }
    return;
  }
  u32 done = 0;
  each(mask, [&](int l) {
    if ((w.cluster_arrived >> l & 1) == 0)
      w.fault(FaultKind::kInvalid, i, l, "waits at the barrier of the cluster without having arrived");
    done |= u32(w.cluster_phase[static_cast<std::size_t>(l)] != c.arrived_phase) << l;
  });
  if (done != mask) {
    w.stalled = mask, w.yield = true;
    return;
  }
  w.cluster_arrived &= ~mask;
  join(w.clock, c.passed);
  each(mask, [&](int l) { w.synced[static_cast<std::size_t>(l)] = w.run->time; });
}

}  // namespace

void mbarrier_arrive(Warp& w, const Instr& i, int lane, const Place& p, u32 count, i64 expected_bytes) {
  MbarrierNote& m = note_of(w, i, lane, p);
  if (count > m.arrivals)
    w.fault(FaultKind::kAsyncGroup, i, lane,
            "more threads arrive at the mbarrier than the " + std::to_string(m.expected) + " that it was made for", p.offset);
  join(m.clock, w.clock);
  m.clock[w.rank] = std::max(m.clock[w.rank], w.run->time);
  m.bytes += expected_bytes, m.arrivals -= count;
  advance(w, m);
}

void mbarrier_expect_arrival(Warp& w, const Instr& i, int lane, const Place& p) { ++note_of(w, i, lane, p).arrivals; }

void mbarrier_bytes(Warp& w, const Instr& i, int lane, const Place& p, i64 bytes) {
  MbarrierNote& m = note_of(w, i, lane, p);
  m.bytes -= bytes;
  join(m.clock, w.clock);
  m.clock[w.rank] = std::max(m.clock[w.rank], w.run->time);
  advance(w, m);
}

void decode_cluster_barrier(Decode& d) {
  d.in.mode = static_cast<u8>(d.must("operation", {"arrive", "wait"}));
  d.order();
  d.in.mode2 = d.take("aligned");
  d.operands(0, 0);
  d.in.run = cluster_barrier;
}

void add_bulk(Table& t) { t["mbarrier"] = decode; }

}  // namespace ashlar::ptx
