// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on f32 and f64.
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/instructions/families.h"
#include "tests/ptx/executor/numbers.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {
namespace {

constexpr u32 kNan32 = 0x7fffffff;

float in32(const Instr& i, u64 bits) {
  const float f = f32_of(bits);
  return (i.flags & kFtz) != 0 ? flushed(f) : f;
}
u64 out32(const Instr& i, float f) {
  if ((i.flags & kSat) != 0) f = !(f > 0) ? 0.0f : f > 1 ? 1.0f : f;
  if (std::isnan(f)) return kNan32;
  return bits_of_f32((i.flags & kFtz) != 0 ? flushed(f) : f);
}
u64 out64(double d) { return bits_of_f64(d); }

template <class Op>
Handler unary(T t, Op) {
  if (t == T::f32)
    return [](Warp& w, const Instr& i, u32 mask) {
      const RoundingMode r(i.mode);
      const u64* a = w.src(i.ops[1], 0);
      u64* d = w.dst(i.ops[0]);
      each(mask, [&](int l) { d[l] = out32(i, Op()(in32(i, a[l]))); });
    };
  return [](Warp& w, const Instr& i, u32 mask) {
    const RoundingMode r(i.mode);
    const u64* a = w.src(i.ops[1], 0);
    u64* d = w.dst(i.ops[0]);
    each(mask, [&](int l) { d[l] = out64(Op()(f64_of(a[l]))); });
  };
}
template <class Op>
Handler binary(T t, Op) {
  if (t == T::f32)
    return [](Warp& w, const Instr& i, u32 mask) {
      const RoundingMode r(i.mode);
      const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
      u64* d = w.dst(i.ops[0]);
      each(mask, [&](int l) { d[l] = out32(i, Op()(in32(i, a[l]), in32(i, b[l]))); });
    };
  return [](Warp& w, const Instr& i, u32 mask) {
    const RoundingMode r(i.mode);
    const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
    u64* d = w.dst(i.ops[0]);
    each(mask, [&](int l) { d[l] = out64(Op()(f64_of(a[l]), f64_of(b[l]))); });
  };
}

struct Add {
  template <class F>
  F operator()(F a, F b) const {
    return a + b;
  }
};
struct Sub {
  template <class F>
  F operator()(F a, F b) const {
    return a - b;
  }
};
struct Mul {
  template <class F>
  F operator()(F a, F b) const {
    return a * b;
  }
};
struct Div {
  template <class F>
  F operator()(F a, F b) const {
    return a / b;
  }
};
struct Sqrt {
  template <class F>
  F operator()(F a) const {
    return std::sqrt(a);
  }
};
struct Rcp {
  template <class F>
  F operator()(F a) const {
    return 1 / a;
  }
};

void fused(Warp& w, const Instr& i, u32 mask) {
  const RoundingMode r(i.mode);
  const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1), *c = w.src(i.ops[3], 2);
  u64* d = w.dst(i.ops[0]);
  if (i.type == T::f32)
    each(mask, [&](int l) { d[l] = out32(i, std::fma(in32(i, a[l]), in32(i, b[l]), in32(i, c[l]))); });
  else
    each(mask, [&](int l) { d[l] = out64(std::fma(f64_of(a[l]), f64_of(b[l]), f64_of(c[l]))); });
}

void modifiers(Decode& d) {
  if (d.take("ftz")) d.in.flags |= kFtz;
  if (d.take("sat")) d.in.flags |= kSat;
}
void only32(Decode& d) {
  if (d.in.type != T::f32 && (d.in.flags & (kFtz | kSat)) != 0) d.fail(".ftz and .sat are of .f32");
}
void shape(Decode& d, std::size_t operands) {
  d.operands(operands, operands);
  d.result(0, d.in.type), d.values(1, d.in.type), d.results(1);
}
bool is_half(T t) { return t == T::f16 || t == T::bf16 || t == T::f16x2 || t == T::bf16x2; }
bool is_real(T t) { return t == T::f32 || t == T::f64; }

void integers_only(Decode& d) {
  const T t = d.in.type;
  if (is_float(t) || bits_of(t) < 16 || bits_of(t) > 64 || row_of(t).kind == 'b')
    d.fail(std::string("is not known for .") + name_of(t));
  if ((d.in.flags & kFtz) != 0) d.fail(".ftz is of floats");
}

