// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SIMD video instructions, v<operation>4 and v<operation>2: on the bytes or halves of a register, written whole (no mask of .b
// or .h, bytes in order). With .add the parts' results are summed and added to c.
#include <algorithm>

#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/device.h"

namespace ashlar::ptx {
namespace {

enum Video : u8 { kVideoAdd, kVideoSub, kVideoDistance, kVideoMin, kVideoMax };

// mode: the operation; count: 4 or 2 parts; flags: bits for a signed a, b, d, .sat, .add
enum Flag : u32 { kSignedA = 1, kSignedB = 2, kSignedD = 4, kSaturates = 8, kSums = 16 };

i64 part(u64 v, int n, int bits, bool sign) {
  const u64 field = (v >> (n * bits)) & ((u64(1) << bits) - 1);
  return sign && (field >> (bits - 1)) != 0 ? static_cast<i64>(field) - (i64(1) << bits) : static_cast<i64>(field);
}

i64 combined(u8 operation, i64 a, i64 b) {
  switch (operation) {
    case kVideoAdd:
      return a + b;
    case kVideoSub:
      return a - b;
    case kVideoDistance:
      return a < b ? b - a : a - b;
    case kVideoMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

void video(Warp& w, const Instr& i, u32 mask) {
  const int parts = i.count, bits = 32 / parts;
  const bool sums = (i.flags & kSums) != 0, sign = (i.flags & kSignedD) != 0;
  map3<u32>(w, i, mask, [&](u64 a, u64 b, u64 c) {
    u32 d = 0, sum = static_cast<u32>(c);
    for (int n = 0; n < parts; ++n) {
      i64 r = combined(i.mode, part(a, n, bits, (i.flags & kSignedA) != 0), part(b, n, bits, (i.flags & kSignedB) != 0));
      if ((i.flags & kSaturates) != 0)
        r = std::clamp<i64>(r, sign ? -(i64(1) << (bits - 1)) : 0, (i64(1) << (sign ? bits - 1 : bits)) - 1);
      sum += static_cast<u32>(r);
      d |= (static_cast<u32>(r) & ((u32(1) << bits) - 1)) << (n * bits);
    }
    return sums ? sum : d;
  });
}

template <u8 Operation, u8 Parts>
void decode(Decode& d) {
  const bool sat = d.take("sat"), sums = d.take("add");
  u32 flags = (sat ? u32(kSaturates) : 0) | (sums ? u32(kSums) : 0);
  for (const u32 sign : {kSignedD, kSignedA, kSignedB})
    if (is_signed(d.type_among({T::u32, T::s32}))) flags |= sign;
  if (sat && sums) d.fail(".sat and .add exclude each other");
  d.in.mode = Operation, d.in.count = Parts, d.in.flags = flags;
  d.operands(4, 4);
  d.result(0, T::b32), d.values(1, T::b32), d.results(1);
  d.in.run = video;
}

}  // namespace

void add_video(Table& t) {
  t["vadd4"] = decode<kVideoAdd, 4>, t["vadd2"] = decode<kVideoAdd, 2>;
  t["vsub4"] = decode<kVideoSub, 4>, t["vsub2"] = decode<kVideoSub, 2>;
  t["vabsdiff4"] = decode<kVideoDistance, 4>, t["vabsdiff2"] = decode<kVideoDistance, 2>;
  t["vmin4"] = decode<kVideoMin, 4>, t["vmin2"] = decode<kVideoMin, 2>;
  t["vmax4"] = decode<kVideoMax, 4>, t["vmax2"] = decode<kVideoMax, 2>;
}

}  // namespace ashlar::ptx
