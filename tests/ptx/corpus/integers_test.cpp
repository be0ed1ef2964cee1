// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References of kernels/integers.cu, bit by bit where an instruction is about bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/ptx/corpus/corpus.h"

namespace ashlar::ptx_corpus {
namespace {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;

constexpr i32 low32(i64 v) { return static_cast<i32>(static_cast<u32>(static_cast<u64>(v))); }
constexpr i64 floor_half(i64 v) { return v >> 1; }
i64 product24(i64 x, i64 y) { return ((x << 40) >> 40) * ((y << 40) >> 40); }
i32 saturated(i64 v) {
  return static_cast<i32>(std::clamp<i64>(v, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()));
}

// Bit i of the field of `length` bits from `at`, for each bit of the result; beyond the field its top bit, or 0.
u64 field(u64 x, u32 at, u32 length, unsigned width, bool sign) {
  at &= 255, length &= 255;
  const unsigned last = std::min<unsigned>(at + length - 1, width - 1);
  const u64 top = !sign || length == 0 ? 0 : (x >> last) & 1;
  u64 r = 0;
  for (unsigned i = 0; i < width; ++i) {
    const u64 bit = i < length && at + i < width ? (x >> (at + i)) & 1 : top;
    r |= bit << i;
  }
  return r;
}
u64 inserted(u64 from, u64 into, u32 at, u32 length, unsigned width) {
  at &= 255, length &= 255;
  for (unsigned i = 0; i < length && at + i < width; ++i)
    into = (into & ~(u64(1) << (at + i))) | (((from >> i) & 1) << (at + i));
  return into;
}
i32 highest(u64 x, unsigned width, bool sign) {  // bfind: the highest bit that differs from the sign
  if (sign && (x >> (width - 1)) & 1) x = ~x;
  for (int i = static_cast<int>(width) - 1; i >= 0; --i)
    if ((x >> i) & 1) return i;
  return -1;
}
template <class T>
T reversed(T x) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) r = static_cast<T>(r << 1 | ((x >> i) & 1));
  return r;
}
template <class T>
int ones(T x) {
  int n = 0;
  for (; x != 0; x = static_cast<T>(x & (x - 1))) ++n;
  return n;
}
template <class T>
int leading(T x) {
  int n = 0;
  for (T bit = T(1) << (sizeof(T) * 8 - 1); bit != 0 && (x & bit) == 0; bit = static_cast<T>(bit >> 1)) ++n;
  return n;
}
template <class T>
int first_set(T x) {
  for (unsigned i = 0; i < sizeof(T) * 8; ++i)
    if ((x >> i) & 1) return static_cast<int>(i) + 1;
  return 0;
}
u32 byte_of(u32 x, u32 y, u32 n) { return static_cast<u32>(((static_cast<u64>(y) << 32 | x) >> (8 * (n & 7))) & 255); }
u32 permuted(u32 x, u32 y, u32 s, bool signs) {
  u32 r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const u32 selector = (s >> (4 * i)) & 15, byte = byte_of(x, y, selector);
    r |= (signs && (selector & 8) ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
  }
  return r;
}
// The modes of prmt, as the tables of the PTX ISA document: which byte comes to place i for a selector of 0 to 3.
u32 permuted(u32 x, u32 y, u32 s, u32 (*from)(u32 i, u32 selector)) {
  u32 r = 0;
  for (u32 i = 0; i < 4; ++i) r |= byte_of(x, y, from(i, s & 3)) << (8 * i);
  return r;
}
template <class A, class B>
i64 dot4(u32 x, u32 y) {
  i64 sum = 0;
  for (int i = 0; i < 4; ++i) sum += i64(static_cast<A>(x >> (8 * i))) * i64(static_cast<B>(y >> (8 * i)));
  return sum;
}
template <class A, class B>  // A: halves of x, B: bytes of y, the two low or the two high ones
i64 dot2(u32 x, u32 y, int from) {
  i64 sum = 0;
  for (int i = 0; i < 2; ++i) sum += i64(static_cast<A>(x >> (16 * i))) * i64(static_cast<B>(y >> (8 * (i + from))));
  return sum;
}
u32 bits_from(u32 at, u32 length) {  // bmsk
  u32 r = 0;
  for (u32 i = 0; i < 32; ++i)
    if (i >= at && u64(i) < u64(at) + length) r |= 1u << i;
  return r;
}
u32 extended(u32 x, u32 width, bool sign) {  // szext: x of `width` bits
  if (width >= 32) return x;
  const u32 mask = width == 0 ? 0 : (1u << width) - 1;
  const bool negative = sign && width > 0 && ((x >> (width - 1)) & 1);
  return negative ? x | ~mask : x & mask;
}
template <unsigned Width, class F>
u32 by_parts(u32 x, u32 y, F f) {  // f of the parts' bits
  u32 r = 0;
  constexpr u32 mask = Width == 8 ? 0xff : 0xffff;
  for (unsigned at = 0; at < 32; at += Width) r |= (static_cast<u32>(f((x >> at) & mask, (y >> at) & mask)) & mask) << at;
  return r;
}
constexpr i32 s8(u32 v) { return static_cast<i8>(v); }
constexpr i32 s16(u32 v) { return static_cast<i16>(v); }

