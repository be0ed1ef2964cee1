// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/numbers.h"

#include <cfenv>
#include <limits>

namespace ashlar::ptx {

double value_of(u32 bits, const Format& f) {
  const u32 mantissa = bits & ((1u << f.mantissa_bits) - 1),
            exponent = (bits >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1);
  const bool negative = (bits >> (f.mantissa_bits + f.exponent_bits) & 1) != 0;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  double v = 0;
  if (exponent == (1u << f.exponent_bits) - 1 && f.infinity)
    v = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (!f.infinity && (bits & 0x7f) == 0x7f)
    v = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    v = std::ldexp(mantissa, 1 - bias - f.mantissa_bits);
  else
    v = std::ldexp(mantissa | 1u << f.mantissa_bits, static_cast<int>(exponent) - bias - f.mantissa_bits);
  return negative ? -v : v;
}

u32 round_to(double value, const Format& f, Rounding r, bool finite) {
  const u32 sign = std::signbit(value) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  if (std::isnan(value)) return f.nan;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const u32 top = (1u << f.exponent_bits) - 1;
  const u32 largest = f.infinity ? (top << f.mantissa_bits) - 1 : f.nan - 1;
  const u32 infinity = f.infinity ? top << f.mantissa_bits : f.nan;
  const double a = std::fabs(value);
  if (a == 0) return sign;
  const bool up = (r == kUp && sign == 0) || (r == kDown && sign != 0);
  const bool down = r == kZero || (r == kUp && sign != 0) || (r == kDown && sign == 0);
  if (std::isinf(a)) return sign | (finite ? largest : infinity);
  int e = 0;
  std::frexp(a, &e);  // a in [2^(e-1), 2^e)
  const int exponent = e - 1 < 1 - bias ? 1 - bias : e - 1;
  const double scaled = std::ldexp(a, f.mantissa_bits - exponent);  // exact: below 2^(mantissa_bits + 1)
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  if (rest != 0 && !down) {
    const bool odd = std::fmod(whole, 2) != 0;
    if (up || (r == kNearest && (rest > 0.5 || (rest == 0.5 && odd))) || (r == kAway && rest >= 0.5)) whole += 1;
  }
  const u32 n = static_cast<u32>(whole);
  // With the hidden bit the number carries into the exponent by itself.
  u32 bits =
      n < 1u << f.mantissa_bits ? n : n - (1u << f.mantissa_bits) + (static_cast<u32>(exponent + bias) << f.mantissa_bits);
  if (bits > largest) bits = finite || down ? largest : infinity;
  return sign | bits;
}

double factor_of(T t, u64 bits) {
  switch (t) {
    case T::f16:
      return f16_of(bits);
    case T::bf16:
      return bf16_of(bits & 0xffff);
    case T::tf32:
      return f32_of(bits & 0xffffe000u);  // the lower bits are not looked at
    case T::e4m3:
      return value_of(static_cast<u32>(bits), kE4m3);
    case T::e5m2:
      return value_of(static_cast<u32>(bits), kE5m2);
    default:
      return f64_of(bits);
  }
}

double fused_to_odd(double a, double b, double c) {
  const double p = a * b, s = p + c;
  if (!std::isfinite(s)) return s;
  const double bb = s - p, error = (p - (s - bb)) + (c - bb);
  u64 bits = bits_of_f64(s);
  if (error == 0 || (bits & 1) != 0) return s;
  if (s == 0) return s;
  bits += (error > 0) == (s > 0) ? u64(1) : ~u64(0);
  return f64_of(bits);
}

namespace {
constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
}

RoundingMode::RoundingMode(u8 r) : changed_(r != kNearest && r < 4) {
  if (changed_) std::fesetround(kModes[r]);
}
RoundingMode::~RoundingMode() {
  if (changed_) std::fesetround(FE_TONEAREST);
}

}  // namespace ashlar::ptx