// Rounding, .ftz and .sat come before the type; which of them the type has is checked behind.
void sum(Decode& d, bool sub) {
  const bool rounded = d.rounding();
  if (d.take("ftz")) d.in.flags |= kFtz;
  d.in.type = d.type();
  if (is_half(d.in.type)) {
    if (d.in.mode != kNearest) d.fail("halves are rounded to nearest");
    if (d.take("sat")) d.in.flags |= kSat;
    return half(d, sub ? Half::kSub : Half::kAdd);
  }
  if (!is_real(d.in.type)) {
    integers_only(d);
    if (rounded) d.fail("integers are not rounded");
    if (integer_carry(d, sub)) return;
    return integer_sum(d, sub);
  }
  if (d.take("sat")) d.in.flags |= kSat;
  only32(d), shape(d, 3);
  d.in.run = sub ? binary(d.in.type, Sub()) : binary(d.in.type, Add());
}

void product(Decode& d) {
  const bool rounded = d.rounding();
  modifiers(d);
  d.in.type = d.type();
  if (is_half(d.in.type)) return half(d, Half::kMul);
  if (!is_real(d.in.type)) {
    integers_only(d);
    if (rounded || (d.in.flags & kSat) != 0) d.fail("integers are not rounded");
    return integer_product(d);
  }
  only32(d), shape(d, 3);
  d.in.run = binary(d.in.type, Mul());
}

void fma(Decode& d) {
  if (!d.rounding()) d.fail("has no rounding");
  modifiers(d);
  if (d.take("relu")) d.in.flags |= kRelu;
  if (d.take("oob")) d.fail("the modifier .oob is not known");
  d.in.type = d.type();
  if (is_half(d.in.type)) return half(d, Half::kFma);
  if (!is_real(d.in.type) || (d.in.flags & kRelu) != 0) d.fail("is not known for this type");
  only32(d), shape(d, 4);
  d.in.run = fused;
}

template <class F>
F extreme(F a, F b, bool max) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return (std::signbit(a) != max) ? a : b;  // -0 is below +0
  return (a < b) != max ? a : b;
}
template <class F>
F extreme_of(const Instr& i, F a, F b) {
  const bool max = i.mode2 != 0;
  if ((i.flags & kNan) != 0 && (std::isnan(a) || std::isnan(b))) return std::numeric_limits<F>::quiet_NaN();
  if ((i.flags & kXorSign) != 0) {
    const bool sign = std::signbit(a) != std::signbit(b);
    const F m = extreme(std::fabs(a), std::fabs(b), max);
    return std::isnan(m) ? m : std::copysign(m, sign ? F(-1) : F(1));
  }
  return extreme(a, b, max);
}

void extremes(Decode& d, bool max) {
  if (d.take("ftz")) d.in.flags |= kFtz;
  if (d.take("NaN")) d.in.flags |= kNan;
  if (d.take("xorsign")) {
    if (!d.take("abs")) d.fail(".xorsign needs .abs");
    d.in.flags |= kXorSign;
  }
  d.in.type = d.type();
  d.in.mode2 = max;
  if (is_half(d.in.type)) return half(d, max ? Half::kMax : Half::kMin);
  if (!is_real(d.in.type)) {
    integers_only(d);
    if (d.in.flags != 0) d.fail(".NaN and .xorsign are of floats");
    return integer_extreme(d, max);
  }
  if (d.in.type == T::f64 && d.in.flags != 0) d.fail(".ftz, .NaN and .xorsign are of .f32");
  shape(d, 3);
  d.in.run = d.in.type == T::f32 ? Handler([](Warp& w, const Instr& i, u32 mask) {
    const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
    u64* r = w.dst(i.ops[0]);
    each(mask, [&](int l) { r[l] = out32(i, extreme_of(i, in32(i, a[l]), in32(i, b[l]))); });
  })
                                 : Handler([](Warp& w, const Instr& i, u32 mask) {
                                     const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
                                     u64* r = w.dst(i.ops[0]);
                                     each(mask, [&](int l) { r[l] = out64(extreme_of(i, f64_of(a[l]), f64_of(b[l]))); });
                                   });
}

