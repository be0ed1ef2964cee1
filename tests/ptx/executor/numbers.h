// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Floating-point numbers of the formats that the host does not have, and roundings.
#include <bit>
#include <cmath>

#include "tests/ptx/executor/types.h"

namespace ashlar::ptx {

enum Rounding : u8 { kNearest, kZero, kDown, kUp, kAway };  // .rn .rz .rm .rp; .rna: ties away from zero

inline float f32_of(u64 bits) { return std::bit_cast<float>(static_cast<u32>(bits)); }
inline double f64_of(u64 bits) { return std::bit_cast<double>(bits); }
inline u32 bits_of_f32(float f) { return std::bit_cast<u32>(f); }
inline u64 bits_of_f64(double d) { return std::bit_cast<u64>(d); }
inline float flushed(float f) { return std::fabs(f) < 0x1p-126f ? std::copysign(0.0f, f) : f; }
inline u32 flushed_bits(u32 b) { return (b & 0x7f800000u) == 0 ? b & 0x80000000u : b; }

struct Format {
  int exponent_bits, mantissa_bits;
  bool infinity;  // the uppermost exponent is infinity and NaN; else it holds numbers, and all ones is the NaN (e4m3)
  u32 nan;
};
constexpr Format kF16 = {5, 10, true, 0x7fff}, kBf16 = {8, 7, true, 0x7fff}, kTf32 = {8, 10, true, 0x7ffff},
                 kE5m2 = {5, 2, true, 0x7f}, kE4m3 = {4, 3, false, 0x7f};

double value_of(u32 bits, const Format& f);
// Rounded once. finite: what is too large becomes the largest number, as .satfinite has it; a NaN stays one.
u32 round_to(double value, const Format& f, Rounding r, bool finite = false);
inline double f16_of(u64 bits) { return value_of(static_cast<u32>(bits) & 0xffff, kF16); }
inline double bf16_of(u64 bits) { return f32_of(static_cast<u32>(bits) << 16); }

// A factor of a matrix product: f16, bf16, tf32, e4m3, e5m2 or f64.
double factor_of(T, u64 bits);

// a * b + c in f64 with the last bit set where that is not exact, which any shorter format rounds to correctly. The product of
// a and b must be exact.
double fused_to_odd(double a, double b, double c);

class RoundingMode {  // of the host, for f32 and f64
 public:
  explicit RoundingMode(u8 r);
  ~RoundingMode();
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  bool changed_;
};

}  // namespace ashlar::ptx
