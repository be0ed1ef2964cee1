// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The compiler's own intrinsics, as data: operands, which lane holds which element, when each is complete, and what they
// compute. A back end looks at `device` and the shapes; the interpreter runs `value`, or its function for `device`.
//
//   Kernel k;
//   Intrinsic f = ir::shuffle_xor(f32);
//   k.intrinsics[f.id] = f;              // call shuffle_xor to=t[0], from=r[0], mask=16
//
// Fragments' maps come from the PTX ISA manual: "Matrix Fragments for mma.m16n8k16 with floating point type", "Warp-level
// matrix load instruction: ldmatrix", "Register Fragments and Shared Memory Matrix Layouts" of wgmma.
#include <ashlar/ir/device.h>

namespace ashlar::ir {

// to[lane] = from[source(lane)] over a warp. xor: lane ^ mask. idx: source, the same for all lanes. up, down: lane - delta,
// lane + delta, and the lane's own value if that is not a lane. Names: shuffle_xor, shuffle_idx, shuffle_up, shuffle_down.
Intrinsic shuffle_xor(Type, int warp = 32);   // to, from, mask
Intrinsic shuffle_idx(Type, int warp = 32);   // to, from, source
Intrinsic shuffle_up(Type, int warp = 32);    // to, from, delta
Intrinsic shuffle_down(Type, int warp = 32);  // to, from, delta

// `matrices` (1, 2, 4) 8x8 matrices of 16-bit elements between shared memory and fragments; lane 8 m + r gives the address of
// row r of matrix m. A lane holds elements 2 (lane % 4) and the next of row lane / 4; transposed: of column lane / 4.
Intrinsic ldmatrix(Type, int matrices, bool transposed);  // to, from
Intrinsic stmatrix(Type, int matrices, bool transposed);  // to, from

// d[16, 8] += a[16, 16] b[16, 8] by a warp: a, b of f16 or bf16, d of f32.
Intrinsic mma_m16n8k16(Type ab);  // d, a, b

// cp.async: `elements` from global to shared memory, those from `valid` on are zero and not read.
Intrinsic copy_async(Type, int elements);  // to, from, valid

// A box of a tensor map into or out of shared memory, dense with the last dimension fastest, its 16-byte granules permuted by
// the map's swizzle. Outside the tensor a load gives zero (the bytes count) and a store writes nothing.
Intrinsic tma_load(Type);   // to, map, barrier
Intrinsic tma_store(Type);  // map, from

// d[64, n] = a[64, 16] b[n, 16]^T (+ d if accumulate != 0) by a warpgroup; a, b of f16 or bf16, d of f32; n a multiple of 8 up
// to 256. b, and a unless it is in registers, lie in shared memory with k fastest, as 8-row groups:
//   element (i, k) of swizzle s > 0 lies s (i % 8) + stride (i / 8) + 2 k bytes from the operand's address, permuted by s
//   element (i, k) of swizzle 0 lies 16 (i % 8) + stride (i / 8) + leading (k / 8) + 2 (k % 8) bytes from it
// Values: a_leading, a_stride (bytes; not with a in registers), b_leading, b_stride, swizzle (of both), accumulate.
Intrinsic wgmma(int n, Type ab, bool a_in_registers);

// The permutation of a swizzle of s bytes: of a byte address in shared memory, bits 4.. are xored with bits 7.. (one bit for
// 32, two for 64, three for 128).
std::int64_t swizzled(std::int64_t byte_address, int swizzle);

}  // namespace ashlar::ir
