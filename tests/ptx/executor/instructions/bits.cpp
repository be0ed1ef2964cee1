// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logic, shifts, fields of bits.
#include <algorithm>

#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {
namespace {

u64 low_bits(u64 n) { return n >= 64 ? ~u64(0) : (u64(1) << n) - 1; }
u64 trimmed(u64 v, T t) { return v & low_bits(static_cast<u64>(bits_of(t))); }
i64 extended(u64 v, T t) {
  const int n = 64 - bits_of(t);
  return static_cast<i64>(v << n) >> n;
}

enum Logic : u8 { kAnd, kOr, kXor };
u64 logic(u8 op, u64 a, u64 b) { return op == kAnd ? a & b : op == kOr ? a | b : a ^ b; }

void logical(Decode& d, Logic op) {
  d.in.type = d.type_among({T::pred, T::b16, T::b32, T::b64});
  d.in.mode = op;
  d.operands(3, 3);
  d.results(1);
  if (d.in.type == T::pred) {
    if (d.op(0).kind != Operand::kPred) d.fail("the result is a predicate");
    d.predicate(1), d.predicate(2);
    d.in.propagate = false;
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {  // one that is known may decide
      const u32 a = w.pred(i.ops[1]), b = w.pred(i.ops[2]), ka = w.known_of(i.ops[1]), kb = w.known_of(i.ops[2]);
      const u32 decides = i.mode == kAnd ? (ka & ~a) | (kb & ~b) : i.mode == kOr ? (ka & a) | (kb & b) : 0;
      w.set_pred(i.ops[0], mask, static_cast<u32>(logic(i.mode, a, b)));
      w.know(i.ops[0], mask, (ka & kb) | decides);
    };
    return;
  }
  d.result(0, d.in.type), d.values(1, d.in.type);
  d.in.unknown = unknown::logic;
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map2<u64>(w, i, mask, [&](u64 a, u64 b) { return trimmed(logic(i.mode, a, b), i.type); });
  };
}

void negation(Decode& d) {
  d.in.type = d.type_among({T::pred, T::b16, T::b32, T::b64});
  d.operands(2, 2);
  d.results(1);
  if (d.in.type == T::pred) {
    if (d.op(0).kind != Operand::kPred) d.fail("the result is a predicate");
    d.predicate(1);
    d.in.run = [](Warp& w, const Instr& i, u32 mask) { w.set_pred(i.ops[0], mask, ~w.pred(i.ops[1])); };
    return;
  }
  d.result(0, d.in.type), d.value(1, d.in.type);
  d.in.unknown = unknown::same;
  d.in.run = [](Warp& w, const Instr& i, u32 mask) { map1<u64>(w, i, mask, [&](u64 a) { return trimmed(~a, i.type); }); };
}

void shift(Decode& d, bool right) {
  d.in.type = right ? d.type_among({T::b16, T::b32, T::b64, T::u16, T::u32, T::u64, T::s16, T::s32, T::s64})
                    : d.type_among({T::b16, T::b32, T::b64});
  d.operands(3, 3);
  d.result(0, d.in.type), d.value(1, d.in.type), d.value(2, T::u32), d.results(1);
  d.in.unknown = right ? unknown::shift_right : unknown::shift_left;
  if (!right)
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      map2<u64>(w, i, mask, [&](u64 a, u64 b) {
        return static_cast<u32>(b) >= static_cast<u32>(bits_of(i.type)) ? 0 : trimmed(a << static_cast<u32>(b), i.type);
      });
    };
  else
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      map2<u64>(w, i, mask, [&](u64 a, u64 b) {
        const u32 size = static_cast<u32>(bits_of(i.type)), n = std::min(static_cast<u32>(b), size);
        if (is_signed(i.type)) return trimmed(static_cast<u64>(extended(a, i.type) >> std::min(n, 63u)), i.type);
        return n >= size ? 0 : trimmed(a, i.type) >> n;
      });
    };
}

// shf.l: the upper half of {b, a} shifted left; shf.r: the lower half of it shifted right. mode2: .wrap
void funnel(Decode& d) {
  d.in.mode = static_cast<u8>(d.must("direction", {"l", "r"}));
  d.in.mode2 = static_cast<u8>(d.must("mode (.clamp, .wrap)", {"clamp", "wrap"}));
  d.in.type = d.type_among({T::b32});
  d.operands(4, 4);
  d.result(0, T::b32), d.values(1, T::b32), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map3<u32>(w, i, mask, [&](u64 a, u64 b, u64 c) {
      const u32 n = i.mode2 != 0 ? static_cast<u32>(c) & 31 : std::min(static_cast<u32>(c), 32u);
      const u64 both = static_cast<u64>(static_cast<u32>(b)) << 32 | static_cast<u32>(a);
      return static_cast<u32>(i.mode == 0 ? (n == 32 ? a : both << n >> 32) : n == 32 ? b : both >> n);
    });
  };
}

