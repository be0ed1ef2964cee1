// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounding to the narrow float types and their bit patterns, in portable arithmetic.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <ashlar/ir/numeric.h>

namespace ashlar::ir {

namespace {

// A binary float format: `precision` significant bits (the hidden one included), exponents of normal numbers from emin.
struct NarrowFormat {
  int precision, emin;
  double largest;
  bool infinities;
};

NarrowFormat narrow_format_of(Type t) {
  if (t.code == Type::Code::bfloat) return {8, -126, 0x1.FEp127, true};
  if (t.code == Type::Code::e4m3) return {4, -6, 448.0, false};
  if (t.code == Type::Code::e5m2) return {3, -14, 57344.0, true};
  return {11, -14, 65504.0, true};  // f16
}

double round_to_format(double x, const NarrowFormat& f) {
  if (std::isnan(x) || std::isinf(x) || x == 0)
    return std::isinf(x) && !f.infinities ? std::numeric_limits<double>::quiet_NaN() : x;
  int e = 0;
  std::frexp(x, &e);  // x = m * 2^e, 0.5 <= |m| < 1: the exponent of x is e - 1
  const int exponent = std::max(e - 1, f.emin);
  const double quantum = std::ldexp(1.0, exponent - f.precision + 1);
  const double rounded = std::copysign(std::nearbyint(x / quantum) * quantum, x);
  if (std::fabs(rounded) <= f.largest) return rounded;
  return f.infinities ? std::copysign(std::numeric_limits<double>::infinity(), x) : std::numeric_limits<double>::quiet_NaN();
}

// Bit pattern of a double that the format represents exactly; e exponent bits, m stored mantissa bits.
std::uint64_t pattern(double x, const NarrowFormat& f, int m, std::uint64_t nan, std::uint64_t infinity, int sign_bit) {
  if (std::isnan(x)) return nan;
  const std::uint64_t sign = std::signbit(x) ? std::uint64_t{1} << sign_bit : 0;
  x = std::fabs(x);
  if (std::isinf(x)) return sign | infinity;
  if (x == 0) return sign;
  int e = 0;
  std::frexp(x, &e);
  const int exponent = std::max(e - 1, f.emin);
  const auto significand = static_cast<std::uint64_t>(std::ldexp(x, m - exponent));  // below 2^m when subnormal
  return sign | ((static_cast<std::uint64_t>(exponent - f.emin) << m) + significand);
}

double value_of_pattern(std::uint64_t bits, const NarrowFormat& f, int m, int exponent_bits) {
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << m) - 1);
  const auto exponent = static_cast<int>((bits >> m) & ((1u << exponent_bits) - 1));
  const bool negative = (bits >> (m + exponent_bits)) & 1;
  double x = 0;
  const bool top = exponent == (1 << exponent_bits) - 1;
  if (top && f.infinities) {
    x = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (top && mantissa == (std::uint64_t{1} << m) - 1) {
    x = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    x = std::ldexp(static_cast<double>(mantissa), f.emin - m);
  } else {
    x = std::ldexp(static_cast<double>(mantissa + (std::uint64_t{1} << m)), f.emin + exponent - 1 - m);
  }
  return negative ? -x : x;
}

}  // namespace

double round_to(Type t, double x) {
  if (t.bits == 64) return x;
  if (t.bits == 32) return static_cast<double>(static_cast<float>(x));
  return round_to_format(x, narrow_format_of(t));
}

std::uint16_t f16_bits(float x) {
  const NarrowFormat f = narrow_format_of(f16);
  return static_cast<std::uint16_t>(pattern(round_to_format(static_cast<double>(x), f), f, 10, 0x7E00, 0x7C00, 15));
}

float f16_value(std::uint16_t bits) { return static_cast<float>(value_of_pattern(bits, narrow_format_of(f16), 10, 5)); }

std::uint16_t bf16_bits(float x) {
  if (std::isnan(x)) return 0x7FC0;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float bf16_value(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint64_t to_bits(const Value& v) {
  const Type t = v.type;
  if (!t.is_float())
    return t.bits == 64 ? static_cast<std::uint64_t>(v.i)
                        : static_cast<std::uint64_t>(v.i) & ((std::uint64_t{1} << t.bits) - 1);
  if (t.bits == 64) return std::isnan(v.f) ? 0x7FF8000000000000u : std::bit_cast<std::uint64_t>(v.f);
  if (t.bits == 32) return std::isnan(v.f) ? 0x7FC00000u : std::bit_cast<std::uint32_t>(static_cast<float>(v.f));
  if (t.code == Type::Code::bfloat) return bf16_bits(static_cast<float>(v.f));
  if (t.code == Type::Code::ieee) return f16_bits(static_cast<float>(v.f));
  return t.code == Type::Code::e4m3 ? pattern(v.f, narrow_format_of(t), 3, 0x7F, 0x7F, 7)
                                    : pattern(v.f, narrow_format_of(t), 2, 0x7E, 0x7C, 7);
}

Value from_bits(Type t, std::uint64_t bits) {
  Value v;
  v.type = t;
  if (!t.is_float()) {
    if (t.is_bool())
      v.i = (bits & 0xFF) != 0;
    else
      v.i = wrap_to(t, static_cast<std::int64_t>(bits));
  } else if (t.bits == 64) {
    v.f = std::bit_cast<double>(bits);
  } else if (t.bits == 32) {
    v.f = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  } else if (t.code == Type::Code::bfloat) {
    v.f = static_cast<double>(bf16_value(static_cast<std::uint16_t>(bits)));
  } else if (t.code == Type::Code::ieee) {
    v.f = static_cast<double>(f16_value(static_cast<std::uint16_t>(bits)));
  } else {
    v.f = t.code == Type::Code::e4m3 ? value_of_pattern(bits, narrow_format_of(t), 3, 4)
                                     : value_of_pattern(bits, narrow_format_of(t), 2, 5);
  }
  return v;
}

Value read_value(Type t, const void* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(t.bytes()));
  return from_bits(t, bits);
}

void write_value(void* at, const Value& v) {
  const std::uint64_t bits = to_bits(v);
  std::memcpy(at, &bits, static_cast<std::size_t>(v.type.bytes()));
}

}  // namespace ashlar::ir
