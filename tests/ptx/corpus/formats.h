// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Short floating-point formats for references: values of bit patterns, and roundings of doubles, by the definitions of IEEE
// 754.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ashlar::ptx_corpus {

struct ShortFloat {
  int exponent, mantissa;  // bits
  bool infinities;         // else the uppermost exponent holds numbers too, and only all ones is not a number
  int bias() const { return (1 << (exponent - 1)) - 1; }
  std::uint32_t sign() const { return 1u << (exponent + mantissa); }
  std::uint32_t nan() const { return sign() - 1; }
  std::uint32_t infinity() const { return ((1u << exponent) - 1) << mantissa; }
  std::uint32_t largest() const { return infinities ? infinity() - 1 : nan() - 1; }
};
constexpr ShortFloat kHalf{5, 10, true}, kBrain{8, 7, true}, kTensor32{8, 10, true}, kE4{4, 3, false}, kE5{5, 2, true};

enum class Toward { kEven, kZero, kUp, kDown };

inline double decoded(std::uint32_t bits, const ShortFloat& f) {
  const std::uint32_t body = bits & (f.sign() - 1), exponent = body >> f.mantissa, rest = body & ((1u << f.mantissa) - 1);
  double v;
  if (f.infinities ? body > f.infinity() : body == f.nan()) return std::numeric_limits<double>::quiet_NaN();
  if (f.infinities && body == f.infinity())
    v = std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    v = std::ldexp(rest, 1 - f.bias() - f.mantissa);
  else
    v = std::ldexp(rest + (1u << f.mantissa), static_cast<int>(exponent) - f.bias() - f.mantissa);
  return bits & f.sign() ? -v : v;
}

inline std::uint32_t encoded(double v, const ShortFloat& f, Toward toward = Toward::kEven, bool finite = false) {
  if (std::isnan(v)) return f.nan();
  const std::uint32_t sign = std::signbit(v) ? f.sign() : 0;
  const double a = std::fabs(v);
  const bool away = toward == Toward::kUp ? sign == 0 : toward == Toward::kDown && sign != 0;
  std::uint32_t body;
  if (std::isinf(v)) {
    body = f.sign();  // above all
  } else if (a == 0) {
    body = 0;
  } else {
    const int least = 1 - f.bias() - f.mantissa, quantum = std::max(std::ilogb(a) - f.mantissa, least);
    const double q = std::ldexp(a, -quantum), whole = std::floor(q), rest = q - whole;
    double n = whole;
    if (toward == Toward::kEven)
      n += rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0);
    else
      n += away && rest > 0;
    const double patterns = std::ldexp(quantum - least, f.mantissa) + n;
    body = patterns > f.largest() ? f.largest() + 1 : static_cast<std::uint32_t>(patterns);
  }
  if (body > f.largest()) {  // infinity, unless rounded toward zero or held to what is finite
    const bool stays =
        finite || !f.infinities || (!std::isinf(v) && (toward == Toward::kZero || (toward != Toward::kEven && !away)));
    body = stays ? f.largest() : f.infinity();
  }
  return sign | body;
}

// A value that was rounded, and the sign of what the exact one has more: rounded to odd, which a shorter format rounds to once.
inline double to_odd(double v, double more) {
  if (more == 0 || std::isnan(more) || v == 0 || std::isinf(v) || (std::bit_cast<std::uint64_t>(v) & 1) != 0) return v;
  return std::nextafter(v, more > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

// a * b + c of short numbers, rounded to odd: encoded() of it is rounded once. The product of a and b has at most 53 bits.
inline double fused(double a, double b, double c) {
  const double p = a * b, s = p + c;
  if (std::isnan(s) || std::isinf(s)) return s;
  const double back = s - p;
  return to_odd(s, (p - (s - back)) + (c - back));
}

// The smaller and the larger of two; of a number and no number, the number; zeros by their sign.
inline double least(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : a < b || (a == b && std::signbit(a)) ? a : b;
}
inline double most(double a, double b) { return -least(-a, -b); }

// What cvt makes of a whole value: out of range, the nearest in range. Of no number 0; where the source or the result has 64
// bits, the uppermost bit of the result alone.
template <class I>
std::int64_t whole(double v, bool of_double = false) {
  if (std::isnan(v))
    return sizeof(I) == 8 || of_double ? static_cast<std::int64_t>(static_cast<I>(std::uint64_t(1) << (sizeof(I) * 8 - 1))) : 0;
  const double lo = static_cast<double>(std::numeric_limits<I>::min()), hi = static_cast<double>(std::numeric_limits<I>::max());
  return static_cast<std::int64_t>(v <= lo   ? std::numeric_limits<I>::min()
                                   : v >= hi ? std::numeric_limits<I>::max()
                                             : static_cast<I>(v));
}

inline float from_half(std::uint16_t bits) { return static_cast<float>(decoded(bits, kHalf)); }
inline std::uint16_t to_half(double v) { return static_cast<std::uint16_t>(encoded(v, kHalf)); }
inline float from_brain(std::uint16_t bits) { return static_cast<float>(decoded(bits, kBrain)); }
inline std::uint16_t to_brain(double v) { return static_cast<std::uint16_t>(encoded(v, kBrain)); }

}  // namespace ashlar::ptx_corpus
