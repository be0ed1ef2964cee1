// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Warp instructions of NVIDIA devices from sm_80 on, for tensorize: products of small matrices on the tensor cores, and the
// loads of their operands from shared memory.
//
//   acc.tensorize(ci, ampere::mma(f16, f32, Rounding::of_machine));
//     for ci, cj in 16, for kc in 16: acc[ci, cj] += A[ci, kc] B[kc, cj]
//   a.tensorize(ri, ampere::load_left(f16));
//     for ri, ci in 16: a[ri, ci] = tile[ri, ci]
//
// Operands of mma and results of the loads lie in Scope::fragment. Sources of the loads lie in Scope::shared, in rows of at
// least 16 bytes that start at multiples of 16 bytes. The PTX ISA says which lane holds which element ("Warp Level Matrix
// Multiply-Accumulate Instructions" and "ldmatrix"). A fragment has no orientation: B of a product may be indexed [k, j] or [j,
// k].
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::ampere {

// The hardware adds several products at once and truncates, so sums of floats differ in the last places from the described
// ones, which use an fma for each term in order (docs/ir.md, "Tensor cores"). Small whole numbers are exact.
enum class Rounding {
  of_machine,
  // f32 only: factors are first rounded to tf32, which has 10 bits after the point.
  to_tf32,
  // f32 only: each factor is split into a sum of two tf32 numbers, and three of the four products are added (3xTF32). Nearly as
  // precise as f32: the part that is left out is below 2^-21 of a product.
  to_3xtf32,
};

// The steps of k in one instruction for factors of this type: 16 for f16 and bf16, 8 for f32, 32 for 8-bit types.
int depth(Type factors);

// c[i, j] += sum over k of a[i, k] * b[k, j], all converted to the type of c: c [16, 16], a [16, depth], b [depth, 16]. Two
// instructions, mma.sync.m16n8k16 (m16n8k8 for f32, m16n8k32 for 8 bits) for eight columns each.
//
//   factors       sums         needs
//   f16           f32, f16     sm_80
//   bf16          f32          sm_80
//   f32           f32          sm_80; Rounding::to_tf32 or to_3xtf32
//   e4m3, e5m2    f32          sm_100 (sm_89 and later have it too, with PTX ISA 8.4, which is emitted for sm_100a only)
Intrinsic mma(Type factors, Type sums, Rounding, Where = Where::current());
// How a factor lies in the memory it is loaded from: in rows of k, A [i, k] and B [j, k], or in columns of k, A [k, i] and B
// [k, j].
enum class Lies { rows, columns };

// The same for i8 and u8 in any combination, with sums in i32, which wrap exactly as described. `right` says how the right
// factor lies and must agree with load_right; with Lies::columns a lane holds other columns, four in a row of c.
Intrinsic mma(Type a, Type b, Lies right = Lies::rows, Where = Where::current());

// c[i, j] += sum over k of a[i, k] * b[k, j], where a is f32 and b is f16 or bf16: c [16, 16], a [16, 16], b [16, 16]. The
// hardware rounds a to the type of b and the description does not, so they differ by the rounding of each element of a (2^-11
// of it for f16, 2^-8 for bf16). A lane holds the same elements of a as of c, so the sums of one product, and values computed
// from them, can be the left factor of the next product without moving between lanes.
//
// LeftFactor::rounded: the description rounds a too, so it is that of a program which does, f32(bf16(a[i, k])) * b[k, j].
enum class LeftFactor { as_given, rounded };
Intrinsic mma_rounding_left(Type right, LeftFactor = LeftFactor::as_given, Where = Where::current());

// The same, except that a zero of a skips its term: c[i, j] += sum over k of (a[i, k] == 0 ? 0 : a[i, k] * b[k, j]), even if b
// is infinite or NaN there. So weights that mask a value need no promise about it. The test is of a as rounded. As long as b is
// finite, the cost is 9 further instructions. Otherwise the products are those of the finite elements of b, and two more
// products count the infinities and NaNs that each sum meets. An infinite a times an infinite b is NaN.
Intrinsic mma_skipping_zeros(Type right, LeftFactor = LeftFactor::as_given, Where = Where::current());

// to[i, r] = from[i, r], f32, [16, 4]. Four lanes hold a row of sums (c of mma); lane r has one number of it, from[i, r].
// Afterwards each of them has all four numbers of its rows, and can combine them into the maximum or sum of the row. Eight
// shfl.sync.
Intrinsic exchange_rows(Where = Where::current());

// Load a fragment of 16 x depth elements from shared memory by one ldmatrix.x4, for elements of 8, 16 or 32 bits.
// Lies::columns: the tile lies transposed, [k, i] for the left factor and [k, j] for the right one; for elements of 16 bits
// (ldmatrix.trans), and for a right factor of i8 or u8, whose bytes are moved in pairs and then put in order (prmt).
Intrinsic load_left(Type, Lies = Lies::rows, Where = Where::current());
Intrinsic load_right(Type, Lies = Lies::rows, Where = Where::current());

}  // namespace ashlar::ampere