void extract(Decode& d) {
  d.in.type = d.type_among({T::u32, T::s32, T::u64, T::s64});
  d.operands(4, 4);
  d.result(0, d.in.type), d.value(1, d.in.type), d.value(2, T::u32), d.value(3, T::u32), d.results(1);
  d.in.unknown = unknown::extract;
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map3<u64>(w, i, mask, [&](u64 a, u64 b, u64 c) {
      const int top = bits_of(i.type) - 1, pos = static_cast<int>(b & 0xff), len = static_cast<int>(c & 0xff);
      const bool fills = is_signed(i.type) && len > 0 && ((a >> std::min(pos + len - 1, top)) & 1) != 0;
      const u64 field = pos > top ? 0 : (trimmed(a, i.type) >> pos) & low_bits(static_cast<u64>(len));
      const int valid = std::max(std::min(len, top + 1 - pos), 0);
      return trimmed(fills ? field | ~low_bits(static_cast<u64>(valid)) : field, i.type);
    });
  };
}

void insert(Decode& d) {  // bfi d, a, b, pos, len: a into b
  d.in.type = d.type_among({T::b32, T::b64});
  d.operands(5, 5);
  d.result(0, d.in.type), d.value(1, d.in.type), d.value(2, d.in.type), d.value(3, T::u32), d.value(4, T::u32), d.results(1);
  d.in.unknown = unknown::insert;
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const u64* len = nullptr;
    std::array<u64, 32> room;
    const u64* from = w.src(i.ops[4], 0);
    std::copy_n(from, 32, room.begin()), len = room.data();
    const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1), *c = w.src(i.ops[3], 2);
    u64* r = w.dst(i.ops[0]);
    each(mask, [&](int l) {
      const u64 pos = c[l] & 0xff, n = len[l] & 0xff;
      const u64 field = pos >= 64 ? 0 : low_bits(n) << pos;
      r[l] = trimmed((b[l] & ~field) | (pos >= 64 ? 0 : (a[l] << pos) & field), i.type);
    });
  };
}

u64 reversed(u64 v) {
  u64 r = 0;
  for (int n = 0; n < 64; ++n) r |= ((v >> n) & 1) << (63 - n);
  return r;
}

enum Count : u8 { kReverse, kClz, kPopc };
void counted(Decode& d, Count op) {
  d.in.type = d.type_among({T::b32, T::b64});
  d.in.mode = op;
  d.operands(2, 2);
  d.result(0, op == kReverse ? d.in.type : T::u32), d.value(1, d.in.type), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const int bits = bits_of(i.type);
    map1<u64>(w, i, mask, [&](u64 a) {
      a = trimmed(a, i.type);
      return i.mode == kReverse ? reversed(a) >> (64 - bits)
             : i.mode == kClz   ? static_cast<u64>(std::countl_zero(a) - (64 - bits))
                                : static_cast<u64>(std::popcount(a));
    });
  };
}

void find(Decode& d) {
  d.in.mode = d.take("shiftamt");
  d.in.type = d.type_among({T::u32, T::s32, T::u64, T::s64});
  d.operands(2, 2);
  d.result(0, T::u32), d.value(1, d.in.type), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map1<u32>(w, i, mask, [&](u64 a) {
      if (is_signed(i.type) && extended(a, i.type) < 0) a = ~a;
      a = trimmed(a, i.type);
      if (a == 0) return ~u32(0);
      const u32 at = 63 - static_cast<u32>(std::countl_zero(a));
      return i.mode != 0 ? static_cast<u32>(bits_of(i.type)) - 1 - at : at;
    });
  };
}

