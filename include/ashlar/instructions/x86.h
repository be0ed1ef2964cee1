// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// x86-64 dot-product instructions, for tensorize: they multiply several neighbors and add the products.
//
//   acc.tensorize(lane, x86::vpdpbusd());     // for lane in 16, for k in 4: acc[lane] += i32(A[k]) * i32(B[lane, k])
//
// Tiles are passed by value, so accumulators may lie in Scope::registers, and each call becomes one instruction. The factor `a`
// is the same for all lanes (a broadcast of its 4 bytes); `b` has one row for each lane, packed so that the elements of a row
// are neighbors. Lanes: 16 (512 bits), 8 or 4.
//
// Each instruction gives exactly the bits that its description gives, unless an argument allows a difference.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::x86 {

enum class Encoding {
  evex,  // AVX-512: needs avx512vnni, and avx512vl below 512 bits
  vex,   // AVX-VNNI, with 256 or 128 bits: needs avxvnni
};

// c[i] += sum over k in 4 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a u8[4], b i8[lanes, 4].
Intrinsic vpdpbusd(int lanes = 16, Encoding = Encoding::evex, Where = Where::current());
// The same with a i8[4] and b u8[lanes, 4]: the signed factor is broadcast.
Intrinsic vpdpbusd_signed_broadcast(int lanes = 16, Encoding = Encoding::evex, Where = Where::current());
// c[i] += sum over k in 4 of i32(a[i, k]) * i32(b[i, k]): c i32[lanes]; a u8[lanes, 4], b i8[lanes, 4].
Intrinsic vpdpbusd_vectors(int lanes = 16, Encoding = Encoding::evex, Where = Where::current());
// c[i] += sum over k in 2 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a i16[2], b i16[lanes, 2].
Intrinsic vpdpwssd(int lanes = 16, Encoding = Encoding::evex, Where = Where::current());

// c[i] += sum over k in 4 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a[4], b[lanes, 4], each of u8 or i8. Works on every
// processor: shifts and masks widen the even and the odd bytes to 16 bits, and vpmaddwd multiplies them and adds pairs in 32
// bits, exactly. Calls that read the same elements share the widening. 16 lanes need avx512bw, 8 need avx2.
Intrinsic vpmaddwd_bytes(Type a, Type b, int lanes = 16, Where = Where::current());

// vpmaddwd and an addition, for processors without VNNI: c[i] += sum over k in 2 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a
// i16[2], b i16[lanes, 2], or i8[lanes, 2], which is extended to 16 bits. 16 lanes need avx512bw, 8 avx2, 4 avx.
Intrinsic vpmaddwd(int lanes = 8, Type b = i16, Where = Where::current());

// vpmaddubsw adds two products in 16 bits and saturates; the description does not. By passing Pairs::fit you promise that every
// a[2k] b[i, 2k] + a[2k + 1] b[i, 2k + 1] lies in -32768 to 32767. This holds if all elements of a are below 128.
enum class Pairs { fit };
// vpmaddubsw, vpmaddwd and an addition: c[i] += sum over k in 4 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a u8[4],
// b i8[lanes, 4]. Lanes as for vpmaddwd.
Intrinsic vpmaddubsw(Pairs, int lanes = 8, Where = Where::current());

// In each of its two steps, vdpbf16ps treats subnormal operands as zeros of the same sign and gives 0 for a subnormal sum; the
// description does not. By passing Subnormals::as_zero you accept this difference.
enum class Subnormals { as_zero };
// c[i] += sum over k in 2 of f32(a[k]) * f32(b[i, k]), with fma: c f32[lanes]; a bf16[2], b bf16[lanes, 2]. Needs avx512bf16,
// and avx512vl below 512 bits.
//
// The instruction adds the product of the upper neighbor first. If element k = 0 lies after k = 1 in memory (a layout with 1 -
// k % 2 in place of k % 2), a and b need no exchange; otherwise each costs one.
Intrinsic vdpbf16ps(Subnormals, int lanes = 16, Where = Where::current());

}  // namespace ashlar::x86
