// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red: lane after lane.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/ptx/executor/access.h"
#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/numbers.h"

namespace ashlar::ptx {
namespace {

enum Op : u8 { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas };

template <class V>
u64 integers(u8 op, u64 x, u64 y) {
  const V a = static_cast<V>(x), b = static_cast<V>(y);
  using U = std::make_unsigned_t<V>;
  switch (op) {
    case kAdd:
      return static_cast<U>(static_cast<U>(a) + static_cast<U>(b));
    case kMin:
      return static_cast<U>(std::min(a, b));
    case kMax:
      return static_cast<U>(std::max(a, b));
    case kInc:
      return a >= b ? 0 : static_cast<U>(a + 1);
    case kDec:
      return a == 0 || a > b ? static_cast<U>(b) : static_cast<U>(a - 1);
    case kAnd:
      return static_cast<U>(a & b);
    case kOr:
      return static_cast<U>(a | b);
    default:
      return static_cast<U>(a ^ b);
  }
}

u32 half(u8 op, u32 a, u32 b, bool bf) {
  const double x = bf ? bf16_of(a) : f16_of(a), y = bf ? bf16_of(b) : f16_of(b);
  double r = 0;
  if (op == kAdd)
    r = fused_to_odd(x, 1, y);
  else
    r = std::isnan(x)             ? y
        : std::isnan(y)           ? x
        : x == y                  ? (std::signbit(x) != (op == kMax) ? x : y)
        : (x < y) != (op == kMax) ? x
                                  : y;
  return round_to(r, bf ? kBf16 : kF16, kNearest);
}

u64 combined(const Instr& i, u64 a, u64 b, bool global) {
  if (i.mode == kExch) return b;
  switch (i.type) {
    case T::s32:
      return integers<i32>(i.mode, a, b);
    case T::u32:
    case T::b32:
      return integers<u32>(i.mode, a, b);
    case T::s64:
      return integers<i64>(i.mode, a, b);
    case T::u64:
    case T::b64:
      return integers<u64>(i.mode, a, b);
    case T::f32: {  // in global memory subnormal numbers are zeros
      const float x = global ? flushed(f32_of(a)) : f32_of(a), y = global ? flushed(f32_of(b)) : f32_of(b);
      const float s = x + y;
      return std::isnan(s) ? 0x7fffffff : bits_of_f32(global ? flushed(s) : s);
    }
    case T::f64:
      return bits_of_f64(f64_of(a) + f64_of(b));
    case T::f16:
    case T::bf16:
      return half(i.mode, static_cast<u32>(a) & 0xffff, static_cast<u32>(b) & 0xffff, i.type == T::bf16);
    default: {
      const bool bf = i.type == T::bf16x2;
      return half(i.mode, static_cast<u32>(a) & 0xffff, static_cast<u32>(b) & 0xffff, bf) |
             half(i.mode, static_cast<u32>(a >> 16) & 0xffff, static_cast<u32>(b >> 16) & 0xffff, bf) << 16;
    }
  }
}

void run(Warp& w, const Instr& i, u32 mask) {
  const std::size_t first = i.results;  // of the address
  const Operand& address = i.ops[first];
  if (address.parts[0].kind == Operand::kReg) w.need_known(i, address.parts[0], mask, "the address");
  for (std::size_t n = first + 1; n < i.ops.size(); ++n) w.need_known(i, i.ops[n], mask, "what is combined");
  const u32 bytes = static_cast<u32>(bytes_of(i.type));
  const u64 *b = w.src(i.ops[first + 1], 0), *c = i.mode == kCas ? w.src(i.ops[first + 2], 1) : nullptr;
  u64* d = first != 0 ? w.dst(i.ops[0]) : nullptr;
  u32 known = 0;
  each(mask, [&](int l) {
    const Place p = locate(w, i, l, i.space, address_of(w, i, address, l), bytes, true, bytes);
    synchronize(w, p, true, false);
    accessed(w, i, l, p, bytes, true, true, nullptr);
    synchronize(w, p, false, true);
    const bool written = std::all_of(p.written, p.written + bytes, [](u8 x) { return x != 0; });
    if (!written && i.mode != kExch && w.run->state.checks.unwritten)
      w.fault(FaultKind::kUnwritten, i, l, "it combines with memory that nobody wrote", address_of(w, i, address, l));
    u64 old[2] = {0, 0};
    std::memcpy(old, p.data, bytes);
    if (bytes == 16) {
      const bool same = i.mode == kExch || (old[0] == b[l] && old[1] == b[l + 32]);
      const u64* by = i.mode == kExch ? b : c;
      const u64 fresh[2] = {by[l], by[l + 32]};
      if (same) std::memcpy(p.data, fresh, 16), std::memset(p.written, 1, 16);
      if (d != nullptr) d[l] = old[0], d[l + 32] = old[1];
    } else {
      const u64 keep = bytes == 8 ? ~u64(0) : (u64(1) << (8 * bytes)) - 1;
      const u64 fresh = i.mode == kCas ? (old[0] == (b[l] & keep) ? c[l] & keep : old[0])
                                       : combined(i, old[0], b[l] & keep, p.allocation != nullptr);
      std::memcpy(p.data, &fresh, bytes);
      std::memset(p.written, 1, bytes);
      if (d != nullptr) d[l] = old[0];
    }
    known |= u32(written) << l;
  });
  if (d != nullptr) {
    w.know(i.ops[0], mask, known);
    if (bytes == 16) {
      Operand second = i.ops[0];
      ++second.index;
      w.know(second, mask, known);
    }
  }
  ++w.run->current->progress;
}

void decode(Decode& d, bool result) {
  d.order();
  d.scope();
  if (d.take("async")) d.fail("the modifier .async is not known");
  d.in.space = d.space(Space::kGeneric);
  const bool hinted = d.take("L2::cache_hint");
  const bool noftz = d.take("noftz");
  d.in.mode = static_cast<u8>(d.must("operation", {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"}));
  const u8 op = d.in.mode;
  if (op >= kAnd)
    d.in.type = op >= kExch ? d.type_among({T::b16, T::b32, T::b64, T::b128, T::u32, T::u64, T::s32, T::s64, T::f32, T::f64})
                            : d.type_among({T::b32, T::b64, T::u32, T::u64, T::s32, T::s64});
  else if (op == kAdd)
    d.in.type = d.type_among({T::u32, T::s32, T::u64, T::s64, T::f32, T::f64, T::f16, T::bf16, T::f16x2, T::bf16x2});
  else
    d.in.type = op <= kMax ? d.type_among({T::u32, T::s32, T::u64, T::s64, T::f16, T::bf16, T::f16x2, T::bf16x2})
                           : d.type_among({T::u32});
  const T t = d.in.type;
  const bool halves = t == T::f16 || t == T::bf16 || t == T::f16x2 || t == T::bf16x2;
  if (halves != noftz) d.fail(".noftz is of halves, which need it");
  if (d.in.space == Space::kLocal || d.in.space == Space::kConst || d.in.space == Space::kParam)
    d.fail("is of global and shared memory");
  const std::size_t first = result ? 1 : 0, n = first + 2 + (op == kCas ? 1 : 0) + (hinted ? 1 : 0);
  d.operands(n, n);
  if (result) d.result(0, t);
  d.address(first);
  d.value(first + 1, t);
  if (op == kCas) d.value(first + 2, t);
  if (hinted) d.value(n - 1, T::b64);
  d.in.results = static_cast<u8>(first);
  d.in.run = run;
}

}  // namespace

void add_atomics(Table& t) {
  t["atom"] = [](Decode& d) { decode(d, true); };
  t["red"] = [](Decode& d) { decode(d, false); };
}

}  // namespace ashlar::ptx
