// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld, st, and what has no effect on values: prefetches, fences.
#include <cstring>

#include "tests/ptx/executor/access.h"
#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {

u64 address_of(Warp& w, const Instr& i, const Operand& o, int lane) {
  const Operand& base = o.parts[0];
  const u64 value = base.kind == Operand::kReg ? w.r[std::size_t(base.index) * 32 + static_cast<u32>(lane)] : w.src(base)[lane];
  (void)i;
  if (base.kind == Operand::kReg && base.bits == 32)
    return static_cast<u32>(static_cast<u32>(value) + static_cast<u32>(o.offset));
  return value + static_cast<u64>(o.offset);
}

namespace {

u64 fetched(const u8* from, u32 bytes) {
  u64 v = 0;
  std::memcpy(&v, from, bytes);
  return v;
}
bool all_written(const u8* written, u32 bytes) {
  for (u32 n = 0; n < bytes; ++n)
    if (written[n] == 0) return false;
  return true;
}
u64 unwritten_bits(const u8* written, u32 bytes) {
  u64 bits = 0;
  for (u32 n = 0; n < bytes; ++n)
    if (written[n] == 0) bits |= u64(0xff) << (8 * n);
  return bits;
}
void know_lane(Warp& w, const Instr& i, u32 slot, int lane, bool known, u64 address, u64 unknown = ~u64(0)) {
  const u32 bit = 1u << lane;
  w.k[slot] = known ? w.k[slot] | bit : w.k[slot] & ~bit;
  if (known) return;
  if (unknown != ~u64(0) || !w.partial.empty()) {
    auto [at, fresh] = w.partial.try_emplace(w.frame->slots + slot);
    if (fresh) at->second.fill(~u64(0));
    at->second[static_cast<std::size_t>(lane)] = unknown;
  }
  w.origins[{w.frame->slots + slot, static_cast<u32>(lane)}] = {i.line, address};
}

void load(Warp& w, const Instr& i, u32 mask) {
  const Operand& address = i.ops[1];
  if (address.parts[0].kind == Operand::kReg) w.need_known(i, address.parts[0], mask, "the address");
  const u32 bytes = static_cast<u32>(bytes_of(i.type)), total = bytes * i.count;
  const bool sign = is_signed(i.type);
  each(mask, [&](int l) {
    const u64 at = address_of(w, i, address, l);
    const Place p = locate(w, i, l, i.space, at, total, false, total);
    if ((i.flags & kStrong) != 0) synchronize(w, p, true, false);
    if (p.block != nullptr || p.allocation != nullptr) accessed(w, i, l, p, total, false, (i.flags & kStrong) != 0, nullptr);
    for (u32 e = 0; e < i.count; ++e) {
      const Operand& o = i.ops[0].parts[e];
      if (o.kind != Operand::kReg) continue;
      const u8 *from = p.data + e * bytes, *shadow = p.written + e * bytes;
      u64* d = w.r + std::size_t(o.index) * 32 + static_cast<u32>(l);
      if (bytes == 16) {
        *d = fetched(from, 8), d[32] = fetched(from + 8, 8);
        know_lane(w, i, o.index, l, all_written(shadow, 8), at),
            know_lane(w, i, o.index + 1, l, all_written(shadow + 8, 8), at);
        continue;
      }
      u64 v = fetched(from, bytes);
      if (sign) {
        const int n = 64 - static_cast<int>(bytes) * 8;
        v = static_cast<u64>(static_cast<i64>(v << n) >> n);
        if (o.bits < 64) v &= (u64(1) << o.bits) - 1;
      }
      *d = v;
      const bool known = all_written(shadow, bytes);
      know_lane(w, i, o.index, l, known, at + e * bytes, known ? 0 : sign ? ~u64(0) : unwritten_bits(shadow, bytes));
    }
  });
}

void store(Warp& w, const Instr& i, u32 mask) {
  const Operand& address = i.ops[0];
  if (address.parts[0].kind == Operand::kReg) w.need_known(i, address.parts[0], mask, "the address");
  const u32 bytes = static_cast<u32>(bytes_of(i.type)), total = bytes * i.count;
  alignas(16) u8 value[64], known[64];
  each(mask, [&](int l) {
    const u64 at = address_of(w, i, address, l);
    const Place p = locate(w, i, l, i.space, at, total, true, total);
    for (u32 e = 0; e < i.count; ++e) {
      const Operand& o = i.ops[1].parts[e];
      const u64* from = w.src(o);
      const bool is_known = (w.known_of(o) >> l & 1) != 0;
      std::memset(known + e * bytes, 1, bytes);
      if (!is_known) {
        const u64 unknown = bytes == 16 ? ~u64(0) : unknown_of(w, o, l);
        bool any = false;
        for (u32 n = 0; n < bytes; ++n)
          known[e * bytes + n] = n < 8 && (unknown >> (8 * n) & 0xff) == 0, any = any || known[e * bytes + n] == 0;
        if (any && p.allocation != nullptr) w.need_known(i, o, 1u << l, "what is stored in global memory");
      }
      if (bytes == 16)
        std::memcpy(value + e * 16, from + l, 8), std::memcpy(value + e * 16 + 8, from + l + 32, 8);
      else
        std::memcpy(value + e * bytes, from + l, bytes);
    }
    if (p.block != nullptr || p.allocation != nullptr) accessed(w, i, l, p, total, true, (i.flags & kStrong) != 0, value);
    if ((i.flags & kStrong) != 0) synchronize(w, p, false, true);
    std::memcpy(p.data, value, total);
    std::memcpy(p.written, known, total);
  });
  if ((i.flags & kStrong) != 0) ++w.run->current->progress;
}

void vectors(Decode& d) {
  static constexpr struct {
    const char* name;
    u8 count;
  } counts[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};
  d.in.count = 1;
  for (const auto& c : counts)
    if (d.take(c.name)) d.in.count = c.count;
}

void common(Decode& d, bool is_store) {
  // .volatile, .relaxed and stronger ones may meet accesses of others
  const bool strong = d.take("volatile");
  const bool ordered = d.one_of({"relaxed", "acquire", "release"}) >= 0;
  d.take("weak");
  d.take("mmio");
  if (d.scope() && !ordered) d.fail("a scope needs .relaxed, .acquire or .release");
  if (strong || ordered) d.in.flags |= kStrong;
  d.in.space = d.space(Space::kGeneric);
  const bool hinted = d.take("L2::cache_hint");
  d.hints();
  if (!is_store) d.take("nc"), d.take("unified");
  vectors(d);
  d.in.type = d.type();
  const T t = d.in.type;
  if (t == T::pred || bits_of(t) < 8 || t == T::f16x2 || t == T::bf16x2 || t == T::tf32)
    d.fail(std::string("is not known for .") + name_of(t));
  if (u32(bytes_of(t)) * d.in.count > 32) d.fail("an access has at most 32 bytes");
  const std::size_t n = hinted ? 3 : 2;
  d.operands(n, n);
  d.address(is_store ? 0 : 1);
  if (hinted) d.value(2, T::b64);
  if (is_store && d.in.space == Space::kConst) d.fail("stores to .const memory");
  d.vector(is_store ? 1 : 0, d.in.count, t, true, !is_store);
  d.in.run = is_store ? store : load;
}

void nothing(Warp&, const Instr&, u32) {}

// Each lane's accesses come in order, and every one sees what came before in the order of execution: a fence has nothing to do.
// What a program would see without one is not modeled.
void fence(Decode& d) {
  const bool proxy = d.name == "fence" && (d.take("proxy") || d.take("mbarrier_init"));
  bool async = false;
  if (proxy) {
    async = d.take("async");
    d.one_of({"alias", "async", "async::generic", "tensormap::generic"});
    d.take("async.global"), d.take("global"), d.take("shared::cta"), d.take("shared::cluster");
    d.take("sync_restrict::shared::cta"), d.take("sync_restrict::shared::cluster");
    for (int n = 0; n < 2 && d.order(); ++n) {}
    d.scope();
    d.operands(0, 2);
  } else {
    if (d.name == "membar" && d.take("proxy")) d.must("proxy", {"alias"});
    d.order();
    d.scope();
    d.operands(0, 0);
  }
  d.in.run = nothing;
  if (async)
    d.in.run = [](Warp& w, const Instr&, u32 mask) {
      each(mask, [&](int l) { w.proxy_fenced[static_cast<std::size_t>(l)] = w.run->time; });
    };
}

void prefetch(Decode& d) {
  d.in.space = d.space(Space::kGeneric);
  if (!d.take("tensormap") && d.one_of({"L1", "L2"}) < 0) { d.hints(); }
  for (const char* s : {"L2::evict_last", "L2::evict_normal"}) d.take(s);
  d.operands(1, 2);
  d.address(0);
  d.in.run = nothing;
}

}  // namespace