TEST_CASE("integers: 32 bits, signed") {
  Corpus c("integers", 1);
  const std::size_t n = 1237;
  auto a = edgy_values<i32>(c.rng, n), b = edgy_values<i32>(c.rng, n), d = edgy_values<i32>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 3) b[i] = static_cast<i32>(c.rng.below(70)), d[i] = static_cast<i32>(c.rng.below(70));
  const auto X = [&](std::size_t i) { return i64(a[i]); };
  const auto Y = [&](std::size_t i) { return i64(b[i]); };
  const auto Z = [&](std::size_t i) { return i64(d[i]); };
  const auto x = [&](std::size_t i) { return static_cast<u32>(a[i]); };
  const auto y = [&](std::size_t i) { return static_cast<u32>(b[i]); };
  const auto z = [&](std::size_t i) { return static_cast<u32>(d[i]); };
  const auto divides = [&](std::size_t i) { return b[i] != 0 && !(a[i] == std::numeric_limits<i32>::min() && b[i] == -1); };
  const std::vector<Row<i32>> rows = {
      {"add", [&](auto i) { return low32(X(i) + Y(i)); }},
      {"sub", [&](auto i) { return low32(X(i) - Y(i)); }},
      {"mul", [&](auto i) { return low32(X(i) * Y(i)); }},
      {"mad", [&](auto i) { return low32(X(i) * Y(i) + Z(i)); }},
      {"div", [&](auto i) { return divides(i) ? low32(X(i) / Y(i)) : 0; }},
      {"rem", [&](auto i) { return divides(i) ? low32(X(i) % Y(i)) : 0; }},
      {"by 7", [&](auto i) { return low32(X(i) / 7); }},
      {"mod 1000", [&](auto i) { return low32(X(i) % 1000); }},
      {"by -8", [&](auto i) { return low32(X(i) / -8); }},
      {"min", [&](auto i) { return low32(X(i) < Y(i) ? X(i) : Y(i)); }},
      {"max", [&](auto i) { return low32(X(i) > Z(i) ? X(i) : Z(i)); }},
      {"abs", [&](auto i) { return low32(X(i) < 0 ? -X(i) : X(i)); }},
      {"mulhi", [&](auto i) { return low32((X(i) * Y(i)) >> 32); }},
      {"mul24", [&](auto i) { return low32(product24(X(i), Y(i))); }},
      {"sad", [&](auto i) { return low32((X(i) < Y(i) ? Y(i) - X(i) : X(i) - Y(i)) + Z(i)); }},
      {"hadd", [&](auto i) { return low32(floor_half(X(i) + Y(i))); }},
      {"rhadd", [&](auto i) { return low32(floor_half(X(i) + Y(i) + 1)); }},
      {"shr", [&](auto i) { return low32(X(i) >> (y(i) & 31)); }},
      {"shl", [&](auto i) { return low32(static_cast<i64>(static_cast<u64>(x(i)) << (y(i) & 31))); }},
      {"shr.s32", [&](auto i) { return low32(X(i) >> std::min(y(i), 32u)); }},
      {"mad24.lo", [&](auto i) { return low32(product24(X(i), Y(i)) + Z(i)); }},
      {"mad.hi", [&](auto i) { return low32(((X(i) * Y(i)) >> 32) + Z(i)); }},
      {"bfe.s32", [&](auto i) { return static_cast<i32>(field(x(i), y(i), z(i), 32, true)); }},
      {"bfind.s32", [&](auto i) { return highest(x(i), 32, true); }},
      {"bfind.shiftamt.s32", [&](auto i) { return highest(x(i), 32, true) < 0 ? -1 : 31 - highest(x(i), 32, true); }},
      {"add.sat", [&](auto i) { return saturated(X(i) + Y(i)); }},
      {"sub.sat", [&](auto i) { return saturated(X(i) - Y(i)); }},
      {"mul24.hi", [&](auto i) { return low32(product24(X(i), Y(i)) >> 16); }},
      {"dp4a", [&](auto i) { return low32(dot4<i8, i8>(x(i), y(i)) + Z(i)); }},
      {"dp2a.lo", [&](auto i) { return low32(dot2<i16, i8>(x(i), y(i), 0) + Z(i)); }},
      {"dp2a.hi", [&](auto i) { return low32(dot2<i16, i8>(x(i), y(i), 2) + Z(i)); }},
      {"dp4a.s32.u32", [&](auto i) { return low32(dot4<i8, u8>(x(i), y(i)) + Z(i)); }},
      {"dp2a.hi.u32.s32", [&](auto i) { return low32(dot2<u16, i8>(x(i), y(i), 2) + Z(i)); }},
      {"select", [&](auto i) { return X(i) < Y(i) ? d[i] : b[i]; }},
      {"select by sign", [&](auto i) { return Z(i) >= 0 ? a[i] : b[i]; }},
      {"slct", [&](auto i) { return Z(i) >= 0 ? a[i] : b[i]; }},
      {"set.lt", [&](auto i) { return X(i) < Y(i) ? -1 : 0; }},
      {"cnot", [&](auto i) { return X(i) == 0 ? 1 : 0; }},
      {"szext.wrap", [&](auto i) { return static_cast<i32>(extended(x(i), y(i) & 31, true)); }},
      {"szext.clamp", [&](auto i) { return static_cast<i32>(extended(x(i), y(i), true)); }},
  };
  check_rows(c, "signed_32", n, 96, rows, a, b, d);
}

