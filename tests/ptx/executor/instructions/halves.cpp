// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on f16 and bf16, alone and in pairs. Sums and products of them are exact in f64, or rounded to odd there, so that
// one rounding follows.
#include <algorithm>
#include <cmath>

#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/instructions/families.h"
#include "tests/ptx/executor/numbers.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {
namespace {

struct F16 {
  static constexpr Format format = kF16;
  static double of(u32 bits) { return f16_of(bits); }
};
struct Bf16 {
  static constexpr Format format = kBf16;
  static double of(u32 bits) { return bf16_of(bits); }
};

template <class H>
double in(const Instr& i, u32 bits) {
  const double v = H::of(bits & 0xffff);
  return (i.flags & kFtz) != 0 && std::fabs(v) < std::ldexp(1.0, 2 - (1 << (H::format.exponent_bits - 1)))
             ? std::copysign(0.0, v)
             : v;
}

template <class H>
u32 out(const Instr& i, double v) {
  if ((i.flags & kSat) != 0) v = !(v > 0) ? 0.0 : std::min(v, 1.0);
  if ((i.flags & kRelu) != 0 && !(v > 0) && !std::isnan(v)) v = 0;
  u32 bits = round_to(v, H::format, kNearest);
  const u32 exponent = ((1u << H::format.exponent_bits) - 1) << H::format.mantissa_bits;
  if ((i.flags & kFtz) != 0 && (bits & exponent) == 0) bits &= 0x8000;
  return bits;
}

double least(const Instr& i, double a, double b, bool max) {
  if (std::isnan(a) || std::isnan(b)) {
    if ((i.flags & kNan) != 0) return std::nan("");
    return std::isnan(a) ? b : a;
  }
  const bool sign = std::signbit(a) != std::signbit(b);
  if ((i.flags & kXorSign) != 0) a = std::fabs(a), b = std::fabs(b);
  const double r = a == b ? (std::signbit(a) != max ? a : b) : (a < b) != max ? a : b;
  return (i.flags & kXorSign) != 0 ? std::copysign(r, sign ? -1.0 : 1.0) : r;
}

template <class H, Half op>
u32 one(const Instr& i, u32 a, u32 b, u32 c) {
  if constexpr (op == Half::kNeg || op == Half::kAbs) {
    u32 v = a & 0xffff;
    const u32 exponent = ((1u << H::format.exponent_bits) - 1) << H::format.mantissa_bits;
    if ((i.flags & kFtz) != 0 && (v & exponent) == 0) v &= 0x8000;
    return op == Half::kNeg ? v ^ 0x8000 : v & 0x7fff;
  } else {
    const double x = in<H>(i, a), y = in<H>(i, b);
    switch (op) {
      case Half::kAdd:
        return out<H>(i, fused_to_odd(x, 1, y));
      case Half::kSub:
        return out<H>(i, fused_to_odd(x, 1, -y));
      case Half::kMul:
        return out<H>(i, x * y);
      case Half::kFma:
        return out<H>(i, fused_to_odd(x, y, in<H>(i, c)));
      case Half::kMin:
        return out<H>(i, least(i, x, y, false));
      case Half::kMax:
        return out<H>(i, least(i, x, y, true));
      case Half::kEx2:
        return out<H>(i, std::exp2(x));
      default:
        return out<H>(i, std::tanh(x));
    }
  }
}

template <class H, Half op>
void run(Warp& w, const Instr& i, u32 mask) {
  const bool pair = bits_of(i.type) == 32;
  const u64* a = w.src(i.ops[1], 0);
  const u64* b = i.ops.size() > 2 ? w.src(i.ops[2], 1) : a;
  const u64* c = i.ops.size() > 3 ? w.src(i.ops[3], 2) : a;
  u64* d = w.dst(i.ops[0]);
  each(mask, [&](int l) {
    const auto part = [&](int n) {
      return one<H, op>(i, static_cast<u32>(a[l] >> n) & 0xffff, static_cast<u32>(b[l] >> n) & 0xffff,
                        static_cast<u32>(c[l] >> n) & 0xffff) &
             0xffff;
    };
    const u32 low = part(0);
    d[l] = pair ? low | part(16) << 16 : low;
  });
}

template <class H>
Handler handler(Half op) {
  switch (op) {
    case Half::kAdd:
      return run<H, Half::kAdd>;
    case Half::kSub:
      return run<H, Half::kSub>;
    case Half::kMul:
      return run<H, Half::kMul>;
    case Half::kFma:
      return run<H, Half::kFma>;
    case Half::kMin:
      return run<H, Half::kMin>;
    case Half::kMax:
      return run<H, Half::kMax>;
    case Half::kNeg:
      return run<H, Half::kNeg>;
    case Half::kAbs:
      return run<H, Half::kAbs>;
    case Half::kEx2:
      return run<H, Half::kEx2>;
    default:
      return run<H, Half::kTanh>;
  }
}

}  // namespace

void half(Decode& d, Half op) {
  const T t = d.in.type;
  const std::size_t n = op == Half::kFma                                                                ? 4
                        : op == Half::kNeg || op == Half::kAbs || op == Half::kEx2 || op == Half::kTanh ? 2
                                                                                                        : 3;
  d.operands(n, n);
  d.result(0, t), d.values(1, t), d.results(1);
  const bool bf = t == T::bf16 || t == T::bf16x2;
  if (bf && (d.in.flags & (kFtz | kSat)) != 0 && op != Half::kEx2) d.fail(".ftz and .sat are not of .bf16");
  if (t == T::f16x2 || t == T::bf16x2) d.in.unknown = unknown::halves;
  d.in.run = bf ? handler<Bf16>(op) : handler<F16>(op);
}

void add_halves(Table&) {}  // their opcodes are those of floats.cpp

}  // namespace ashlar::ptx
