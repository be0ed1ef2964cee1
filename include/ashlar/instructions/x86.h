// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Instructions of x86-64 that multiply and add up several neighbours at once, for tensorize.
//
//   acc.tensorize(lane, x86::vpdpbusd());     // for lane in 16, for k in 4: acc[lane] += i32(A[k]) * i32(B[lane, k])
//
// Each takes its tiles by value: accumulators may lie in Scope::registers, and the loop around them has one instruction a call.
// Of the two tiles that are multiplied one is `a`, the same for all lanes (a broadcast of its 4 bytes), the other `b`, one row
// for each lane, so packed that a row's elements are neighbours. Lanes: 16 (512 bits), 8 or 4.
//
// What they compute is what their descriptions say, to the bit, but for what an argument owns up to.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::x86 {

enum class Encoding {
  evex,  // AVX-512: needs avx512vnni, and avx512vl below 512 bits
  vex,   // AVX-VNNI, 256 and 128 bits: needs avxvnni
};

// c[i] += sum over k in 4 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a u8[4], b i8[lanes, 4].
Intrinsic vpdpbusd(int lanes = 16, Encoding = Encoding::evex, Where = Where::current());
// The same with a i8[4] and b u8[lanes, 4]: what is signed is broadcast.
Intrinsic vpdpbusd_signed_broadcast(int lanes = 16, Encoding = Encoding::evex, Where = Where::current());
// c[i] += sum over k in 4 of i32(a[i, k]) * i32(b[i, k]): c i32[lanes]; a u8[lanes, 4], b i8[lanes, 4].
Intrinsic vpdpbusd_vectors(int lanes = 16, Encoding = Encoding::evex, Where = Where::current());
// c[i] += sum over k in 2 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a i16[2], b i16[lanes, 2].
Intrinsic vpdpwssd(int lanes = 16, Encoding = Encoding::evex, Where = Where::current());

// c[i] += sum over k in 4 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a[4], b[lanes, 4], each of u8 or i8. On every processor:
// bytes are widened to 16 bits by shifts and masks, the even ones and the odd ones, vpmaddwd multiplies them and adds pairs in
// 32 bits, exactly. What is widened of a and of b is the same for all calls that read it. 16 lanes need avx512bw, 8 avx2.
Intrinsic vpmaddwd_bytes(Type a, Type b, int lanes = 16, Where = Where::current());

// vpmaddwd and an addition, where there is no VNNI: c[i] += sum over k in 2 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a
// i16[2], b i16[lanes, 2], or i8[lanes, 2], which is extended to 16 bits on the way. 16 lanes need avx512bw, 8 avx2, 4 avx.
Intrinsic vpmaddwd(int lanes = 8, Type b = i16, Where = Where::current());

// vpmaddubsw adds two products in 16 bits, and cuts off what leaves them. The description does not: whoever asks for the
// instruction says that no a[2k] b[i, 2k] + a[2k + 1] b[i, 2k + 1] is outside of -32768 to 32767, as where all of a is below
// 128.
enum class Pairs { fit };
// By vpmaddubsw, vpmaddwd and an addition: c[i] += sum over k in 4 of i32(a[k]) * i32(b[i, k]): c i32[lanes]; a u8[4],
// b i8[lanes, 4]. Lanes as of vpmaddwd.
Intrinsic vpmaddubsw(Pairs, int lanes = 8, Where = Where::current());

// vdpbf16ps takes subnormal elements, of whatever operand, for 0 of their sign, and gives 0 for a sum that would be subnormal,
// at each of its two steps. The description does not: whoever asks for the instruction says that this may differ.
enum class Subnormals { as_zero };
// c[i] += sum over k in 2 of f32(a[k]) * f32(b[i, k]), by fma: c f32[lanes]; a bf16[2], b bf16[lanes, 2]. Needs avx512bf16, and
// avx512vl below 512 bits.
//
// The instruction adds the product of the upper of two neighbours first. So a and b are free of exchanges where element k = 0
// lies behind k = 1 in memory (a layout with 1 - k % 2 in the place of k % 2); stored the other way round they cost one each.
Intrinsic vdpbf16ps(Subnormals, int lanes = 16, Where = Where::current());

}  // namespace ashlar::x86
