// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Instructions of a warp on NVIDIA devices from sm_80 on, for tensorize: products of small matrices by the tensor cores, and
// the loads of their operands from shared memory.
//
//   acc.tensorize(ci, ampere::mma(f16, f32, Rounding::of_machine));
//     for ci, cj in 16, for kc in 16: acc[ci, cj] += A[ci, kc] B[kc, cj]
//   a.tensorize(ri, ampere::load_left(f16));
//     for ri, ci in 16: a[ri, ci] = tile[ri, ci]
//
// Operands of mma, and what the loads write, lie in Scope::fragment; what the loads read lies in Scope::shared, in rows of at
// least 16 bytes that start at multiples of 16 bytes. Which lane holds which element is in the PTX ISA, "Warp Level Matrix
// Multiply-Accumulate Instructions" and "ldmatrix". A fragment has no orientation: B of a product may be indexed [k, j] or
// [j, k].
#include <ashlar/instructions/intrinsic.h>

namespace ashlar::ampere {

// The hardware adds several products at once and cuts off what does not fit, so the sums of floats differ in the last places
// from those of the description, an fma for each term in order (docs/ir.md, "Tensor cores"). Small whole numbers are exact.
enum class Rounding {
  of_machine,
  // f32 alone: the factors are first rounded to tf32, which has 10 bits after the point.
  to_tf32,
  // f32 alone: each factor is the sum of two tf32 numbers, of which three of the four products are added (3xTF32). Nearly as
  // precise as f32: what is left out is below 2^-21 of a product.
  to_3xtf32,
};

// The steps of k that one instruction takes for factors of this type: 16 for f16 and bf16, 8 for f32, 32 for 8 bits.
int depth(Type factors);

// c[i, j] += sum over k of a[i, k] * b[k, j], all converted to the type of c: c [16, 16], a [16, depth], b [depth, 16]. Two
// instructions, mma.sync.m16n8k16 (m16n8k8 for f32, m16n8k32 for 8 bits) for eight columns each.
//
//   factors       sums         needs
//   f16           f32, f16     sm_80
//   bf16          f32          sm_80
//   f32           f32          sm_80; Rounding::to_tf32 or to_3xtf32
//   e4m3, e5m2    f32          sm_100 (sm_89 and later have it too, but with PTX ISA 8.4, which is emitted for sm_100a only)
Intrinsic mma(Type factors, Type sums, Rounding, Where = Where::current());
// How a factor lies where it is loaded from: in rows of k, A [i, k] and B [j, k], or in columns of it, A [k, i] and B [k, j].
enum class Lies { rows, columns };

// The same for i8 and u8 (one of each, or two of one), with sums in i32, which wrap as described, to the bit. `right`: how the
// right factor lies, which load_right says too: a lane then holds other columns, four in a row of c.
Intrinsic mma(Type a, Type b, Lies right = Lies::rows, Where = Where::current());

// c[i, j] += sum over k of a[i, k] * b[k, j], where a is of f32 and b of f16 or bf16: c [16, 16], a [16, 16], b [16, 16]. The
// hardware takes a rounded to the type of b; the description does not round, so they differ by the rounding of each element of
// a (2^-11 of it for f16, 2^-8 for bf16). A lane holds the same elements of a as of c, so the sums of one product, and
// values computed from them, can be the left factor of the next one without moving between lanes.
Intrinsic mma_rounding_left(Type right, Where = Where::current());

// to[i, r] = from[i, r], of f32, [16, 4]: what the four lanes that hold a row of sums (c of mma) have of it, lane r one number,
// is brought to each of them. A lane has all four numbers of its rows afterwards: a maximum or a sum of a row is one of these
// four. Eight shfl.sync.
Intrinsic exchange_rows(Where = Where::current());

// Fragments from shared memory by one ldmatrix.x4, for elements of 8, 16 or 32 bits; 16 x depth elements. `columns`: the tile
// lies the other way round, [k, i] for the left factor and [k, j] for the right one, of 16 bits (ldmatrix.trans). Of the right
// factor of i8 or u8 too: two bytes are moved as one element, and put in order afterwards (prmt).
Intrinsic load_left(Type, Lies = Lies::rows, Where = Where::current());
Intrinsic load_right(Type, Lies = Lies::rows, Where = Where::current());

}  // namespace ashlar::ampere
