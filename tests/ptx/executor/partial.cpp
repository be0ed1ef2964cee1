// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/partial.h"

#include <algorithm>

namespace ashlar::ptx {

u64 unknown_of(const Warp& w, const Operand& o, int lane) {
  if (o.kind != Operand::kReg || (w.k[o.index] >> lane & 1) != 0) return 0;
  const auto at = w.partial.find(w.frame->slots + o.index);
  return at == w.partial.end() ? ~u64(0) : at->second[static_cast<std::size_t>(lane)];
}

void set_unknown(Warp& w, const Operand& result, u32 mask, const std::array<u64, 32>& bits) {
  if (result.kind != Operand::kReg) return;
  u32 known = 0;
  each(mask, [&](int l) { known |= u32(bits[static_cast<std::size_t>(l)] == 0) << l; });
  w.know(result, mask, known);
  if ((mask & ~known) == 0) return;
  auto [at, fresh] = w.partial.try_emplace(w.frame->slots + result.index);
  if (fresh) at->second.fill(~u64(0));
  each(mask & ~known, [&](int l) { at->second[static_cast<std::size_t>(l)] = bits[static_cast<std::size_t>(l)]; });
}

namespace unknown {
namespace {

u64 low(u64 n) { return n >= 64 ? ~u64(0) : (u64(1) << n) - 1; }
u64 whole(const Instr& i) { return low(static_cast<u64>(std::max(16, bits_of(i.type)))); }

}  // namespace

u64 all(const Instr&, const u64*, const u64*) { return ~u64(0); }

u64 logic(const Instr& i, const u64* a, const u64* u) {
  const u64 either = u[0] | u[1];
  if (i.mode == 2) return either & whole(i);
  // a known 0 decides an and, a known 1 an or
  const u64 decided = i.mode == 0 ? (~u[0] & ~a[0]) | (~u[1] & ~a[1]) : (~u[0] & a[0]) | (~u[1] & a[1]);
  return either & ~decided & whole(i);
}
u64 same(const Instr& i, const u64*, const u64* u) { return u[0] & whole(i); }
u64 upward(const Instr& i, const u64*, const u64* u) {
  const u64 either = (u[0] | u[1] | u[2]) & whole(i);
  return either == 0 ? 0 : ~((either & (0 - either)) - 1) & whole(i);
}
u64 shift_left(const Instr& i, const u64* a, const u64* u) {
  if (u[1] != 0) return ~u64(0);
  const u32 n = static_cast<u32>(a[1]);
  return n >= static_cast<u32>(bits_of(i.type)) ? 0 : u[0] << n & whole(i);
}
u64 shift_right(const Instr& i, const u64* a, const u64* u) {
  if (u[1] != 0) return ~u64(0);
  const u32 size = static_cast<u32>(bits_of(i.type)), n = std::min(static_cast<u32>(a[1]), size);
  const u64 bits = u[0] & whole(i), top = bits >> (size - 1) & 1;
  const u64 moved = n >= 64 ? 0 : bits >> n;
  return (is_signed(i.type) && top != 0 ? moved | ~low(size - n) : moved) & whole(i);
}
u64 extract(const Instr& i, const u64* a, const u64* u) {
  if ((u[1] | u[2]) != 0) return ~u64(0);
  const u64 pos = a[1] & 0xff, n = a[2] & 0xff;
  if (n == 0 || pos >= 64) return 0;
  const u64 field = (u[0] & whole(i)) >> pos & low(n);
  return is_signed(i.type) && field != 0 ? ~u64(0) : field;
}
u64 insert(const Instr& i, const u64* a, const u64* u) {
  if ((u[2] | u[3]) != 0) return ~u64(0);
  const u64 pos = a[2] & 0xff, n = a[3] & 0xff;
  const u64 field = pos >= 64 ? 0 : low(n) << pos;
  return ((u[1] & ~field) | (pos >= 64 ? 0 : (u[0] << pos) & field)) & whole(i);
}
u64 permute(const Instr& i, const u64* a, const u64* u) {
  if (i.mode != 0 || (u[2] & 0xffff) != 0) return ~u64(0);
  const u64 both = (u[1] << 32) | (u[0] & 0xffffffff);
  u64 r = 0;
  for (u32 n = 0; n < 4; ++n) {
    const u64 selector = a[2] >> (4 * n) & 15, byte = both >> (8 * (selector & 7)) & 0xff;
    r |= ((selector & 8) != 0 ? ((byte & 0x80) != 0 ? u64(0xff) : 0) : byte) << (8 * n);
  }
  return r;
}
u64 convert(const Instr& i, const u64*, const u64* u) {
  if (is_float(i.type) || is_float(i.from) || i.flags != 0) return ~u64(0);
  const int n = std::min(bits_of(i.type), bits_of(i.from));
  const u64 bits = u[0] & low(static_cast<u64>(n));
  const bool top = (bits >> (n - 1) & 1) != 0 && (is_signed(i.type) || is_signed(i.from));
  return top ? bits | ~low(static_cast<u64>(n)) : bits;
}
u64 sign(const Instr& i, const u64*, const u64* u) {
  const u64 top = u64(1) << (bits_of(i.type) - 1);
  return ((u[0] & top) | (u[1] & ~top)) & whole(i);
}

u64 halves(const Instr& i, const u64*, const u64* u) {
  const u64 size = static_cast<u64>(bits_of(i.type)) / 2, either = u[0] | u[1] | u[2];
  return ((either & low(size)) != 0 ? low(size) : 0) | ((either >> size & low(size)) != 0 ? low(size) << size : 0);
}
u64 packed(const Instr& i, const u64*, const u64* u) {
  const u64 size = static_cast<u64>(bits_of(i.type)) / 2;
  return (u[1] != 0 ? low(size) : 0) | (u[0] != 0 ? low(size) << size : 0);
}

}  // namespace unknown

}  // namespace ashlar::ptx