// mode: 0 neg, 1 abs
void sign(Decode& d, bool negate) {
  if (d.take("ftz")) d.in.flags |= kFtz;
  d.in.type = d.type();
  if (is_half(d.in.type)) return half(d, negate ? Half::kNeg : Half::kAbs);
  if (!is_real(d.in.type)) {
    integers_only(d);
    return integer_sign(d, negate);
  }
  only32(d), shape(d, 2);
  d.in.mode2 = negate;
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const u64 top = u64(1) << (bits_of(i.type) - 1);
    map1<u64>(w, i, mask, [&](u64 a) {
      if ((i.flags & kFtz) != 0) a = flushed_bits(static_cast<u32>(a));
      return i.mode2 != 0 ? a ^ top : a & ~top;
    });
  };
}

void divide(Decode& d) {
  const int approximate = d.one_of({"approx", "full"});
  const bool rounded = d.rounding();
  if (d.take("ftz")) d.in.flags |= kFtz;
  d.in.type = d.type();
  if (!is_float(d.in.type)) {
    integers_only(d);
    if (approximate >= 0 || rounded) d.fail("integers are not rounded");
    return integer_division(d, false);
  }
  if (!is_real(d.in.type) || (approximate >= 0) == rounded) d.fail("expected .approx, .full or a rounding");
  if (approximate >= 0 && d.in.type != T::f32) d.fail(".approx and .full are of .f32");
  only32(d), shape(d, 3);
  if (approximate == 0)
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1);
      u64* r = w.dst(i.ops[0]);
      each(mask, [&](int l) {
        const float x = in32(i, a[l]), y = in32(i, b[l]);
        const bool large = std::fabs(y) > 0x1p126f && std::fabs(y) < std::numeric_limits<float>::infinity();
        r[l] = large && !std::isnan(x)
                   ? out32(i, std::isinf(x) ? std::numeric_limits<float>::quiet_NaN()
                                            : std::copysign(0.0f, std::signbit(x) != std::signbit(y) ? -1.0f : 1.0f))
                   : out32(i, x / y);
      });
    };
  else
    d.in.run = binary(d.in.type, Div());
}

// rcp, sqrt: .approx or rounded
template <class Op>
void root(Decode& d, Op op, bool f64_approx) {
  const bool approximate = d.take("approx");
  const bool rounded = d.rounding();
  if (d.take("ftz")) d.in.flags |= kFtz;
  d.in.type = d.type_among({T::f32, T::f64});
  if (approximate == rounded) d.fail("expected .approx or a rounding");
  shape(d, 2);
  if (d.in.type == T::f64 && approximate) {
    if (!f64_approx || (d.in.flags & kFtz) == 0) d.fail(".approx of .f64 is not known");
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {  // the lower half of the result is 0
      map1<u64>(w, i, mask, [](u64 a) {
        const double x = f64_of(a), y = std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x;
        const double r = Op()(y);
        if (std::isnan(r)) return bits_of_f64(r);
        return bits_of_f64(std::fabs(r) < 0x1p-1022 ? std::copysign(0.0, r) : r) & 0xffffffff00000000u;
      });
    };
    return;
  }
  only32(d);
  d.in.run = unary(d.in.type, op);
}

template <float F(double)>
void approximation(Decode& d) {
  if (!d.take("approx")) d.fail("expected .approx");
  if (d.take("ftz")) d.in.flags |= kFtz;
  d.in.type = d.type_among({T::f32});
  shape(d, 2);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const u64* a = w.src(i.ops[1], 0);
    u64* r = w.dst(i.ops[0]);
    each(mask, [&](int l) { r[l] = out32(i, F(in32(i, a[l]))); });
  };
}
float log2_of(double x) { return static_cast<float>(std::log2(x)); }
float sin_of(double x) { return static_cast<float>(std::sin(x)); }
float cos_of(double x) { return static_cast<float>(std::cos(x)); }
float tanh_of(double x) { return static_cast<float>(std::tanh(x)); }
float exp2_of(double x) { return static_cast<float>(std::exp2(x)); }
double rsqrt_of(double x) { return x == 0 ? std::copysign(std::numeric_limits<double>::infinity(), x) : 1 / std::sqrt(x); }