void add_memory(Table& t) {
  t["ld"] = [](Decode& d) { common(d, false); };
  t["ldu"] = [](Decode& d) { common(d, false); };
  t["st"] = [](Decode& d) { common(d, true); };
  t["fence"] = t["membar"] = fence;
  t["prefetch"] = t["prefetchu"] = prefetch;
  t["createpolicy"] = [](Decode& d) {  // a policy is a hint: its bits have no meaning here
    d.one_of({"fractional", "range"});
    d.space(Space::kGeneric);
    for (const char* s : {"L2::evict_first", "L2::evict_last", "L2::evict_normal", "L2::evict_unchanged"}) d.take(s), d.take(s);
    d.type_among({T::b64});
    d.operands(1, 4);
    d.result(0, T::b64);
    d.results(1);
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      u64* r = w.dst(i.ops[0]);
      each(mask, [&](int l) { r[l] = 0; });
    };
  };
  t["griddepcontrol"] = [](Decode& d) {  // launches come one after the other
    d.must("what", {"launch_dependents", "wait"});
    d.operands(0, 0);
    d.in.run = nothing;
  };
  t["setmaxnreg"] = [](Decode& d) {
    d.must("direction", {"inc", "dec"});
    if (!d.take("sync") || !d.take("aligned")) d.fail("expected .sync.aligned");
    d.type_among({T::u32});
    d.operands(1, 1);
    const u64 n = d.number(0, "the number of registers");
    if (n < 24 || n > 256 || n % 8 != 0) d.fail("the number of registers is a multiple of 8 from 24 to 256");
    d.in.run = nothing;
  };
}

}  // namespace ashlar::ptx
