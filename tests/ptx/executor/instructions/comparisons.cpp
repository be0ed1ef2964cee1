// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp, set, selp, slct.
#include <cmath>

#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/instructions/families.h"
#include "tests/ptx/executor/numbers.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {
namespace {

enum Compare : u8 { kEq, kNe, kLt, kLe, kGt, kGe, kLo, kLs, kHi, kHs, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNotNum };

template <class V>
bool ordered(u8 op, V a, V b) {
  switch (op) {
    case kEq:
    case kEqu:
      return a == b;
    case kNe:
    case kNeu:
      return a != b;
    case kLt:
    case kLo:
    case kLtu:
      return a < b;
    case kLe:
    case kLs:
    case kLeu:
      return a <= b;
    case kGt:
    case kHi:
    case kGtu:
      return a > b;
    default:
      return a >= b;
  }
}

bool reals(u8 op, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  if (op == kNum) return !nan;
  if (op == kNotNum) return nan;
  if (nan) return op >= kEqu;  // unordered ones hold, ordered ones, .ne too, do not
  return ordered(op, a, b);
}

bool compare(const Instr& i, u64 a, u64 b) {
  switch (i.from) {
    case T::f32: {
      const float x = f32_of(a), y = f32_of(b);
      return (i.flags & kFtz) != 0 ? reals(i.mode, flushed(x), flushed(y)) : reals(i.mode, x, y);
    }
    case T::f64:
      return reals(i.mode, f64_of(a), f64_of(b));
    case T::f16:
    case T::f16x2: {
      const auto in = [&](u64 v) {
        const double r = f16_of(v);
        return (i.flags & kFtz) != 0 && std::fabs(r) < 0x1p-14 ? std::copysign(0.0, r) : r;
      };
      return reals(i.mode, in(a), in(b));
    }
    case T::bf16:
    case T::bf16x2:
      return reals(i.mode, bf16_of(a & 0xffff), bf16_of(b & 0xffff));
    case T::s16:
      return ordered(i.mode, static_cast<i16>(a), static_cast<i16>(b));
    case T::s32:
      return ordered(i.mode, static_cast<i32>(a), static_cast<i32>(b));
    case T::s64:
      return ordered(i.mode, static_cast<i64>(a), static_cast<i64>(b));
    case T::u16:
    case T::b16:
      return ordered(i.mode, static_cast<u16>(a), static_cast<u16>(b));
    case T::u32:
    case T::b32:
      return ordered(i.mode, static_cast<u32>(a), static_cast<u32>(b));
    default:
      return ordered(i.mode, a, b);
  }
}

// What setp and set share: the comparison, the boolean operator (mode2: 0 none, 1 and, 2 or, 3 xor), .ftz.
void comparison(Decode& d) {
  d.in.mode = static_cast<u8>(d.must("comparison", {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu",
                                                    "ltu", "leu", "gtu", "geu", "num", "nan"}));
  d.in.mode2 = static_cast<u8>(d.one_of({"and", "or", "xor"}) + 1);
  if (d.take("ftz")) d.in.flags |= kFtz;
}
void check_comparison(Decode& d) {
  const T t = d.in.from;
  const u8 op = d.in.mode;
  if (is_float(t) ? (op >= kLo && op <= kHs) : op >= kEqu) d.fail("the comparison does not fit the type");
  if (row_of(t).kind == 'b' && op != kEq && op != kNe) d.fail("bits are compared for equality alone");
  if (row_of(t).kind == 's' && op >= kLo) d.fail("the comparison is of unsigned types");
  if ((d.in.flags & kFtz) != 0 && (t == T::f64 || !is_float(t))) d.fail(".ftz does not fit the type");
}

u32 combined(u8 how, u32 a, u32 b) { return how == 1 ? a & b : how == 2 ? a | b : how == 3 ? a ^ b : a; }

void setp(Decode& d) {
  comparison(d);
  d.in.from = d.in.type = d.type_among({T::b16, T::b32, T::b64, T::u16, T::u32, T::u64, T::s16, T::s32, T::s64, T::f32, T::f64,
                                        T::f16, T::bf16, T::f16x2, T::bf16x2});
  check_comparison(d);
  const bool two = (d.in.flags >> 31) != 0,
             packed = bits_of(d.in.type) == 32 && (d.in.type == T::f16x2 || d.in.type == T::bf16x2);
  if (packed && !two) d.fail("a packed comparison has two results");
  const std::size_t results = two ? 2 : 1, sources = d.in.mode2 != 0 ? 3 : 2;
  d.operands(results + sources, results + sources);
  for (std::size_t n = 0; n < results; ++n)
    if (d.op(n).kind != Operand::kPred && d.op(n).kind != Operand::kSink) d.fail("the result is a predicate");
  d.value(results, d.in.from), d.value(results + 1, d.in.from);
  if (sources == 3) d.predicate(results + 2);
  d.results(static_cast<int>(results));
  d.in.propagate = false;
  d.in.count = packed ? 2 : 1;
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const std::size_t n = i.results;
    const u64 *a = w.src(i.ops[n], 0), *b = w.src(i.ops[n + 1], 1);
    const u32 c = i.mode2 != 0 ? w.pred(i.ops[n + 2]) : 0;
    u32 r = 0, second = 0;
    each(mask, [&](int l) { r |= u32(compare(i, a[l], b[l])) << l; });
    if (i.count == 2)
      each(mask, [&](int l) { second |= u32(compare(i, a[l] >> 16, b[l] >> 16)) << l; });
    else
      second = ~r;
    const u32 compared = w.known_of(i.ops[n]) & w.known_of(i.ops[n + 1]),
              known_c = i.mode2 != 0 ? w.known_of(i.ops[n + 2]) : ~0u;
    const auto result = [&](const Operand& o, u32 value) {
      w.set_pred(o, mask, combined(i.mode2, value, c));
      w.know(o, mask, i.mode2 == 0 ? compared : known_logic(i.mode2 == 1, i.mode2 == 2, value, compared, c, known_c));
    };
    result(i.ops[0], r);
    if (n == 2) result(i.ops[1], second);
  };
}

