// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt: between integers, between floats, and from one to the other; pairs of narrow floats.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/instructions/families.h"
#include "tests/ptx/executor/numbers.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {
namespace {

// mode: Rounding; mode2: 1 the rounding was of an integer (.rni and so on), 2 .satfinite
bool is_integer(T t) { return row_of(t).kind == 'u' || row_of(t).kind == 's'; }

i64 integer_in(u64 v, T t) {
  const int n = 64 - bits_of(t);
  return is_signed(t) ? static_cast<i64>(v << n) >> n : static_cast<i64>(v << n >> n);
}

u64 low(u64 v, int bits) { return bits >= 64 ? v : v & ((u64(1) << bits) - 1); }

// An integer of the type in a register of so many bits.
u64 integer_out(i64 v, T t, int register_bits) {
  const u64 narrow = low(static_cast<u64>(v), bits_of(t));
  return low(is_signed(t) ? static_cast<u64>(integer_in(narrow, t)) : narrow, register_bits);
}

void integers(Warp& w, const Instr& i, u32 mask) {
  const u64* a = w.src(i.ops[1]);
  u64* d = w.dst(i.ops[0]);
  const int n = bits_of(i.type);
  each(mask, [&](int l) {
    i64 v = integer_in(a[l], i.from);
    if ((i.flags & kSat) != 0) {
      const bool wide_unsigned = i.from == T::u64 && v < 0;  // beyond what i64 holds
      if (is_signed(i.type)) {
        const i64 most = n == 64 ? std::numeric_limits<i64>::max() : (i64(1) << (n - 1)) - 1;
        v = wide_unsigned ? most : std::clamp(v, -most - 1, most);
      } else {
        if (!wide_unsigned && v < 0) v = 0;
        if (n < 64) v = wide_unsigned || v > (i64(1) << n) - 1 ? (i64(1) << n) - 1 : v;
      }
    }
    d[l] = integer_out(v, i.type, i.ops[0].bits);
  });
}

double float_in(const Instr& i, u64 v) {
  switch (i.from) {
    case T::f16:
      return f16_of(v & 0xffff);
    case T::bf16:
      return bf16_of(v & 0xffff);
    case T::f64:
      return f64_of(v);
    default:
      return (i.flags & kFtz) != 0 ? flushed(f32_of(v)) : f32_of(v);
  }
}

double integral(double v, u8 rounding) {
  switch (rounding) {
    case kZero:
      return std::trunc(v);
    case kDown:
      return std::floor(v);
    case kUp:
      return std::ceil(v);
    default:
      return std::nearbyint(v);
  }
}

u64 float_out(const Instr& i, double v) {
  if ((i.flags & kSat) != 0) v = !(v > 0) ? 0.0 : std::min(v, 1.0);
  if ((i.flags & kRelu) != 0 && !(v > 0) && !std::isnan(v)) v = 0;
  const Rounding r = static_cast<Rounding>(i.mode2 == 1 ? u8(kNearest) : i.mode);
  const bool finite = i.mode2 == 2;
  switch (i.type) {
    case T::f16:
      return round_to(v, kF16, r, finite);
    case T::bf16:
      return round_to(v, kBf16, r, finite);
    case T::tf32:
      return std::isnan(v) ? 0x7fffffffu : u64(round_to(v, kTf32, r, finite)) << 13;
    case T::f64:
      return bits_of_f64(v);
    default: {
      float f = 0;
      {
        const RoundingMode mode(r);
        volatile double in = v;
        f = static_cast<float>(in);
        volatile float keep = f;
        f = keep;
      }
      if (std::isnan(f)) return 0x7fffffff;
      return bits_of_f32((i.flags & kFtz) != 0 ? flushed(f) : f);
    }
  }
}

void floats(Warp& w, const Instr& i, u32 mask) {
  const u64* a = w.src(i.ops[1]);
  u64* d = w.dst(i.ops[0]);
  each(mask, [&](int l) {
    double v = float_in(i, a[l]);
    if (i.mode2 == 1) v = integral(v, i.mode);
    d[l] = float_out(i, v);
  });
}

void to_integers(Warp& w, const Instr& i,
                 u32 mask) {  // what is out of range becomes the nearest; a NaN 0, from or to 64 bits the sign bit
  const u64* a = w.src(i.ops[1]);
  u64* d = w.dst(i.ops[0]);
  const int n = bits_of(i.type);
  each(mask, [&](int l) {
    double v = float_in(i, a[l]);
    u64 r = 0;
    if (std::isnan(v)) {
      r = n == 64 || i.from == T::f64 ? u64(1) << (n - 1) : 0;
    } else {
      v = integral(v, i.mode);
      if (is_signed(i.type)) {
        const double most = std::ldexp(1.0, n - 1);
        r = v >= most   ? (u64(1) << (n - 1)) - 1
            : v < -most ? static_cast<u64>(-(i64(1) << (n - 2)) * 2)
                        : static_cast<u64>(static_cast<i64>(v));
      } else {
        const double most = std::ldexp(1.0, n);
        r = v >= most ? ~u64(0) : v <= 0 ? 0 : static_cast<u64>(v);
      }
    }
    d[l] = integer_out(static_cast<i64>(low(r, n)), i.type, i.ops[0].bits);
  });
}

void from_integers(Warp& w, const Instr& i, u32 mask) {
  const u64* a = w.src(i.ops[1]);
  u64* d = w.dst(i.ops[0]);
  const RoundingMode mode(i.type == T::f32 || i.type == T::f64 ? i.mode : u8(kNearest));
  each(mask, [&](int l) {
    const i64 v = integer_in(a[l], i.from);
    const bool wide = i.from == T::u64;
    if (i.type == T::f64) {
      d[l] = bits_of_f64(wide ? static_cast<double>(static_cast<u64>(v)) : static_cast<double>(v));
    } else if (i.type == T::f32) {
      float f = wide ? static_cast<float>(static_cast<u64>(v)) : static_cast<float>(v);
      if ((i.flags & kSat) != 0) f = std::clamp(f, 0.0f, 1.0f);
      d[l] = bits_of_f32(f);
    } else {  // to odd in f64 where it does not fit there
      const u64 magnitude = wide || v >= 0 ? static_cast<u64>(v) : 0 - static_cast<u64>(v);
      const int drop = std::max(0, 11 - std::countl_zero(magnitude));
      const u64 odd = drop == 0 ? magnitude : (magnitude >> drop | ((magnitude & ((u64(1) << drop) - 1)) != 0 ? 1 : 0)) << drop;
      const double x = static_cast<double>(odd);
      d[l] = float_out(i, !wide && v < 0 ? -x : x);
    }
  });
}

// d = {a, b}: a is the upper half. flags: what the formats are.
void to_pair(Warp& w, const Instr& i, u32 mask) {
  const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
  u64* d = w.dst(i.ops[0]);
  const bool bytes = i.type == T::e4m3x2 || i.type == T::e5m2x2;
  const Format f = i.type == T::f16x2 ? kF16 : i.type == T::bf16x2 ? kBf16 : i.type == T::e4m3x2 ? kE4m3 : kE5m2;
  each(mask, [&](int l) {
    const auto one = [&](u64 v) {
      double x = (i.flags & kFtz) != 0 ? flushed(f32_of(v)) : f32_of(v);
      if ((i.flags & kRelu) != 0 && !(x > 0) && !std::isnan(x)) x = 0;
      return round_to(x, f, static_cast<Rounding>(i.mode), i.mode2 == 2);
    };
    d[l] = one(a[l]) << (bytes ? 8 : 16) | one(b[l]);
  });
}

void pair_to_bytes(Warp& w, const Instr& i, u32 mask) {  // from f16x2
  map1<u32>(w, i, mask, [&](u64 a) {
    const auto one = [&](u64 v) {
      double x = i.from == T::bf16x2 ? bf16_of(v & 0xffff) : f16_of(v & 0xffff);
      if ((i.flags & kRelu) != 0 && !(x > 0) && !std::isnan(x)) x = 0;
      return round_to(x, i.type == T::e4m3x2 ? kE4m3 : kE5m2, kNearest, true);
    };
    return one(a >> 16) << 8 | one(a);
  });
}

void bytes_to_pair(Warp& w, const Instr& i, u32 mask) {
  map1<u32>(w, i, mask, [&](u64 a) {
    const auto one = [&](u64 v) {
      double x = value_of(static_cast<u32>(v) & 0xff, i.from == T::e4m3x2 ? kE4m3 : kE5m2);
      if ((i.flags & kRelu) != 0 && !(x > 0) && !std::isnan(x)) x = 0;
      return round_to(x, i.type == T::bf16x2 ? kBf16 : kF16, kNearest);
    };
    return one(a >> 8) << 16 | one(a);
  });
}

void pairs(Decode& d) {
  const T t = d.in.type, f = d.in.from;
  const bool bytes = t == T::e4m3x2 || t == T::e5m2x2, from_bytes = f == T::e4m3x2 || f == T::e5m2x2;
  if (f == T::f32) {
    d.operands(3, 3);
    d.result(0, t), d.value(1, T::f32), d.value(2, T::f32);
    d.in.unknown = unknown::packed, d.in.run = to_pair;
    if (bytes && d.in.mode2 != 2) d.fail("has no .satfinite");
  } else if (bytes && (f == T::f16x2 || f == T::bf16x2)) {
    if (d.in.mode2 != 2) d.fail("has no .satfinite");
    d.operands(2, 2);
    d.result(0, t), d.value(1, f);
    d.in.run = pair_to_bytes;
  } else if (from_bytes && (t == T::f16x2 || t == T::bf16x2)) {
    d.operands(2, 2);
    d.result(0, t), d.value(1, f);
    d.in.run = bytes_to_pair;
  } else {
    d.fail("is not known for these types");
  }
  if ((d.in.flags & kSat) != 0) d.fail("the modifier .sat is not known");
  d.results(1);
}

void convert(Decode& d) {
  const int integral_rounding = d.one_of({"rni", "rzi", "rmi", "rpi"});
  bool rounded = d.rounding();
  if (d.take("rna")) rounded = true, d.in.mode = kAway;
  if (integral_rounding >= 0) d.in.mode = static_cast<u8>(integral_rounding), d.in.mode2 = 1;
  if (d.take("ftz")) d.in.flags |= kFtz;
  if (d.take("sat")) d.in.flags |= kSat;
  if (d.take("satfinite")) d.in.mode2 = 2;
  if (d.take("relu")) d.in.flags |= kRelu;
  const T t = d.in.type = d.type(), f = d.in.from = d.type();
  const auto packed = [](T x) { return x == T::f16x2 || x == T::bf16x2 || x == T::e4m3x2 || x == T::e5m2x2; };
  if (packed(t) || packed(f)) return pairs(d);
  const bool to_float = is_float(t), from_float = is_float(f);
  if ((!to_float && !is_integer(t)) || (!from_float && !is_integer(f)) || bits_of(t) > 64 || bits_of(f) > 64 || f == T::tf32)
    d.fail("is not known for these types");
  for (const T x : {t, f})
    if (x == T::e4m3 || x == T::e5m2 || x == T::u16x2 || x == T::s16x2 || x == T::f32x2) d.fail("is not known for these types");
  d.operands(2, 2);
  d.result(0, t == T::tf32 ? T::b32 : t, !to_float), d.value(1, f, !from_float), d.results(1);
  if ((d.in.flags & kRelu) != 0 && !(to_float && from_float)) d.fail(".relu is of floats");
  if (to_float && from_float) {
    if (t == T::tf32 && (f != T::f32 || !rounded)) d.fail("is from .f32, rounded");
    const auto narrower = [](T x) { return x == T::f64 ? 3 : x == T::f32 || x == T::tf32 ? 2 : 1; };
    const bool loses = narrower(t) < narrower(f) || (narrower(t) == narrower(f) && t != f) || t == T::tf32;
    if (loses && !rounded) d.fail("has no rounding");
    if (!loses && rounded && t == f) d.fail("is rounded to an integer (.rni) or not at all");
    d.in.run = floats;
  } else if (to_float) {
    if (!rounded) d.fail("has no rounding");
    d.in.run = from_integers;
  } else if (from_float) {
    if (integral_rounding < 0) d.fail("has no rounding to an integer");
    d.in.run = to_integers;
  } else {
    if (rounded || integral_rounding >= 0) d.fail("integers are not rounded");
    d.in.unknown = unknown::convert, d.in.run = integers;
  }
}

void pack_integers(Decode& d) {  // cvt.pack.sat.s16.s32 d, a, b; cvt.pack.sat.u8.s32.b32 d, a, b, c
  if (!d.take("sat")) d.fail("has no .sat");
  const T t = d.in.type = d.type_among({T::u16, T::s16, T::u8, T::s8});
  d.type_among({T::s32});
  const bool bytes = bits_of(t) == 8;
  if (bytes) d.type_among({T::b32});
  d.operands(bytes ? 4 : 3, bytes ? 4 : 3);
  d.result(0, T::b32), d.values(1, T::b32), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1), *c = i.ops.size() > 3 ? w.src(i.ops[3], 2) : nullptr;
    u64* r = w.dst(i.ops[0]);
    const int n = bits_of(i.type);
    const i64 most = is_signed(i.type) ? (i64(1) << (n - 1)) - 1 : (i64(1) << n) - 1, least = is_signed(i.type) ? -most - 1 : 0;
    each(mask, [&](int l) {
      const auto one = [&](u64 v) { return low(static_cast<u64>(std::clamp<i64>(static_cast<i32>(v), least, most)), n); };
      const u64 both = one(a[l]) << n | one(b[l]);
      r[l] = low(c != nullptr ? both | c[l] << (2 * n) : both, 32);
    });
  };
}

}  // namespace

void add_conversions(Table& t) {
  t["cvt"] = [](Decode& d) {
    if (d.take("pack")) return pack_integers(d);
    convert(d);
  };
}

}  // namespace ashlar::ptx