TEST_CASE("integers: 32 bits, unsigned") {
  Corpus c("integers", 2);
  const std::size_t n = 1001;
  auto a = edgy_values<u32>(c.rng, n), b = edgy_values<u32>(c.rng, n), d = edgy_values<u32>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 3) b[i] = static_cast<u32>(c.rng.below(70)), d[i] = static_cast<u32>(c.rng.below(70));
  const auto x = [&](std::size_t i) { return a[i]; };
  const auto y = [&](std::size_t i) { return b[i]; };
  const auto z = [&](std::size_t i) { return d[i]; };
  const auto X = [&](std::size_t i) { return u64(a[i]); };
  const auto Y = [&](std::size_t i) { return u64(b[i]); };
  const auto low = [](u64 v) { return static_cast<u32>(v); };
  const auto both = [&](std::size_t i) { return u64(b[i]) << 32 | a[i]; };  // funnel: y above x
  const std::vector<Row<u32>> rows = {
      {"div", [&](auto i) { return y(i) ? x(i) / y(i) : 0; }},
      {"rem", [&](auto i) { return y(i) ? x(i) % y(i) : 0; }},
      {"by 10", [&](auto i) { return x(i) / 10; }},
      {"mod 641", [&](auto i) { return x(i) % 641; }},
      {"min", [&](auto i) { return x(i) < y(i) ? x(i) : y(i); }},
      {"max", [&](auto i) { return x(i) < y(i) ? y(i) : x(i); }},
      {"umulhi", [&](auto i) { return low((X(i) * Y(i)) >> 32); }},
      {"umul24", [&](auto i) { return low((X(i) & 0xffffff) * (Y(i) & 0xffffff)); }},
      {"usad", [&](auto i) { return low((x(i) < y(i) ? y(i) - x(i) : x(i) - y(i)) + z(i)); }},
      {"uhadd", [&](auto i) { return low((X(i) + Y(i)) / 2); }},
      {"urhadd", [&](auto i) { return low((X(i) + Y(i) + 1) / 2); }},
      {"and xor not", [&](auto i) { return (x(i) & y(i)) ^ ~z(i); }},
      {"majority", [&](auto i) { return (x(i) & y(i)) | (y(i) & z(i)) | (x(i) & z(i)); }},
      {"xor", [&](auto i) { return x(i) ^ y(i) ^ z(i); }},
      {"shl", [&](auto i) { return y(i) > 31 ? 0 : x(i) << y(i); }},
      {"shr", [&](auto i) { return y(i) > 31 ? 0 : x(i) >> y(i); }},
      {"clz", [&](auto i) { return low(static_cast<u64>(leading(x(i)))); }},
      {"popc", [&](auto i) { return low(static_cast<u64>(ones(x(i)))); }},
      {"ffs", [&](auto i) { return low(static_cast<u64>(first_set(x(i)))); }},
      {"brev", [&](auto i) { return reversed(x(i)); }},
      {"bfind.u32", [&](auto i) { return static_cast<u32>(highest(x(i), 32, false)); }},
      {"byte_perm", [&](auto i) { return permuted(x(i), y(i), z(i) & 0x7777, false); }},
      {"prmt.f4e", [&](auto i) { return permuted(x(i), y(i), z(i), +[](u32 k, u32 s) { return s + k; }); }},
      {"prmt.b4e", [&](auto i) { return permuted(x(i), y(i), z(i), +[](u32 k, u32 s) { return (s - k) & 7; }); }},
      {"prmt.rc8", [&](auto i) { return permuted(x(i), y(i), z(i), +[](u32, u32 s) { return s; }); }},
      {"prmt.ecl", [&](auto i) { return permuted(x(i), y(i), z(i), +[](u32 k, u32 s) { return std::max(k, s); }); }},
      {"prmt.ecr", [&](auto i) { return permuted(x(i), y(i), z(i), +[](u32 k, u32 s) { return std::min(k, s); }); }},
      {"prmt.rc16", [&](auto i) { return permuted(x(i), y(i), z(i), +[](u32 k, u32 s) { return (s & 1) * 2 + (k & 1); }); }},
      {"funnelshift_l", [&](auto i) { return low((both(i) << (z(i) & 31)) >> 32); }},
      {"funnelshift_r", [&](auto i) { return low(both(i) >> (z(i) & 31)); }},
      {"funnelshift_lc", [&](auto i) { return z(i) >= 32 ? x(i) : low((both(i) << z(i)) >> 32); }},
      {"funnelshift_rc", [&](auto i) { return z(i) >= 32 ? y(i) : low(both(i) >> z(i)); }},
      {"dp4a.u32", [&](auto i) { return low(static_cast<u64>(dot4<u8, u8>(x(i), y(i))) + z(i)); }},
      {"dp2a.lo.u32", [&](auto i) { return low(static_cast<u64>(dot2<u16, u8>(x(i), y(i), 0)) + z(i)); }},
      {"bfe.u32", [&](auto i) { return low(field(x(i), y(i), z(i), 32, false)); }},
      {"mad.hi.u32", [&](auto i) { return low(((X(i) * Y(i)) >> 32) + z(i)); }},
      {"sad.u32", [&](auto i) { return low((x(i) < y(i) ? y(i) - x(i) : x(i) - y(i)) + z(i)); }},
      {"bfi", [&](auto i) { return low(inserted(x(i), y(i), z(i), x(i) >> 13, 32)); }},
      {"bmsk.clamp", [&](auto i) { return bits_from(y(i), z(i)); }},
      {"bmsk.wrap", [&](auto i) { return bits_from(y(i) & 31, z(i) & 31); }},
      {"rotate", [&](auto i) { return x(i) << 7 | x(i) >> 25; }},
      {"set.hs", [&](auto i) { return x(i) >= y(i) ? ~0u : 0u; }},
      {"szext.clamp.u32", [&](auto i) { return extended(x(i), y(i), false); }},
      {"mul24.hi.u32", [&](auto i) { return low(((X(i) & 0xffffff) * (Y(i) & 0xffffff)) >> 16); }},
      {"lop3 0x5c",
       [&](auto i) {
         u32 r = 0;
         for (unsigned k = 0; k < 32; ++k)
           r |= ((0x5cu >> (((x(i) >> k) & 1) * 4 + ((y(i) >> k) & 1) * 2 + ((z(i) >> k) & 1))) & 1) << k;
         return r;
       }},
  };
  check_rows(c, "unsigned_32", n, 128, rows, a, b, d);
}

