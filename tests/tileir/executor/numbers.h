// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elements as bits of a u64, and the numbers that they are.
#include <cstdint>
#include <string_view>

namespace ashlar::tileir {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

enum class Kind : u8 {
  kI1,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,
  kF16,
  kBf16,
  kF32,
  kTf32,
  kF64,
  kE4m3,
  kE5m2,
  kE8m0,
  kE2m1,
  kE5m3,
  kPointer,
  kTile,
  kTensorView,
  kPartitionView,
  kStridedView,
  kGatherScatterView,
  kFunction,
  kToken,
};

inline bool is_integer(Kind k) { return k <= Kind::kI64; }
inline bool is_float(Kind k) { return k >= Kind::kF16 && k <= Kind::kE5m3; }
inline bool is_base_float(Kind k) { return k == Kind::kF16 || k == Kind::kBf16 || k == Kind::kF32 || k == Kind::kF64; }
std::string_view name_of(Kind);
int bits_of(Kind);         // of the value: tf32 has 19
int storage_bytes(Kind);   // in memory; 0: less than a byte, or nothing that lies in memory. i1 has 1, tf32 4
int constant_bytes(Kind);  // of an element in the constant section: tf32 has 3

inline u64 mask_of(int bits) { return bits >= 64 ? ~u64(0) : (u64(1) << bits) - 1; }
inline i64 signed_of(u64 v, int bits) {
  return bits >= 64 ? static_cast<i64>(v) : static_cast<i64>(v << (64 - bits)) >> (64 - bits);
}

// As the bytecode numbers them.
enum class Rounding : u8 { kNearestEven, kZero, kDown, kUp, kApprox, kFull, kIntegerToZero, kNearestAway };

double number_of(u64 bits, Kind);           // of a float
u64 rounded(double value, Kind, Rounding);  // to a float; under host_rounding() of the same rounding for f32 and f64
double flushed(double value, Kind);         // subnormal numbers of the format become zero of their sign
double fused(double a, double b, double c, Kind, Rounding);  // a * b + c for rounded(); a and b of the format

class HostRounding {  // for f32 and f64
 public:
  explicit HostRounding(Rounding);
  ~HostRounding();
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  bool changed_;
};

}  // namespace ashlar::tileir