void rsqrt(Decode& d) {
  if (!d.take("approx")) d.fail("expected .approx");
  if (d.take("ftz")) d.in.flags |= kFtz;
  d.in.type = d.type_among({T::f32, T::f64});
  shape(d, 2);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const u64* a = w.src(i.ops[1], 0);
    u64* r = w.dst(i.ops[0]);
    if (i.type == T::f32)
      each(mask, [&](int l) { r[l] = out32(i, static_cast<float>(rsqrt_of(in32(i, a[l])))); });
    else
      each(mask, [&](int l) {
        const double x = f64_of(a[l]);
        const double v = rsqrt_of((i.flags & kFtz) != 0 && std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x);
        r[l] = bits_of_f64(v) & ((i.flags & kFtz) != 0 && !std::isnan(v) ? 0xffffffff00000000u : ~u64(0));
      });
  };
}

void copysign(Decode& d) {
  d.in.type = d.type_among({T::f32, T::f64});
  shape(d, 3);
  d.in.unknown = unknown::sign;
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {  // the sign of a, the rest of b
    const u64 top = u64(1) << (bits_of(i.type) - 1);
    map2<u64>(w, i, mask, [&](u64 a, u64 b) { return (a & top) | (b & ~top); });
  };
}

void test_property(Decode& d) {
  d.in.mode = static_cast<u8>(d.must("property", {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}));
  d.in.type = d.type_among({T::f32, T::f64});
  d.operands(2, 2);
  if (d.op(0).kind != Operand::kPred) d.fail("the result is a predicate");
  d.value(1, d.in.type), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const u64* a = w.src(i.ops[1]);
    u32 r = 0;
    each(mask, [&](int l) {
      const int c = i.type == T::f32 ? std::fpclassify(f32_of(a[l])) : std::fpclassify(f64_of(a[l]));
      const bool yes[] = {
          c != FP_NAN && c != FP_INFINITE, c == FP_INFINITE, c != FP_NAN, c == FP_NAN, c == FP_NORMAL, c == FP_SUBNORMAL};
      r |= u32(yes[i.mode]) << l;
    });
    w.set_pred(i.ops[0], mask, r);
  };
}

void half_or(Decode& d, Half h, Decoder other) {  // ex2 and tanh have forms of halves
  const std::size_t n = d.in.ops.size();
  if (n == 2 && d.op(0).kind == Operand::kReg && d.op(0).bits == 16) {
    if (!d.take("approx")) d.fail("expected .approx");
    if (d.take("ftz")) d.in.flags |= kFtz;
    d.in.type = d.type_among({T::f16, T::bf16});
    return half(d, h);
  }
  if (d.take("f16x2") || d.take("bf16x2")) d.fail("is not known for packed halves");
  other(d);
}

}  // namespace

void add_floats(Table& t) {
  t["add"] = [](Decode& d) { sum(d, false); };
  t["sub"] = [](Decode& d) { sum(d, true); };
  t["mul"] = product;
  t["fma"] = fma;
  t["min"] = [](Decode& d) { extremes(d, false); };
  t["max"] = [](Decode& d) { extremes(d, true); };
  t["neg"] = [](Decode& d) { sign(d, true); };
  t["abs"] = [](Decode& d) { sign(d, false); };
  t["div"] = divide;
  t["rcp"] = [](Decode& d) { root(d, Rcp(), true); };
  t["sqrt"] = [](Decode& d) { root(d, Sqrt(), false); };
  t["rsqrt"] = rsqrt;
  t["lg2"] = approximation<log2_of>;
  t["sin"] = approximation<sin_of>;
  t["cos"] = approximation<cos_of>;
  t["ex2"] = [](Decode& d) { half_or(d, Half::kEx2, approximation<exp2_of>); };
  t["tanh"] = [](Decode& d) { half_or(d, Half::kTanh, approximation<tanh_of>); };
  t["copysign"] = copysign;
  t["testp"] = test_property;
  // mad of floats is fma
  const Decoder integers = t["mad"];
  static Decoder of_integers = nullptr;
  of_integers = integers;
  t["mad"] = [](Decode& d) {
    if (d.rounding()) {
      modifiers(d);
      d.in.type = d.type_among({T::f32, T::f64});
      only32(d), shape(d, 4);
      d.in.run = fused;
      return;
    }
    of_integers(d);
  };
}

}  // namespace ashlar::ptx
