// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Types and state spaces of PTX.
#include <cstdint>
#include <string_view>

namespace ashlar::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // the names of the types of PTX are those of the integers above
enum class T : u8 {
  none,
  pred,
  b1,
  b4,
  u4,
  s4,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  b32,
  u32,
  s32,
  b64,
  u64,
  s64,
  b128,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  tf32,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  u16x2,
  s16x2,
  f32x2
};
#pragma GCC diagnostic pop

struct TypeRow {
  T type;
  const char* name;
  int bits;
  char kind;  // b, u, s, f
};
const TypeRow& row_of(T);
T type_named(std::string_view);  // "f32"; none
inline int bits_of(T t) { return row_of(t).bits; }
inline int bytes_of(T t) { return row_of(t).bits / 8; }
inline bool is_float(T t) { return row_of(t).kind == 'f'; }
inline bool is_signed(T t) { return row_of(t).kind == 's'; }
inline const char* name_of(T t) { return row_of(t).name; }

enum class Space : u8 { kGeneric, kGlobal, kShared, kSharedCluster, kLocal, kConst, kParam };
const char* name_of(Space);

// Generic addresses: global, constant and kernel parameters are pointers of the host. A shared address has in its upper byte
// (of 32 bits) 0 for the executing block's own, else one more than the rank of a block of the cluster.
constexpr u64 kSharedWindow = u64(1) << 56, kLocalWindow = u64(1) << 57, kCodeWindow = u64(1) << 58;
constexpr u32 kFirstShared = 1024, kFirstLocal = 64;

}  // namespace ashlar::ptx