void set(Decode& d) {
  comparison(d);
  d.in.type = d.type_among({T::u32, T::s32, T::f32, T::u16, T::s16, T::f16, T::bf16, T::f16x2, T::bf16x2});
  d.in.from = d.type_among({T::b16, T::b32, T::b64, T::u16, T::u32, T::u64, T::s16, T::s32, T::s64, T::f32, T::f64, T::f16,
                            T::bf16, T::f16x2, T::bf16x2});
  check_comparison(d);
  const std::size_t n = d.in.mode2 != 0 ? 4 : 3;
  d.operands(n, n);
  d.result(0, d.in.type), d.value(1, d.in.from), d.value(2, d.in.from), d.results(1);
  if (n == 4) d.predicate(3);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
    const u32 c = i.mode2 != 0 ? w.pred(i.ops[3]) : 0;
    u64* r = w.dst(i.ops[0]);
    const bool pair = i.from == T::f16x2 || i.from == T::bf16x2;
    each(mask, [&](int l) {
      const auto holds = [&](int shift) {
        return (combined(i.mode2, compare(i, a[l] >> shift, b[l] >> shift) ? ~0u : 0, c) >> l & 1) != 0;
      };
      const bool y = holds(0);
      if (pair) {
        const u32 one = i.type == T::f16x2 ? 0x3c00 : i.type == T::bf16x2 ? 0x3f80 : 0xffff;
        r[l] = (y ? one : 0) | (holds(16) ? one << 16 : 0);
        return;
      }
      const u64 one = i.type == T::f32        ? 0x3f800000
                      : i.type == T::f16      ? 0x3c00
                      : i.type == T::bf16     ? 0x3f80
                      : bits_of(i.type) == 16 ? 0xffff
                                              : 0xffffffff;
      r[l] = y ? one : 0;
    });
  };
}

void selp(Decode& d) {
  d.in.type = d.type_among({T::b16, T::b32, T::b64, T::u16, T::u32, T::u64, T::s16, T::s32, T::s64, T::f32, T::f64});
  d.operands(4, 4);
  d.result(0, d.in.type), d.value(1, d.in.type), d.value(2, d.in.type), d.predicate(3);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {  // what is not selected may be unwritten
    const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
    const u32 p = w.pred(i.ops[3]);
    const u32 known = w.known_of(i.ops[3]) & ((p & w.known_of(i.ops[1])) | (~p & w.known_of(i.ops[2])));
    std::array<u64, 32> bits = {};
    if ((mask & ~known) != 0)
      each(mask, [&](int l) {
        const bool sure = (w.known_of(i.ops[3]) >> l & 1) != 0;
        bits[static_cast<std::size_t>(l)] = sure ? unknown_of(w, i.ops[(p >> l & 1) != 0 ? 1 : 2], l) : ~u64(0);
      });
    u64* r = w.dst(i.ops[0]);
    each(mask, [&](int l) { r[l] = (p >> l & 1) != 0 ? a[l] : b[l]; });
    if (bits_of(i.type) < 64) each(mask, [&](int l) { r[l] &= (u64(1) << bits_of(i.type)) - 1; });
    if ((mask & ~known) == 0)
      w.know(i.ops[0], mask, known);
    else
      set_unknown(w, i.ops[0], mask, bits);
  };
}

void slct(Decode& d) {  // a where c >= 0, else b
  if (d.take("ftz")) d.in.flags |= kFtz;
  d.in.type = d.type_among({T::b16, T::b32, T::b64, T::u16, T::u32, T::u64, T::s16, T::s32, T::s64, T::f32, T::f64});
  d.in.from = d.type_among({T::s32, T::f32});
  d.operands(4, 4);
  d.result(0, d.in.type), d.value(1, d.in.type), d.value(2, d.in.type), d.value(3, d.in.from), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map3<u64>(w, i, mask, [&](u64 a, u64 b, u64 c) {
      const float f = (i.flags & kFtz) != 0 ? flushed(f32_of(c)) : f32_of(c);
      return (i.from == T::s32 ? static_cast<i32>(c) >= 0 : f >= 0) ? a : b;  // -0 selects a, a NaN b
    });
    if (bits_of(i.type) < 64) {
      u64* r = w.dst(i.ops[0]);
      each(mask, [&](int l) { r[l] &= (u64(1) << bits_of(i.type)) - 1; });
    }
  };
}

}  // namespace

void add_comparisons(Table& t) {
  t["setp"] = setp;
  t["set"] = set;
  t["selp"] = selp;
  t["slct"] = slct;
}

}  // namespace ashlar::ptx