// mode: 0 by selector; 1 f4e, b4e, rc8, ecl, ecr, rc16
void permute(Decode& d) {
  d.in.type = d.type_among({T::b32});
  d.in.mode = static_cast<u8>(d.one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1);
  d.operands(4, 4);
  d.result(0, T::b32), d.values(1, T::b32), d.results(1);
  d.in.unknown = unknown::permute;
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map3<u32>(w, i, mask, [&](u64 a, u64 b, u64 c) {
      const u64 both = b << 32 | static_cast<u32>(a);
      u32 r = 0;
      const int s = static_cast<int>(c & 3);
      for (int n = 0; n < 4; ++n) {
        int from = 0;
        bool sign = false;
        switch (i.mode) {
          case 1:
            from = s + n;
            break;
          case 2:
            from = (s + 8 - n) & 7;
            break;
          case 3:
            from = s;
            break;
          case 4:
            from = std::max(n, s);
            break;
          case 5:
            from = std::min(n, s);
            break;
          case 6:
            from = (s & 1) * 2 + (n & 1);
            break;
          default:
            from = static_cast<int>(c >> (4 * n)) & 7, sign = ((c >> (4 * n)) & 8) != 0;
        }
        u32 byte = static_cast<u32>(both >> (8 * from)) & 0xff;
        if (sign) byte = (byte & 0x80) != 0 ? 0xff : 0;
        r |= byte << (8 * n);
      }
      return r;
    });
  };
}

void lookup(Decode& d) {
  if (d.one_of({"and", "or"}) >= 0) d.fail("a boolean result is not known");
  d.in.type = d.type_among({T::b32});
  d.operands(5, 5);
  d.in.extra = d.number(4, "the table");
  if (d.in.extra > 255) d.fail("the table has 8 bits");
  d.result(0, T::b32), d.value(1, T::b32), d.value(2, T::b32), d.value(3, T::b32), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map3<u32>(w, i, mask, [&](u64 a, u64 b, u64 c) {
      u64 r = 0;
      for (u32 n = 0; n < 8; ++n)
        if ((i.extra >> n & 1) != 0) r |= ((n & 4) != 0 ? a : ~a) & ((n & 2) != 0 ? b : ~b) & ((n & 1) != 0 ? c : ~c);
      return static_cast<u32>(r);
    });
  };
}

void sign_zero(Decode& d) {  // szext.wrap/clamp d, a, n: the lowest n bits
  d.in.mode = static_cast<u8>(d.must("mode (.clamp, .wrap)", {"clamp", "wrap"}));
  d.in.type = d.type_among({T::u32, T::s32});
  d.operands(3, 3);
  d.result(0, d.in.type), d.values(1, d.in.type), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map2<u32>(w, i, mask, [&](u64 a, u64 b) {
      const u32 n = i.mode != 0 ? static_cast<u32>(b) & 31 : std::min(static_cast<u32>(b), 32u);
      if (n == 0) return u32(0);
      const u32 v = static_cast<u32>(a & low_bits(n));
      return is_signed(i.type) && n < 32 && (v >> (n - 1) & 1) != 0 ? static_cast<u32>(v | ~low_bits(n)) : v;
    });
  };
}

void bit_mask(Decode& d) {  // bmsk.clamp/wrap d, a, b: b bits from bit a on
  d.in.mode = static_cast<u8>(d.must("mode (.clamp, .wrap)", {"clamp", "wrap"}));
  d.in.type = d.type_among({T::b32});
  d.operands(3, 3);
  d.result(0, T::b32), d.values(1, T::b32), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map2<u32>(w, i, mask, [&](u64 a, u64 b) {
      const u32 from = i.mode != 0 ? static_cast<u32>(a) & 31 : std::min(static_cast<u32>(a), 32u);
      const u32 n = i.mode != 0 ? static_cast<u32>(b) & 31 : std::min(static_cast<u32>(b), 32u);
      return static_cast<u32>(low_bits(n) << from);
    });
  };
}

void zero_test(Decode& d) {  // cnot: 1 for 0, else 0
  d.in.type = d.type_among({T::b16, T::b32, T::b64});
  d.operands(2, 2);
  d.result(0, d.in.type), d.value(1, d.in.type), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map1<u64>(w, i, mask, [&](u64 a) { return u64(trimmed(a, i.type) == 0); });
  };
}

}  // namespace

void add_bits(Table& t) {
  t["and"] = [](Decode& d) { logical(d, kAnd); };
  t["or"] = [](Decode& d) { logical(d, kOr); };
  t["xor"] = [](Decode& d) { logical(d, kXor); };
  t["not"] = negation;
  t["cnot"] = zero_test;
  t["shl"] = [](Decode& d) { shift(d, false); };
  t["shr"] = [](Decode& d) { shift(d, true); };
  t["shf"] = funnel;
  t["bfe"] = extract;
  t["bfi"] = insert;
  t["brev"] = [](Decode& d) { counted(d, kReverse); };
  t["clz"] = [](Decode& d) { counted(d, kClz); };
  t["popc"] = [](Decode& d) { counted(d, kPopc); };
  t["bfind"] = find;
  t["prmt"] = permute;
  t["lop3"] = lookup;
  t["szext"] = sign_zero;
  t["bmsk"] = bit_mask;
}

}  // namespace ashlar::ptx
