// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions of lanes together: shuffles, votes, matches, reductions; barriers of a warp and of a block.
#include <algorithm>

#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/instructions/lanes.h"

namespace ashlar::ptx {

u32 together(Warp& w, const Instr& i, u32 mask, const u64* members) {
  u32 ready = 0;
  each(mask, [&](int l) {
    const u32 m = static_cast<u32>(members[l]);
    if ((m >> l & 1) == 0) {
      char text[16];
      std::snprintf(text, sizeof text, "%08x", m);
      w.fault(FaultKind::kMissingLanes, i, l, std::string("the lane executes it, and is not in its mask ") + text);
    }
    if ((m & w.live & ~mask) == 0) ready |= 1u << l;
  });
  w.stalled = mask & ~ready;
  return ready;
}

u32 whole_warp(Warp& w, const Instr& i, u32 mask) {
  if (mask == w.live) {
    if (w.live != w.all && w.run->state.checks.barriers)
      w.fault(FaultKind::kMissingLanes, i, first_lane(mask), "some lanes of the warp have ended before it");
    return mask;
  }
  w.stalled = mask;
  return 0;
}

namespace {

const u64* members_of(Warp& w, const Instr& i, const Operand& o, u32 mask) {
  w.need_known(i, o, mask, "the mask of lanes");
  return w.src(o, 2);
}

// f(lanes of one mask) for each mask among those that are ready.
template <class F>
void by_mask(u32 ready, const u64* members, F f) {
  for (u32 rest = ready; rest != 0;) {
    const u32 m = static_cast<u32>(members[first_lane(rest)]);
    u32 lanes = 0;
    each(rest, [&](int l) { lanes |= static_cast<u32>(members[l]) == m ? 1u << l : 0; });
    f(lanes);
    rest &= ~lanes;
  }
}

void shuffle(Warp& w, const Instr& i, u32 mask) {
  const std::size_t n = i.results;
  const u64* members = members_of(w, i, i.ops[n + 3], mask);
  const u32 ready = together(w, i, mask, members);
  if (ready == 0) return;
  w.need_known(i, i.ops[n + 1], ready, "the lane to read from"), w.need_known(i, i.ops[n + 2], ready, "the bound of lanes");
  std::array<u64, 32> a, b, c;
  std::copy_n(w.src(i.ops[n]), 32, a.begin()), std::copy_n(w.src(i.ops[n + 1]), 32, b.begin()),
      std::copy_n(w.src(i.ops[n + 2]), 32, c.begin());
  const u32 known = w.known_of(i.ops[n]);
  u64* d = w.dst(i.ops[0]);
  u32 in_range = 0, known_result = 0;
  each(ready, [&](int lane) {
    const std::size_t l = static_cast<std::size_t>(lane);
    const int bound = static_cast<int>(c[l] & 31), segment = static_cast<int>(c[l] >> 8 & 31), by = static_cast<int>(b[l] & 31);
    const int most = (lane & segment) | (bound & ~segment), least = lane & segment;
    int j = 0;
    bool inside = false;
    switch (i.mode) {
      case 0:
        j = lane - by, inside = j >= most;
        break;
      case 1:
        j = lane + by, inside = j <= most;
        break;
      case 2:
        j = lane ^ by, inside = j <= most;
        break;
      default:
        j = least | (by & ~segment), inside = j <= most;
    }
    if (!inside) j = lane;
    d[l] = static_cast<u32>(a[static_cast<std::size_t>(j)]);
    in_range |= u32(inside) << lane;
    // the value of a lane that does not take part is not a value
    if ((ready >> j & 1) != 0 && (known >> j & 1) != 0) known_result |= 1u << lane;
  });
  w.know(i.ops[0], ready, known_result);
  if (n == 2) w.set_pred(i.ops[1], ready, in_range), w.know(i.ops[1], ready, ready);
}

void vote(Warp& w, const Instr& i, u32 mask) {
  const u64* members = members_of(w, i, i.ops[2], mask);
  const u32 ready = together(w, i, mask, members), known = w.known_of(i.ops[1]), p = w.pred(i.ops[1]);
  by_mask(ready, members, [&](u32 lanes) {
    const u32 yes = p & lanes, is_known = (known & lanes) == lanes ? ~0u : 0;
    if (i.mode == 3) {
      u64* d = w.dst(i.ops[0]);
      each(lanes, [&](int l) { d[l] = yes; });
    } else {
      const bool r = i.mode == 0 ? yes == lanes : i.mode == 1 ? yes != 0 : yes == lanes || yes == 0;
      w.set_pred(i.ops[0], lanes, r ? ~0u : 0);
    }
    w.know(i.ops[0], lanes, is_known);
  });
}

void match(Warp& w, const Instr& i, u32 mask) {  // mode: 0 any, 1 all
  const std::size_t n = i.results;
  const u64* members = members_of(w, i, i.ops[n + 1], mask);
  const u32 ready = together(w, i, mask, members);
  if (ready == 0) return;
  w.need_known(i, i.ops[n], ready, "what is compared");
  std::array<u64, 32> a;
  std::copy_n(w.src(i.ops[n]), 32, a.begin());
  if (bits_of(i.type) == 32)
    for (u64& v : a) v = static_cast<u32>(v);
  u64* d = w.dst(i.ops[0]);
  by_mask(ready, members, [&](u32 lanes) {
    const auto equal = [&](int lane) {
      u32 same = 0;
      each(lanes, [&](int l) { same |= u32(a[static_cast<std::size_t>(l)] == a[static_cast<std::size_t>(lane)]) << l; });
      return same;
    };
    if (i.mode == 0) {
      each(lanes, [&](int l) { d[l] = equal(l); });
    } else {
      const bool all = equal(first_lane(lanes)) == lanes;
      each(lanes, [&](int l) { d[l] = all ? lanes : 0; });
      if (n == 2) w.set_pred(i.ops[1], lanes, all ? ~0u : 0), w.know(i.ops[1], lanes, ~0u);
    }
  });
  w.know(i.ops[0], ready, ready);
}

void reduce(Warp& w, const Instr& i, u32 mask) {
  const u64* members = members_of(w, i, i.ops[2], mask);
  const u32 ready = together(w, i, mask, members), known = w.known_of(i.ops[1]);
  const u64* a = w.src(i.ops[1]);
  u64* d = w.dst(i.ops[0]);
  by_mask(ready, members, [&](u32 lanes) {
    u32 r = static_cast<u32>(a[first_lane(lanes)]);
    each(lanes & (lanes - 1), [&](int l) {
      const u32 v = static_cast<u32>(a[l]);
      const bool less = i.type == T::s32 ? static_cast<i32>(v) < static_cast<i32>(r) : v < r;
      switch (i.mode) {
        case 0:
          r += v;
          break;
        case 1:
          r = less ? v : r;
          break;
        case 2:
          r = less ? r : v;
          break;
        case 3:
          r &= v;
          break;
        case 4:
          r |= v;
          break;
        default:
          r ^= v;
      }
    });
    each(lanes, [&](int l) { d[l] = r; });
    w.know(i.ops[0], lanes, (known & lanes) == lanes ? ~0u : 0);
  });
}

void elect(Warp& w, const Instr& i, u32 mask) {
  const u64* members = members_of(w, i, i.ops[2], mask);
  const u32 ready = together(w, i, mask, members);
  u64* d = w.dst(i.ops[0]);
  by_mask(ready, members, [&](u32 lanes) {
    const int leader = first_lane(lanes);
    each(lanes, [&](int l) { d[l] = static_cast<u64>(leader); });
    w.set_pred(i.ops[1], lanes, 1u << leader);
    w.know(i.ops[0], lanes, ~0u), w.know(i.ops[1], lanes, ~0u);
  });
}

void warp_barrier(Warp& w, const Instr& i, u32 mask) {
  const u64* members = members_of(w, i, i.ops[0], mask);
  const u32 ready = together(w, i, mask, members);
  each(ready, [&](int l) { w.synced[static_cast<std::size_t>(l)] = w.run->time; });
}

void sync_only(Decode& d) {
  if (!d.take("sync")) d.fail("has no .sync; the forms without it are not known");
}

void decode_shuffle(Decode& d) {
  sync_only(d);
  d.in.mode = static_cast<u8>(d.must("mode", {"up", "down", "bfly", "idx"}));
  d.type_among({T::b32});
  const std::size_t n = (d.in.flags >> 31) != 0 ? 2 : 1;
  d.operands(n + 4, n + 4);
  d.result(0, T::b32);
  if (n == 2 && d.op(1).kind != Operand::kPred && d.op(1).kind != Operand::kSink) d.fail("the second result is a predicate");
  d.values(n, T::b32);
  d.in.results = static_cast<u8>(n);
  d.in.run = shuffle;
}

void decode_vote(Decode& d) {
  sync_only(d);
  d.in.mode = static_cast<u8>(d.must("mode", {"all", "any", "uni", "ballot"}));
  d.in.type = d.type_among({T::pred, T::b32});
  if ((d.in.mode == 3) != (d.in.type == T::b32)) d.fail("the type does not fit the mode");
  d.operands(3, 3);
  if (d.in.mode == 3)
    d.result(0, T::b32);
  else if (d.op(0).kind != Operand::kPred)
    d.fail("the result is a predicate");
  d.predicate(1), d.value(2, T::b32);
  d.in.run = vote;
}

void decode_barrier(Decode& d) {
  const bool is_bar = d.name == "bar";
  if (d.take("warp")) {
    sync_only(d);
    d.operands(1, 1);
    d.value(0, T::b32);
    d.in.run = warp_barrier;
    return;
  }
  if (d.take("cluster")) return decode_cluster_barrier(d);
  d.take("cta");
  const int what = d.must("operation", {"sync", "red", "arrive"});
  const int op = what == 1 ? d.must("operation", {"popc", "and", "or"}) : 0;
  d.in.mode = static_cast<u8>(what == 0 ? 0 : what == 1 ? 1 + op : 4);
  const bool aligned = d.take("aligned");
  d.in.mode2 = is_bar || aligned;
  if (what == 1) {
    d.type_among({op == 0 ? T::u32 : T::pred});
    d.operands(3, 4);
    if (op == 0)
      d.result(0, T::u32);
    else if (d.op(0).kind != Operand::kPred)
      d.fail("the result is a predicate");
    d.value(1, T::u32);
    if (d.in.ops.size() == 4) d.value(2, T::u32);
    d.predicate(d.in.ops.size() - 1);
  } else {
    d.operands(what == 2 ? 2 : 1, 2);
    d.values(0, T::u32);
  }
  d.in.flow = Flow::kBarrier;
  d.in.run = [](Warp&, const Instr&, u32) {};
}

}  // namespace

void add_barriers(Table& t) { t["bar"] = t["barrier"] = decode_barrier; }

void add_warps(Table& t) {
  t["shfl"] = decode_shuffle;
  t["vote"] = decode_vote;
  t["match"] = [](Decode& d) {
    d.in.mode = static_cast<u8>(d.must("mode", {"any", "all"}));
    sync_only(d);
    d.in.type = d.type_among({T::b32, T::b64});
    const std::size_t n = (d.in.flags >> 31) != 0 ? 2 : 1;
    d.operands(n + 2, n + 2);
    d.result(0, T::b32), d.value(n, d.in.type), d.value(n + 1, T::b32);
    d.in.results = static_cast<u8>(n);
    d.in.run = match;
  };
  t["redux"] = [](Decode& d) {
    sync_only(d);
    d.in.mode = static_cast<u8>(d.must("operation", {"add", "min", "max", "and", "or", "xor"}));
    d.in.type = d.in.mode < 3 ? d.type_among({T::u32, T::s32}) : d.type_among({T::b32});
    d.operands(3, 3);
    d.result(0, T::b32), d.value(1, T::b32), d.value(2, T::b32);
    d.in.run = reduce;
  };
  t["elect"] = [](Decode& d) {
    sync_only(d);
    d.operands(3, 3);
    d.result(0, T::b32), d.value(2, T::b32);
    if (d.op(1).kind != Operand::kPred) d.fail("the second result is a predicate");
    d.in.run = elect;
  };
  t["activemask"] = [](Decode& d) {
    d.type_among({T::b32});
    d.operands(1, 1);
    d.result(0, T::b32), d.results(1);
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      u64* d32 = w.dst(i.ops[0]);
      each(mask, [&](int l) { d32[l] = mask; });
    };
  };
}

}  // namespace ashlar::ptx
