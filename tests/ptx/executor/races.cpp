// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/races.h"

#include <algorithm>
#include <cstring>

#include "tests/ptx/executor/device.h"

namespace ashlar::ptx {

void Races::fit(std::size_t bytes, std::size_t warps) {
  if (write_time.size() < bytes) write_time.resize(bytes), write_thread.resize(bytes), write_warp.resize(bytes);
  if (read_time.size() < warps) read_time.resize(warps), read_lane.resize(warps);
  for (std::size_t w = 0; w < warps; ++w)
    if (read_time[w].size() < bytes) read_time[w].resize(bytes), read_lane[w].resize(bytes);
}

void Races::forget() {
  std::fill(write_time.begin(), write_time.end(), 0u);
  for (auto& plane : read_time) std::fill(plane.begin(), plane.end(), 0u);
}

void synchronize(Warp& w, const Place& p, bool takes, bool leaves) {
  if (p.block == nullptr) return;
  std::vector<u32>& note = p.block->flags[p.offset];
  if (takes) join(w.clock, note);
  if (!leaves) return;
  join(note, w.clock);
  if (note.size() <= w.rank) note.resize(w.rank + 1);
  note[w.rank] = w.run->time;
}

void join(std::vector<u32>& into, const std::vector<u32>& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t n = 0; n < from.size(); ++n) into[n] = std::max(into[n], from[n]);
}

namespace {

constexpr u16 kAtomic = 0x8000;

[[noreturn]] void race(Warp& w, const Instr& i, int lane, const Place& p, u32 byte, bool store, const char* other, u32 warp,
                       int thread) {
  std::string text =
      std::string(store ? "writes" : "reads") + " shared memory at " + std::to_string(p.offset + byte) + " that ";
  text += thread >= 0 ? "thread " + std::to_string(thread) : "warp " + std::to_string(warp);
  w.fault(FaultKind::kSharedRace, i, lane, text + " " + other + ", and nothing orders the two", p.offset + byte);
}

// Of lanes of one warp: both met others of the warp since.
bool lanes_met(const Warp& w, int a, int b, u32 time) {
  return w.synced[static_cast<std::size_t>(a)] >= time && w.synced[static_cast<std::size_t>(b)] >= time;
}

void shared_access(Warp& w, const Instr& i, int lane, const Place& p, u32 bytes, bool store, bool atomic, const u8* value) {
  Races& s = *p.block->races;
  const u32 now = w.run->time, me = w.thread(lane);
  for (u32 n = 0; n < bytes; ++n) {
    const u32 at = p.offset - kFirstShared + n;
    const u32 t = s.write_time[at];
    if (t <= p.block->begin || (s.write_thread[at] == me && (s.write_warp[at] & 0x7fffu) == w.rank)) continue;
    const u32 writer = s.write_warp[at] & 0x7fffu, thread = s.write_thread[at] & 0x7fffu;
    if (writer != w.rank ? w.clock[writer] >= t : thread == me || lanes_met(w, static_cast<int>(thread & 31), lane, t))
      continue;
    if (atomic && (s.write_thread[at] & kAtomic) != 0) continue;
    if (store && value != nullptr && p.data[n] == value[n]) continue;  // the same value
    race(w, i, lane, p, n, store, "wrote", writer, static_cast<int>(thread));
  }
  if (!store && atomic) return;
  if (!store) {
    u32* times = s.read_time[w.rank].data() + (p.offset - kFirstShared);
    u8* lanes = s.read_lane[w.rank].data() + (p.offset - kFirstShared);
    for (u32 n = 0; n < bytes; ++n) {
      lanes[n] = times[n] <= p.block->begin || lanes[n] == lane || lanes_met(w, lanes[n] & 31, lane, times[n])
                     ? static_cast<u8>(lane)
                     : u8(255);
      times[n] = now;
    }
    return;
  }
  const u32 first = p.offset - kFirstShared;
  for (u32 r = 0; r < w.clock.size(); ++r) {
    const u32* times = s.read_time[r].data() + first;
    const u8* lanes = s.read_lane[r].data() + first;
    for (u32 n = 0; n < bytes; ++n) {
      if (times[n] <= p.block->begin) continue;
      if (r != w.rank) {
        if (times[n] <= w.clock[r]) continue;
      } else {
        if (times[n] == now) continue;  // one instruction that reads and writes
        if (lanes[n] == lane) continue;
        const int other = lanes[n] == 255 ? lane : lanes[n];
        if (lanes_met(w, other, lane, times[n])) continue;
      }
      if (value != nullptr && p.data[n] == value[n]) continue;
      race(w, i, lane, p, n, true, "reads", r, -1);
    }
  }
  std::fill_n(s.write_time.begin() + first, bytes, now);
  std::fill_n(s.write_thread.begin() + first, bytes, static_cast<u16>(me | (atomic ? kAtomic : 0)));
  std::fill_n(s.write_warp.begin() + first, bytes, static_cast<u16>(w.rank));
}

void global_access(Warp& w, const Instr& i, int lane, const Place& p, u32 bytes, bool store, bool atomic, u64 offset,
                   const u8* value) {
  Allocation& a = *p.allocation;
  if (a.internal && a.space != Space::kGlobal) return;
  if (!a.races) {
    a.races = std::make_unique<GlobalRaces>();
    for (auto* plane : {&a.races->write_launch, &a.races->write_block, &a.races->read_launch, &a.races->read_block})
      plane->resize(a.size);
  }
  GlobalRaces& g = *a.races;
  const std::array<u32, 3>& id = w.block->id;
  const u32 me = (id[2] * w.run->grid.grid[1] + id[1]) * w.run->grid.grid[0] + id[0], launch = w.run->state.launches;
  for (u32 n = 0; n < bytes; ++n) {
    const u64 at = offset + n;
    const bool other_wrote = g.write_launch[at] == launch && g.write_block[at] != me;
    const bool other_read = g.read_launch[at] == launch && g.read_block[at] != me;
    if (!atomic && (other_wrote || (store && other_read)) && !(store && value != nullptr && p.data[n] == value[n]))
      w.fault(FaultKind::kGlobalRace, i, lane,
              std::string(store ? "writes" : "reads") + " global memory that block " +
                  std::to_string(other_wrote ? g.write_block[at] : g.read_block[at]) + (other_wrote ? " writes" : " reads") +
                  " in this launch",
              a.begin + at);
    if (atomic) continue;
    (store ? g.write_launch : g.read_launch)[at] = launch;
    (store ? g.write_block : g.read_block)[at] = me;
  }
}

}  // namespace

void accessed(Warp& w, const Instr& i, int lane, const Place& p, u32 bytes, bool store, bool atomic, const u8* value) {
  const Checks& checks = w.run->state.checks;
  if (p.block != nullptr) {
    if (p.block->pending_bytes != 0 && checks.pending_copies)
      for (u32 n = 0; n < bytes; ++n)
        if (const u16 by = p.block->pending[p.offset - kFirstShared + n]; by != 0)
          w.fault(FaultKind::kPendingCopy, i, lane,
                  std::string(store ? "writes" : "reads") + " shared memory at " + std::to_string(p.offset + n) +
                      " that cp.async of thread " + std::to_string(by - 1) + " copies to, before its wait",
                  p.offset + n);
    if (checks.shared_races) shared_access(w, i, lane, p, bytes, store, atomic, value);
  } else if (p.allocation != nullptr && checks.global_races) {
    global_access(w, i, lane, p, bytes, store, atomic, static_cast<u64>(p.data - p.allocation->data), value);
  }
}

}  // namespace ashlar::ptx