TEST_CASE("integers: 64 bits") {
  Corpus c("integers", 3);
  const std::size_t n = 777;
  auto a = edgy_values<u64>(c.rng, n), b = edgy_values<u64>(c.rng, n), d = edgy_values<u64>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 3) b[i] = c.rng.below(140), d[i] = c.rng.below(140);
  for (std::size_t i = 1; i < n; i += 5) b[i] = c.rng.next() >> (c.rng.below(64));
  const auto x = [&](std::size_t i) { return a[i]; };
  const auto y = [&](std::size_t i) { return b[i]; };
  const auto z = [&](std::size_t i) { return d[i]; };
  const auto X = [&](std::size_t i) { return static_cast<i64>(a[i]); };
  const auto Y = [&](std::size_t i) { return static_cast<i64>(b[i]); };
  const auto Z = [&](std::size_t i) { return static_cast<i64>(d[i]); };
  const auto sign = [](u64 v) { return static_cast<i64>(v); };
  const auto divides = [&](std::size_t i) { return b[i] != 0 && !(X(i) == std::numeric_limits<i64>::min() && Y(i) == -1); };
  const auto upper = [](u64 p, u64 q) { return static_cast<u64>((u128(p) * q) >> 64); };
  const std::vector<Row<i64>> rows = {
      {"add", [&](auto i) { return sign(x(i) + y(i)); }},
      {"sub", [&](auto i) { return sign(x(i) - y(i)); }},
      {"mul", [&](auto i) { return sign(x(i) * y(i)); }},
      {"mad", [&](auto i) { return sign(x(i) * y(i) + z(i)); }},
      {"div", [&](auto i) { return divides(i) ? X(i) / Y(i) : 0; }},
      {"rem", [&](auto i) { return divides(i) ? X(i) % Y(i) : 0; }},
      {"by a constant", [&](auto i) { return X(i) / 12345678901; }},
      {"mod 10", [&](auto i) { return X(i) % 10; }},
      {"min", [&](auto i) { return X(i) < Y(i) ? X(i) : Y(i); }},
      {"max", [&](auto i) { return X(i) > Z(i) ? X(i) : Z(i); }},
      {"mul64hi", [&](auto i) { return sign(upper(x(i), y(i)) - (X(i) < 0 ? y(i) : 0) - (Y(i) < 0 ? x(i) : 0)); }},
      {"shr", [&](auto i) { return X(i) >> (y(i) & 63); }},
      {"shl", [&](auto i) { return sign(x(i) << (y(i) & 63)); }},
      {"select", [&](auto i) { return X(i) < Y(i) ? Z(i) : X(i); }},
      {"equal", [&](auto i) { return i64(x(i) == y(i)); }},
      {"at most", [&](auto i) { return i64(X(i) <= Z(i)); }},
      {"wide", [&](auto i) { return i64(static_cast<i32>(x(i))) * i64(static_cast<i32>(y(i))); }},
      {"short", [&](auto i) { return i64(static_cast<i16>(x(i))); }},
      {"abs", [&](auto i) { return X(i) < 0 ? sign(0 - x(i)) : X(i); }},
      {"bfe.s64", [&](auto i) { return sign(field(x(i), static_cast<u32>(y(i)), static_cast<u32>(z(i)), 64, true)); }},
      {"shr.s64", [&](auto i) { return static_cast<u32>(y(i)) > 63 ? (X(i) < 0 ? -1 : 0) : X(i) >> static_cast<u32>(y(i)); }},
      {"mad.wide",
       [&](auto i) { return sign(static_cast<u64>(i64(static_cast<i32>(x(i))) * i64(static_cast<i32>(y(i)))) + z(i)); }},
  };
  check_rows(c, "signed_64", n, 64, rows, a, b, d);

  const auto p = [&](std::size_t i) { return u128(x(i)) * y(i) + z(i); };
  const auto q = [&](std::size_t i) { return p(i) - (u128(z(i)) << 64 | x(i)); };
  const std::vector<Row<u64>> unsigned_rows = {
      {"div", [&](auto i) { return y(i) ? x(i) / y(i) : 0; }},
      {"rem", [&](auto i) { return y(i) ? x(i) % y(i) : 0; }},
      {"by a constant", [&](auto i) { return x(i) / 1000000007; }},
      {"min", [&](auto i) { return x(i) < y(i) ? x(i) : y(i); }},
      {"max", [&](auto i) { return x(i) < z(i) ? z(i) : x(i); }},
      {"umul64hi", [&](auto i) { return upper(x(i), y(i)); }},
      {"clzll", [&](auto i) { return static_cast<u64>(leading(x(i))); }},
      {"popcll", [&](auto i) { return static_cast<u64>(ones(x(i))); }},
      {"ffsll", [&](auto i) { return static_cast<u64>(first_set(x(i))); }},
      {"brevll", [&](auto i) { return reversed(x(i)); }},
      {"logic", [&](auto i) { return (x(i) & ~y(i)) ^ z(i); }},
      {"rotate", [&](auto i) { return (y(i) & 63) == 0 ? x(i) : x(i) << (y(i) & 63) | x(i) >> (64 - (y(i) & 63)); }},
      {"product, low", [&](auto i) { return static_cast<u64>(p(i)); }},
      {"product, high", [&](auto i) { return static_cast<u64>(p(i) >> 64); }},
      {"difference, low", [&](auto i) { return static_cast<u64>(q(i)); }},
      {"difference, high", [&](auto i) { return static_cast<u64>(q(i) >> 64); }},
      {"bfi.b64", [&](auto i) { return inserted(x(i), y(i), static_cast<u32>(z(i)), static_cast<u32>(z(i) >> 32), 64); }},
      {"shl.b64", [&](auto i) { return static_cast<u32>(y(i)) > 63 ? 0 : x(i) << static_cast<u32>(y(i)); }},
      {"wide", [&](auto i) { return u64(static_cast<u32>(x(i))) * static_cast<u32>(y(i)); }},
  };
  const auto unsigned_out = c.make<u64>(unsigned_rows.size() * n);
  c.launch("unsigned_64", grid_of(n, 160), c.put(a), c.put(b), c.put(d), unsigned_out, static_cast<i32>(n));
  expect_rows("unsigned_64", c.get(unsigned_out), n, unsigned_rows);
}

