// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tileir/executor/numbers.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/ptx/executor/numbers.h"

namespace ashlar::tileir {

namespace {

struct Row {
  const char* name;
  int bits, storage, constant;
};
constexpr Row kRows[] = {
    {"i1", 1, 1, 1},           {"i4", 4, 0, 1},
    {"i8", 8, 1, 1},           {"i16", 16, 2, 2},
    {"i32", 32, 4, 4},         {"i64", 64, 8, 8},
    {"f16", 16, 2, 2},         {"bf16", 16, 2, 2},
    {"f32", 32, 4, 4},         {"tf32", 19, 4, 3},
    {"f64", 64, 8, 8},         {"f8E4M3FN", 8, 1, 1},
    {"f8E5M2", 8, 1, 1},       {"f8E8M0FNU", 8, 1, 1},
    {"f4E2M1FN", 4, 0, 1},     {"f8E5M3FNU", 8, 1, 1},
    {"ptr", 64, 8, 0},         {"tile", 0, 0, 0},
    {"tensor_view", 0, 0, 0},  {"partition_view", 0, 0, 0},
    {"strided_view", 0, 0, 0}, {"gather_scatter_view", 0, 0, 0},
    {"function", 0, 0, 0},     {"token", 0, 0, 0},
};
const Row& row(Kind k) { return kRows[static_cast<int>(k)]; }

const ptx::Format* format(Kind k) {
  switch (k) {
    case Kind::kF16:
      return &ptx::kF16;
    case Kind::kBf16:
      return &ptx::kBf16;
    case Kind::kTf32:
      return &ptx::kTf32;
    case Kind::kE4m3:
      return &ptx::kE4m3;
    case Kind::kE5m2:
      return &ptx::kE5m2;
    default:
      return nullptr;
  }
}

ptx::Rounding of_ptx(Rounding r) {
  switch (r) {
    case Rounding::kZero:
    case Rounding::kIntegerToZero:
      return ptx::kZero;
    case Rounding::kDown:
      return ptx::kDown;
    case Rounding::kUp:
      return ptx::kUp;
    case Rounding::kNearestAway:
      return ptx::kAway;
    default:
      return ptx::kNearest;
  }
}

constexpr double kE2m1Numbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

// The nearest of the numbers below `count`, which rise; ties to the even index. For formats of at most 8 bits that have no
// table of their own in ptx::Format.
template <class F>
u64 nearest(double value, u64 count, const F& number, Rounding r) {
  u64 low = 0, high = count - 1;
  if (value <= number(low)) return low;
  if (value >= number(high)) return high;
  while (high - low > 1) (number((low + high) / 2) <= value ? low : high) = (low + high) / 2;
  const double down = value - number(low), up = number(high) - value;
  if (down == 0) return low;
  switch (of_ptx(r)) {
    case ptx::kZero:
    case ptx::kDown:
      return low;
    case ptx::kUp:
      return high;
    case ptx::kAway:
      return down < up ? low : high;
    default:
      return down < up || (down == up && low % 2 == 0) ? low : high;
  }
}

double e8m0(u64 bits) {
  return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, static_cast<int>(bits) - 127);
}

// Without a sign: 5 bits of exponent (bias 15), 3 of mantissa, all ones the NaN.
double e5m3(u64 bits) {
  if (bits == 0xff) return std::numeric_limits<double>::quiet_NaN();
  const int exponent = static_cast<int>(bits >> 3), mantissa = static_cast<int>(bits & 7);
  return exponent == 0 ? std::ldexp(mantissa, -17) : std::ldexp(8 + mantissa, exponent - 18);
}

}  // namespace

std::string_view name_of(Kind k) { return row(k).name; }
int bits_of(Kind k) { return row(k).bits; }
int storage_bytes(Kind k) { return row(k).storage; }
int constant_bytes(Kind k) { return row(k).constant; }

double number_of(u64 bits, Kind k) {
  switch (k) {
    case Kind::kF32:
      return std::bit_cast<float>(static_cast<u32>(bits));
    case Kind::kF64:
      return std::bit_cast<double>(bits);
    case Kind::kBf16:
      return std::bit_cast<float>(static_cast<u32>(bits) << 16);
    case Kind::kE8m0:
      return e8m0(bits);
    case Kind::kE5m3:
      return e5m3(bits);
    case Kind::kE2m1:
      return (bits & 8) != 0 ? -kE2m1Numbers[bits & 7] : kE2m1Numbers[bits & 7];
    default:
      return ptx::value_of(static_cast<u32>(bits), *format(k));
  }
}

u64 rounded(double value, Kind k, Rounding r) {
  switch (k) {
    case Kind::kF64:
      return std::isnan(value) ? 0x7ff8000000000000u : std::bit_cast<u64>(value);
    case Kind::kF32:
      return std::isnan(value) ? 0x7fc00000u : std::bit_cast<u32>(static_cast<float>(value));
    case Kind::kE8m0:
      return !(value > 0) || value > e8m0(0xfe) ? 0xff : nearest(value, 0xff, e8m0, r);
    case Kind::kE5m3:
      return !(value >= 0) || value > e5m3(0xfe) ? 0xff : nearest(value, 0xff, e5m3, r);
    case Kind::kE2m1: {
      const u64 sign = std::signbit(value) ? 8 : 0;
      return sign | nearest(std::fabs(value), 8, [](u64 n) { return kE2m1Numbers[n]; }, r);
    }
    default:
      return ptx::round_to(value, *format(k), of_ptx(r));
  }
}

double flushed(double value, Kind k) {
  return k == Kind::kF32 && std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

double fused(double a, double b, double c, Kind k, Rounding r) {
  if (k != Kind::kF64) return ptx::fused_to_odd(a, b, c);  // the host's rounding is the nearest here
  const HostRounding mode(r);
  return std::fma(a, b, c);
}

HostRounding::HostRounding(Rounding r) : changed_(r == Rounding::kZero || r == Rounding::kDown || r == Rounding::kUp) {
  if (changed_) std::fesetround(r == Rounding::kZero ? FE_TOWARDZERO : r == Rounding::kDown ? FE_DOWNWARD : FE_UPWARD);
}
HostRounding::~HostRounding() {
  if (changed_) std::fesetround(FE_TONEAREST);
}

}  // namespace ashlar::tileir
