// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/ahead/values.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace ahead {

namespace {

// A float type: sign, exponent, mantissa. All have infinities and NaNs at the highest exponent but e4m3, whose one NaN has all
// bits set.
struct Format {
  int exponent, mantissa;
  bool finite;
  int bias() const { return (1 << (exponent - 1)) - 1; }
  std::uint64_t highest() const { return (std::uint64_t{1} << exponent) - 1; }
  std::uint64_t fraction(std::uint64_t bits) const { return bits & ((std::uint64_t{1} << mantissa) - 1); }
  std::uint64_t power(std::uint64_t bits) const { return bits >> mantissa & highest(); }
  bool is_nan(std::uint64_t bits) const {
    const std::uint64_t all = (std::uint64_t{1} << mantissa) - 1;
    return power(bits) == highest() && (finite ? fraction(bits) == all : fraction(bits) != 0);
  }
  std::uint64_t nan() const {
    const std::uint64_t all = (std::uint64_t{1} << mantissa) - 1;
    return highest() << mantissa | (finite ? all : std::uint64_t{1} << (mantissa - 1));
  }
};

Format format(Type t) {
  if (t.code == 4) return {8, 7, false};
  if (t.code == 10) return {4, 3, true};
  if (t.code == 12) return {5, 2, false};
  return t.bits == 16 ? Format{5, 10, false} : t.bits == 32 ? Format{8, 23, false} : Format{11, 52, false};
}

std::uint64_t rounded(double v, const Format& f, int bits) {
  const std::uint64_t sign = std::signbit(v) ? std::uint64_t{1} << (bits - 1) : 0;
  if (std::isnan(v)) return f.nan();
  const std::uint64_t beyond = f.finite ? f.nan() : f.highest() << f.mantissa;  // what overflows: infinity, or its NaN
  if (std::isinf(v)) return sign | beyond;
  if (v == 0) return sign;
  int exponent = 0;
  std::frexp(v, &exponent);  // |v| in [2^(exponent - 1), 2^exponent)
  const int low = std::max(exponent - 1, 1 - f.bias());
  const auto steps = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(std::abs(v), f.mantissa - low)));
  // A normal number has its leading one in `steps`, which adds one to the exponent; a subnormal number has none.
  const std::uint64_t found = (static_cast<std::uint64_t>(low + f.bias() - 1) << f.mantissa) + steps;
  return sign | (found > beyond ? beyond : found);
}

double value(std::uint64_t bits, const Format& f, int width) {
  const double sign = bits >> (width - 1) & 1 ? -1 : 1;
  if (f.is_nan(bits)) return std::nan("");
  const auto power = static_cast<int>(f.power(bits));
  const auto fraction = static_cast<double>(f.fraction(bits));
  if (!f.finite && f.power(bits) == f.highest()) return sign * HUGE_VAL;
  if (power == 0) return sign * std::ldexp(fraction, 1 - f.bias() - f.mantissa);
  return sign * std::ldexp(fraction + std::ldexp(1.0, f.mantissa), power - f.bias() - f.mantissa);
}

std::uint64_t raw(const Bytes& bytes, std::int64_t at, Type t) {
  std::uint64_t v = 0;
  if (t.is_packed()) return static_cast<std::uint64_t>(bytes[static_cast<std::size_t>(at / 2)]) >> (at % 2 * 4) & 15u;
  const std::size_t size = bytes_of(t, 1);
  std::memcpy(&v, bytes.data() + static_cast<std::size_t>(at) * size, size);
  return v;
}

void set_raw(Bytes& bytes, std::int64_t at, Type t, std::uint64_t v) {
  if (t.is_packed()) {
    std::byte& b = bytes[static_cast<std::size_t>(at / 2)];
    const int low = at % 2 != 0 ? 4 : 0;
    b = (b & ~(std::byte{15} << low)) | (static_cast<std::byte>(v & 15u) << low);
    return;
  }
  const std::size_t size = bytes_of(t, 1);
  std::memcpy(bytes.data() + static_cast<std::size_t>(at) * size, &v, size);
}

}  // namespace

std::size_t bytes_of(Type t, std::int64_t elements) {
  const auto n = static_cast<std::size_t>(elements);
  return t.is_packed() ? (n + 1) / 2 : t.bits < 8 ? n : n * static_cast<std::size_t>(t.bits / 8);
}

void put(Bytes& bytes, std::int64_t at, Type t, double v) {
  if (t.code == 6)
    set_raw(bytes, at, t, v != 0);
  else if (t.is_float())
    set_raw(bytes, at, t, rounded(v, format(t), t.bits));
  else
    set_raw(bytes, at, t, static_cast<std::uint64_t>(static_cast<std::int64_t>(v)));
}

double get(const Bytes& bytes, std::int64_t at, Type t) {
  const std::uint64_t v = raw(bytes, at, t);
  if (t.is_float()) return value(v, format(t), t.bits);
  if (t.code != 0) return static_cast<double>(v);
  const int above = 64 - t.bits;
  return static_cast<double>(static_cast<std::int64_t>(v << above) >> above);
}

std::uint64_t hash(const Bytes& bytes, Type t) {
  Bytes all = bytes;
  if (t.is_float()) {
    const Format f = format(t);
    for (std::int64_t n = 0; n < static_cast<std::int64_t>(all.size() / bytes_of(t, 1)); ++n)
      if (f.is_nan(raw(all, n, t))) set_raw(all, n, t, f.nan());
  }
  std::uint64_t h = 0xcbf29ce484222325u;  // FNV-1a: Fowler, Noll, Vo
  for (const std::byte b : all) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001b3u;
  return h;
}

bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

std::string text(double v) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.9g", v);
  return digits;
}

}  // namespace ahead