TEST_CASE("integers: 8 and 16 bits") {
  Corpus c("integers", 4);
  const std::size_t n = 999;
  const auto a = edgy_values<i8>(c.rng, n);
  const auto b = edgy_values<u8>(c.rng, n);
  const auto d = edgy_values<i16>(c.rng, n);
  const auto e = edgy_values<u16>(c.rng, n);
  const auto P = [&](std::size_t i) { return i32(a[i]); };
  const auto Q = [&](std::size_t i) { return i32(b[i]); };
  const auto R = [&](std::size_t i) { return i32(d[i]); };
  const auto S = [&](std::size_t i) { return i32(e[i]); };
  const auto T = [&](std::size_t i) { return s16(e[i]); };  // S read as signed
  const auto u = [](i32 v) { return static_cast<u32>(v); };
  const std::vector<Row<i32>> rows = {
      {"char sum", [&](auto i) { return s8(u(P(i) + Q(i))); }},
      {"unsigned char product", [&](auto i) { return i32(u(P(i) * Q(i)) & 255); }},
      {"short product", [&](auto i) { return s16(u(R(i)) * u(S(i))); }},
      {"unsigned short difference", [&](auto i) { return i32(u(R(i) - S(i)) & 0xffff); }},
      {"char by unsigned char", [&](auto i) { return Q(i) ? P(i) / Q(i) : 0; }},
      {"short mod unsigned short", [&](auto i) { return S(i) ? R(i) % S(i) : 0; }},
      {"shl", [&](auto i) { return s16(u(P(i)) << 3); }},
      {"shr", [&](auto i) { return Q(i) >> 2; }},
      {"min", [&](auto i) { return std::min(R(i), P(i)); }},
      {"max", [&](auto i) { return std::max(S(i), Q(i)); }},
      {"less", [&](auto i) { return i32(R(i) < P(i)); }},
      {"low byte", [&](auto i) { return s8(u(R(i))); }},
      {"not", [&](auto i) { return i32(~u(Q(i)) & 255); }},
      {"min.s16", [&](auto i) { return std::min(R(i), T(i)); }},
      {"mul.hi.s16", [&](auto i) { return (R(i) * T(i)) >> 16; }},
      {"mul.wide.s16", [&](auto i) { return R(i) * T(i); }},
      {"mad.wide.u16", [&](auto i) { return static_cast<i32>((u(R(i)) & 0xffff) * u(S(i)) + u(P(i))); }},
      {"shr.s16", [&](auto i) { return R(i) >> std::min(Q(i), 16); }},
  };
  check_rows(c, "small_types", n, 256, rows, a, b, d, e);
}

