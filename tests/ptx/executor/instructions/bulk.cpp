// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk: of a run of bytes, and of a box of a tensor by its map. What goes to shared memory comes late, and says so to
// an mbarrier; until then its destination is marked. What goes to global memory is read when its group is waited for, or its
// thread ends.
#include "tests/ptx/executor/instructions/bulk.h"

#include <algorithm>
#include <cstring>

namespace ashlar::ptx {
namespace {

u64 swizzled(u64 address, u32 swizzle) {  // 16-byte pieces change places by bits of the address
  return swizzle == 0 ? address : address ^ ((address >> 7 & (swizzle / 16 - 1)) << 4);
}

void write_from_copy(Warp& w, int lane, Block& b, u32 at, const u8* from, const u8* written, u32 bytes) {
  std::memcpy(b.shared.data() + at, from, bytes), std::memcpy(b.written.data() + at, written, bytes);
  for (u32 n = at; n < at + bytes; ++n)
    if (b.pending[n] != 0) b.pending[n] = 0, --b.pending_bytes;
  if (!w.run->state.checks.shared_races) return;
  std::fill_n(b.races->write_time.begin() + at, bytes, w.run->time);
  std::fill_n(b.races->write_thread.begin() + at, bytes, static_cast<u16>(w.thread(lane)));
  std::fill_n(b.races->write_warp.begin() + at, bytes, static_cast<u16>(w.rank | kByCopy));
}

// f(offset in the box's bytes as they lie in shared memory, address in global memory; 0: outside, which reads as zeros) by
// elements of the innermost dimension, in runs of at most 16 bytes.
template <class F>
void for_box(const TensorMap& m, const std::array<i64, 5>& origin, F f) {
  std::array<u32, 5> at = {};
  const u32 row = m.box[0] * m.element_bytes;
  for (u64 line = 0;; ++line) {
    bool inside = true;
    u64 address = m.address;
    for (u32 d = 1; d < m.rank; ++d) {
      const i64 x = origin[d] + i64(at[d]) * m.element_strides[d];
      inside = inside && x >= 0 && static_cast<u64>(x) < m.extents[d];
      address += static_cast<u64>(x) * m.strides[d];
    }
    for (u32 e = 0; e < m.box[0]; ++e) {
      const i64 x = origin[0] + i64(e) * m.element_strides[0];
      const bool here = inside && x >= 0 && static_cast<u64>(x) < m.extents[0];
      f(line * row + u64(e) * m.element_bytes, here ? address + static_cast<u64>(x) * m.element_bytes : 0);
    }
    u32 d = 1;
    while (d < m.rank && ++at[d] == m.box[d]) at[d++] = 0;
    if (d >= m.rank) return;
  }
}

u64 box_bytes(const TensorMap& m) {
  u64 bytes = m.element_bytes;
  for (u32 d = 0; d < m.rank; ++d) bytes *= m.box[d];
  return bytes;
}

TensorMap map_at(Warp& w, const Instr& i, int lane, u64 address) {
  const Place p = locate(w, i, lane, Space::kGeneric, address, 128, false, 64);
  std::array<u64, 16> words;
  std::memcpy(words.data(), p.data, 128);
  const TensorMap m = decode(words);
  if (m.rank != i.count) w.fault(FaultKind::kInvalid, i, lane, "the tensor map has " + std::to_string(m.rank) + " dimensions");
  return m;
}

void mark_pending(Warp& w, const Instr& i, int lane, u64 to, u64 bytes) {
  const Place p = locate(w, i, lane, Space::kSharedCluster, to, static_cast<u32>(bytes), true, 16);
  accessed(w, i, lane, p, static_cast<u32>(bytes), true, false, nullptr);
  for (u32 n = 0; n < bytes; ++n) {
    u16& mark = p.block->pending[p.offset - kFirstShared + n];
    p.block->pending_bytes += mark == 0;
    mark = static_cast<u16>(w.thread(lane) + 1);
  }
}

u32 in_block(u32 address, u32 rank) { return (address & 0xffffffu) | (rank + 1) << 24; }  // as mapa makes it

// A box of a tensor map, or pieces of 16 bytes: the operand `shared` is in shared memory, the operand `global` is not.
BulkCopy copy_between(Warp& w, const Instr& i, int lane, std::size_t shared, std::size_t global) {
  BulkCopy c;
  c.warp = &w, c.instr = &i, c.lane = lane;
  c.to = static_cast<u32>(address_of(w, i, i.ops[shared], lane));
  const u64 other = address_of(w, i, i.ops[global], lane);
  if (i.mode2 != 0) {
    c.map = map_at(w, i, lane, other);
    for (u32 d = 0; d < i.count; ++d) c.origin[d] = static_cast<i32>(w.src(i.ops[global].parts[1].parts[d])[lane]);
    c.bytes = box_bytes(c.map);
    if (c.to % 128 != 0)
      w.fault(FaultKind::kMisaligned, i, lane, "the box begins at " + std::to_string(c.to) + ", expected a multiple of 128",
              c.to);
  } else {
    c.from = other, c.bytes = w.src(i.ops[2])[lane];
    if (c.bytes % 16 != 0 || c.from % 16 != 0)
      w.fault(FaultKind::kMisaligned, i, lane, "a bulk copy is of pieces of 16 bytes", c.from);
  }
  return c;
}

// mode: 1 to several blocks of the cluster; mode2: 1 by a tensor map. Loads: ops [to], [from or map, {coordinates}], (bytes),
// [barrier], (the blocks, a bit each).
void load(Warp& w, const Instr& i, u32 mask) {
  for (const Operand& o : i.ops) w.need_known(i, o, mask, "an operand of the copy");
  each(mask, [&](int l) {
    BulkCopy c = copy_between(w, i, l, 0, 1);
    const std::size_t last = i.ops.size() - 1;
    c.barrier = static_cast<u32>(address_of(w, i, i.ops[last - i.mode], l));
    const auto start = [&](const BulkCopy& copy) {
      mark_pending(w, i, l, copy.to, copy.bytes);
      w.run->current->copies.push_back(copy);
    };
    if (i.mode == 0) return start(c);
    // The data and the signal go to the same offsets in the memory of each block.
    const u32 blocks = static_cast<u32>(w.src(i.ops[last])[l]) & 0xffffu;
    const std::size_t count = w.run->current->blocks.size();
    if (blocks == 0 || blocks >> count != 0)
      w.fault(FaultKind::kInvalid, i, l,
              "copies to the blocks of the mask " + std::to_string(blocks) + ", of a cluster of " + std::to_string(count));
    for (u32 rank = 0; rank < count; ++rank) {
      if ((blocks >> rank & 1) == 0) continue;
      BulkCopy copy = c;
      copy.to = in_block(c.to, rank), copy.barrier = in_block(c.barrier, rank);
      start(copy);
    }
  });
}

void arrived(const BulkCopy& c) {
  Warp& w = *c.warp;
  const Instr& i = *c.instr;
  ++w.run->time;
  const Place to = locate(w, i, c.lane, Space::kSharedCluster, c.to, static_cast<u32>(c.bytes), true, 16);
  const u32 first = to.offset - kFirstShared;
  static constexpr u8 zeros[16] = {}, ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  if (i.mode2 == 0) {
    const Place from = locate(w, i, c.lane, Space::kGlobal, c.from, static_cast<u32>(c.bytes), false, 16);
    write_from_copy(w, c.lane, *to.block, first, from.data, from.written, static_cast<u32>(c.bytes));
  } else {
    for_box(c.map, c.origin, [&](u64 offset, u64 address) {
      const u32 at = static_cast<u32>(swizzled(c.to + offset, c.map.swizzle) - c.to) + first;
      if (address == 0) return write_from_copy(w, c.lane, *to.block, at, zeros, ones, c.map.element_bytes);
      const Place from = locate(w, i, c.lane, Space::kGlobal, address, c.map.element_bytes, false, 1);
      write_from_copy(w, c.lane, *to.block, at, from.data, from.written, c.map.element_bytes);
    });
  }
  const Place barrier = locate(w, i, c.lane, Space::kSharedCluster, c.barrier, 8, true, 8);
  mbarrier_bytes(w, i, c.lane, barrier, static_cast<i64>(c.bytes));
}

void store(Warp& w, const Instr& i, u32 mask) {
  for (const Operand& o : i.ops) w.need_known(i, o, mask, "an operand of the copy");
  each(mask, [&](int l) {
    BulkCopy c = copy_between(w, i, l, 1, 0);  // `to` of shared memory is the source
    const Place from = locate(w, i, l, Space::kShared, c.to, static_cast<u32>(c.bytes), false, 16);
    accessed(w, i, l, from, static_cast<u32>(c.bytes), false, false, nullptr);
    async_reads(w, i, l, from, static_cast<u32>(c.bytes));
    w.bulk[static_cast<std::size_t>(l)].open.push_back(c);
  });
}

void stored(const BulkCopy& c) {
  Warp& w = *c.warp;
  const Instr& i = *c.instr;
  const Place from = locate(w, i, c.lane, Space::kShared, c.to, static_cast<u32>(c.bytes), false, 16);
  const auto put = [&](u64 address, u32 at, u32 bytes) {
    const Place to = locate(w, i, c.lane, Space::kGlobal, address, bytes, true, 1);
    if (w.run->state.checks.unwritten && std::any_of(from.written + at, from.written + at + bytes, [](u8 x) { return x == 0; }))
      w.fault(FaultKind::kUnwritten, i, c.lane, "what is stored in global memory depends on what nobody wrote", address);
    std::memcpy(to.data, from.data + at, bytes), std::memcpy(to.written, from.written + at, bytes);
  };
  if (i.mode2 == 0) return put(c.from, 0, static_cast<u32>(c.bytes));
  for_box(c.map, c.origin, [&](u64 offset, u64 address) {
    if (address != 0) put(address, static_cast<u32>(swizzled(c.to + offset, c.map.swizzle) - c.to), c.map.element_bytes);
  });
}

void commit(Warp& w, const Instr&, u32 mask) {
  each(mask, [&](int l) {
    BulkGroups& g = w.bulk[static_cast<std::size_t>(l)];
    g.groups.push_back(std::move(g.open));
    g.open.clear();
  });
}
void wait(Warp& w, const Instr& i, u32 mask) {
  each(mask, [&](int l) {
    BulkGroups& g = w.bulk[static_cast<std::size_t>(l)];
    while (g.groups.size() > i.extra) {
      for (const BulkCopy& c : g.groups.front()) stored(c);
      g.groups.erase(g.groups.begin());
    }
  });
}

}  // namespace

void bulk_arrivals(Cluster& c) {
  while (!c.copies.empty()) {
    const BulkCopy copy = c.copies.front();
    c.copies.erase(c.copies.begin());
    arrived(copy);
  }
}

void finish_bulk(Warp& w, u32 mask) {
  each(mask, [&](int l) {
    BulkGroups& g = w.bulk[static_cast<std::size_t>(l)];
    for (const auto& group : g.groups)
      for (const BulkCopy& c : group) stored(c);
    for (const BulkCopy& c : g.open) stored(c);
    g.groups.clear(), g.open.clear();
  });
}

void async_reads(Warp& w, const Instr& i, int lane, const Place& p, u32 bytes) {
  if (!w.run->state.checks.shared_races) return;
  const Races& r = *p.block->races;
  for (u32 n = 0; n < bytes; ++n) {
    const u32 at = p.offset - kFirstShared + n;
    if (r.write_time[at] <= p.block->begin) continue;
    if ((r.write_warp[at] & kByCopy) != 0) continue;
    const u32 thread = r.write_thread[at] & 0x7fffu;
    const Warp* by = w.run->current->warp(r.write_warp[at]);
    if (by->proxy_fenced[thread & 31] < r.write_time[at])
      w.fault(FaultKind::kAsyncGroup, i, lane,
              "reads shared memory at " + std::to_string(p.offset + n) + " that thread " + std::to_string(thread) +
                  " wrote, without a fence.proxy.async behind it",
              p.offset + n);
  }
}

void decode_bulk(Decode& d) {
  if (d.take("commit_group")) {
    d.operands(0, 0);
    d.in.run = commit;
    return;
  }
  if (d.take("wait_group")) {
    d.take("read");
    d.operands(1, 1);
    d.in.extra = d.number(0, "how many groups may stay"), d.in.run = wait;
    return;
  }
  if (d.take("prefetch")) d.fail("the modifier .prefetch is not known");
  d.in.mode2 = d.take("tensor");
  if (d.in.mode2 != 0) {
    d.in.count = static_cast<u8>(1 + d.must("number of dimensions", {"1d", "2d", "3d", "4d", "5d"}));
    d.take("tile");
  }
  const bool to_global = d.take("bulk_group");
  if (!to_global && !d.take("mbarrier::complete_tx::bytes")) d.fail("has no completion that is known");
  for (const char* s : {"shared::cluster", "shared::cta", "global"}) d.take(s);
  d.in.mode = !to_global && d.take("multicast::cluster");
  const bool hinted = d.take("L2::cache_hint");
  const std::size_t expected = (to_global ? 2 : 3) + (d.in.mode2 != 0 ? 0 : 1) + d.in.mode;
  d.operands(expected + hinted, expected + hinted);
  if (hinted) d.in.ops.pop_back();
  d.address(0), d.address(1);
  if (!to_global) d.address(expected - 1 - d.in.mode);
  if (d.in.mode != 0) d.value(expected - 1, T::u16);
  if (d.in.mode2 != 0) {
    const Operand& where = d.op(to_global ? 0 : 1);
    if (where.parts.size() != 2 || where.parts[1].parts.size() != d.in.count) d.fail("has no coordinates for each dimension");
  }
  d.in.run = to_global ? store : load;
}

}  // namespace ashlar::ptx
