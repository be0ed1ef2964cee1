// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async and its groups. A copy is made when its thread waits for it, and until then its destination is marked: neither is a
// wait that is missing hidden by a copy that came early, nor is its absence silent.
#include <cstring>

#include "tests/ptx/executor/instructions/bulk.h"
#include "tests/ptx/executor/instructions/lanes.h"

namespace ashlar::ptx {
namespace {

void complete(Warp& w, const Instr& i, int lane, const AsyncCopy& c) {
  Block& b = *w.block;
  const u32 at = c.to - kFirstShared;
  if (c.valid > 0) {
    const Place from = locate(w, i, lane, Space::kGlobal, c.from, c.valid, false, 1);
    accessed(w, i, lane, from, c.valid, false, false, nullptr);
    std::memcpy(b.shared.data() + at, from.data, c.valid), std::memcpy(b.written.data() + at, from.written, c.valid);
  }
  std::memset(b.shared.data() + at + c.valid, 0, c.bytes - c.valid),
      std::memset(b.written.data() + at + c.valid, 1, c.bytes - c.valid);
  for (u32 n = 0; n < c.bytes; ++n)
    if (b.pending[at + n] == w.thread(lane) + 1) b.pending[at + n] = 0, --b.pending_bytes;
  if (w.run->state.checks.shared_races) {  // written now, not when it was issued
    std::fill_n(b.races->write_time.begin() + at, c.bytes, w.run->time);
    std::fill_n(b.races->write_thread.begin() + at, c.bytes, static_cast<u16>(w.thread(lane)));
    std::fill_n(b.races->write_warp.begin() + at, c.bytes, static_cast<u16>(w.rank));
  }
}

void issue(Warp& w, const Instr& i, u32 mask) {
  w.need_known(i, i.ops[0].parts[0], mask, "the destination's address");
  const bool sized = i.mode == 1, ignores = i.mode == 2;
  if (sized || ignores) w.need_known(i, i.ops[3], mask, "how much is copied");
  const u32 bytes = static_cast<u32>(i.extra), ignored = ignores ? w.pred(i.ops[3]) : 0;
  const u64* valid = sized ? w.src(i.ops[3], 2) : nullptr;
  each(mask, [&](int l) {
    AsyncCopy c;
    c.bytes = bytes, c.valid = sized ? static_cast<u32>(valid[l]) : (ignored >> l & 1) != 0 ? 0 : bytes, c.line = i.line;
    if (c.valid > bytes)
      w.fault(FaultKind::kInvalid, i, l, "copies " + std::to_string(c.valid) + " bytes to " + std::to_string(bytes));
    const Place to = locate(w, i, l, Space::kShared, address_of(w, i, i.ops[0], l), bytes, true, bytes);
    c.to = to.offset;
    if (c.valid > 0) {
      w.need_known(i, i.ops[1].parts[0], 1u << l, "the source's address");
      c.from = address_of(w, i, i.ops[1], l);
      locate(w, i, l, Space::kGlobal, c.from, c.valid, false, bytes);
    }
    accessed(w, i, l, to, bytes, true, false, nullptr);
    for (u32 n = 0; n < bytes; ++n) {
      u16& p = w.block->pending[to.offset - kFirstShared + n];
      w.block->pending_bytes += p == 0;
      p = static_cast<u16>(w.thread(l) + 1);
    }
    w.copies[static_cast<std::size_t>(l)].open.push_back(c);
  });
}

void commit(Warp& w, const Instr&, u32 mask) {
  each(mask, [&](int l) {
    LaneCopies& c = w.copies[static_cast<std::size_t>(l)];
    c.groups.push_back(std::move(c.open));
    c.open.clear();
  });
}

void wait(Warp& w, const Instr& i, u32 mask) {  // mode: 1 all, also what is not committed
  each(mask, [&](int l) {
    LaneCopies& c = w.copies[static_cast<std::size_t>(l)];
    while (c.groups.size() > (i.mode != 0 ? 0 : i.extra)) {
      for (const AsyncCopy& copy : c.groups.front()) complete(w, i, l, copy);
      c.groups.erase(c.groups.begin());
    }
    if (i.mode == 0) return;
    for (const AsyncCopy& copy : c.open) complete(w, i, l, copy);
    c.open.clear();
  });
}

void arrive(Warp& w, const Instr& i, u32 mask) {  // cp.async.mbarrier.arrive: when all copies before it are made
  each(mask, [&](int l) {
    LaneCopies& c = w.copies[static_cast<std::size_t>(l)];
    for (const auto& group : c.groups)
      for (const AsyncCopy& copy : group) complete(w, i, l, copy);
    for (const AsyncCopy& copy : c.open) complete(w, i, l, copy);
    c.open.clear();
    for (auto& group : c.groups) group.clear();
    const Place p = locate(w, i, l, i.space, address_of(w, i, i.ops[0], l), 8, true, 8);
    if (i.mode == 0) mbarrier_expect_arrival(w, i, l, p);
    mbarrier_arrive(w, i, l, p, 1, 0);
  });
}

void decode(Decode& d) {
  if (d.take("commit_group")) {
    d.operands(0, 0);
    d.in.run = commit;
    return;
  }
  if (d.take("wait_all")) {
    d.operands(0, 0);
    d.in.mode = 1, d.in.run = wait;
    return;
  }
  if (d.take("wait_group")) {
    d.operands(1, 1);
    d.in.extra = d.number(0, "how many groups may stay"), d.in.run = wait;
    return;
  }
  if (d.take("mbarrier")) {
    if (!d.take("arrive")) d.fail("expected .arrive");
    d.in.mode = d.take("noinc");
    d.in.space = d.space(Space::kGeneric);
    d.type_among({T::b64});
    d.operands(1, 1);
    d.address(0);
    d.in.run = arrive;
    return;
  }
  const int level = d.must("cache operator (.ca, .cg)", {"ca", "cg"});
  if (d.space(Space::kGeneric) == Space::kGeneric || d.space(Space::kGeneric) == Space::kGeneric)
    d.fail("expected .shared.global");
  const bool hinted = d.take("L2::cache_hint");
  d.hints();
  d.operands(3, hinted ? 5 : 4);
  d.address(0), d.address(1);
  d.in.extra = d.number(2, "the number of bytes");
  const u64 n = d.in.extra;
  if (level == 1 ? n != 16 : n != 4 && n != 8 && n != 16) d.fail(std::to_string(n) + " bytes are not copied at once");
  if (d.in.ops.size() - (hinted ? 1 : 0) == 4) {
    d.in.mode = d.op(3).kind == Operand::kPred ? 2 : 1;
    if (d.in.mode == 1) d.value(3, T::u32);
  }
  d.in.run = issue;
}

}  // namespace

void add_copies(Table& t) {
  t["cp"] = [](Decode& d) {
    if (d.take("reduce")) d.fail("reductions by copies are not known");
    if (!d.take("async")) d.fail("expected .async");
    if (d.take("bulk")) return decode_bulk(d);
    decode(d);
  };
}

}  // namespace ashlar::ptx
