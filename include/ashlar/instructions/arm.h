// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// AArch64 dot-product instructions (NEON, 128 bits), for tensorize: they multiply several neighbors and add the products.
//
//   acc.tensorize(lane, arm::sdot());        // for lane in 4, for k in 4: acc[lane] += i32(A[k]) * i32(B[lane, k])
//
// Tiles are passed by value, so accumulators may lie in Scope::registers. Each instruction gives exactly the bits that its
// description gives, unless an argument allows a difference.
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::arm {

enum class Left {
  broadcast,  // a[k]: the same elements for all lanes
  rows,       // a[i, k]: each lane has its own elements
  lanes,      // a[r, k], four rows: c and a [4, 4]. One instruction for each row, which takes its lane of a's register
};

// c[i] += sum over k in 4 of i32(a) * i32(b[i, k]): c i32[4], b [4, 4]. sdot: both i8; udot: both u8, c u32; usdot: a u8, b i8.
// sdot and udot need dotprod, usdot i8mm. With Left::lanes c[r, i] += sum over k in 4 of i32(a[r, k]) * i32(b[i, k]).
Intrinsic sdot(Left = Left::broadcast, Where = Where::current());
Intrinsic udot(Left = Left::broadcast, Where = Where::current());
Intrinsic usdot(Left = Left::broadcast, Where = Where::current());

// c[i, j] += sum over k in 8 of i32(a[i, k]) * i32(b[j, k]): c i32[2, 2], a and b [2, 8]. Types as above (ummla: c u32). Need
// i8mm.
Intrinsic smmla(Where = Where::current());
Intrinsic ummla(Where = Where::current());
Intrinsic usmmla(Where = Where::current());

// c[i, j] += a[i, 0] * b[0, j], with fma: f32, c [4, 4], a [4, 1], b [1, 4]. Four instructions, fmla by lane.
Intrinsic fmla_by_lane(Where = Where::current());

// c[i, j] += i32(a[i, 0]) * i32(b[0, j]): i8, c i32[4, 4], a [4, 1], b [1, 4]. Four instructions, smlal by lane, on elements
// extended to 16 bits. For processors without dotprod.
Intrinsic smlal_by_lane(Where where = Where::current());

// c[i] += sum over k in 2 of f32(a[k]) * f32(b[i, k]), with fma: c f32[4], a bf16[2] (or [4, 2]), b bf16[4, 2]; lanes: c [4,
// 4]. Two instructions, bfmlalb for k = 0 and bfmlalt for k = 1, which round as described. Needs bf16.
Intrinsic bfmlal(Left = Left::broadcast, Where = Where::current());

// bfdot and bfmmla add two products before they add the sum to the accumulator, round these steps to odd, treat subnormal
// numbers as 0, and may round differently with FEAT_EBF16. So their sums may differ in the last places from the interpreter's
// and between machines, unless all products and sums are exact, as for small integers.
enum class Rounding { of_machine };
Intrinsic bfdot(Rounding, Left = Left::broadcast, Where = Where::current());  // as bfmlal, in one instruction
// c[i, j] += sum over k in 4 of f32(a[i, k]) * f32(b[j, k]): c f32[2, 2], a and b bf16[2, 4].
Intrinsic bfmmla(Rounding, Where = Where::current());

}  // namespace ashlar::arm