TEST_CASE("integers: four bytes or two halves at once") {
  Corpus c("integers", 5);
  const std::size_t n = 500;
  auto a = edgy_values<u32>(c.rng, n), b = edgy_values<u32>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 4) b[i] = a[i] ^ static_cast<u32>(c.rng.below(65536));  // parts that are the same
  const auto bytes = [&](auto f) { return [&a, &b, f](std::size_t i) { return by_parts<8>(a[i], b[i], f); }; };
  const auto halves = [&](auto f) { return [&a, &b, f](std::size_t i) { return by_parts<16>(a[i], b[i], f); }; };
  const std::vector<Row<u32>> rows = {
      {"vadd4", bytes([](u32 x, u32 y) { return x + y; })},
      {"vsub2", halves([](u32 x, u32 y) { return x - y; })},
      {"vabsdiffu4", bytes([](u32 x, u32 y) { return x < y ? y - x : x - y; })},
      {"vabsdiffs4", bytes([](u32 x, u32 y) { return std::abs(s8(x) - s8(y)); })},
      {"vmaxs4", bytes([](u32 x, u32 y) { return std::max(s8(x), s8(y)); })},
      {"vminu2", halves([](u32 x, u32 y) { return std::min(x, y); })},
      {"vcmpgts2", halves([](u32 x, u32 y) { return s16(x) > s16(y) ? 0xffff : 0; })},
      {"vseteq4", bytes([](u32 x, u32 y) { return x == y ? 1 : 0; })},
      {"vavgu4", bytes([](u32 x, u32 y) { return (x + y + 1) / 2; })},
      {"vhaddu4", bytes([](u32 x, u32 y) { return (x + y) / 2; })},
      {"vaddss4", bytes([](u32 x, u32 y) { return std::clamp(s8(x) + s8(y), -128, 127); })},
      {"vaddus2", halves([](u32 x, u32 y) { return std::min(x + y, 0xffffu); })},
      {"vnegss2", halves([](u32 x, u32) { return std::min(-s16(x), 32767); })},
      {"vsadu4",
       [&](auto i) {
         u32 sum = 0;
         by_parts<8>(a[i], b[i], [&](u32 x, u32 y) { return sum += x < y ? y - x : x - y; });
         return sum;
       }},
      {"vcmpleu4", bytes([](u32 x, u32 y) { return x <= y ? 255 : 0; })},
  };
  check_rows(c, "packed_integers", n, 64, rows, a, b);
}

}  // namespace
}  // namespace ashlar::ptx_corpus
