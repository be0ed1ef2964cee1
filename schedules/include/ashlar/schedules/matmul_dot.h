// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// matmul_dot: schedules matrix multiplications of narrow types on x86-64 with dot-product instructions, which add several
// neighboring products to one sum:
//
//   u8 by i8, summed in i32     vpdpbusd (avx512vnni, avxvnni): four k in a step; also i8 by u8
//   u8 by i8, summed in i32     vpmaddubsw (avx2), if the caller promises that the sum of two products fits 16 bits: four k
//   bytes, summed in i32        vpmaddwd (avx2), on elements that are widened to 16 bits where they are packed: two k
//   bytes, summed in i32        vpmaddwd, on elements that are widened in registers, on every processor: four k
//   bf16, summed in f32         vdpbf16ps (avx512bf16): two k
//
//   schedules::matmul_dot(s, s[C], A, B);
//   schedules::matmul_dot(s, s[C], A, B, {.subnormals = x86::Subnormals::as_zero});      // bf16, as the instruction computes
//   schedules::matmul_dot(s, s[y], x, weights, {.transposed_b = true});                  // B[j, k]
//
// The loops are those of matmul.h. Only the packing differs: the elements that one instruction multiplies (a step) are
// neighbors in both panels, zeros fill the last step of k, and packing a panel of B transposes as many rows as a step has. In
// B[j, k] the elements of a step are already neighbors and are moved together.
//
//   for jc   (block_j panels of B)
//     for ko   (block_bytes of a row of A at a time)
//       B panels: tile_j columns, step by step; the elements of a column in a step are neighbors              in parallel
//       for io   (tile_i rows)                                                                                 in parallel
//         A panel: tile_i rows of this block of k, row by row
//         for jm   (tile_j columns: one panel of B)
//           partial, tile_i x tile_j sums in registers: for each step, one instruction for each register; A is broadcast
//           C += partial; the first block stores
#include <ashlar/instructions/x86.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct MatmulDotOptions {
  int tile_i = 0;                                  // rows of a register tile; 0: as many as the target's registers hold
  int block_bytes = 0;                             // bytes of a row of A between two updates of C, a multiple of 4; 0: 1024
  int block_j = 0;                                 // panels of B in a block; 0: as many as fill the second-level cache twice
  bool transposed_b = false;                       // B is read at [j, k]
  std::optional<x86::Pairs> pairs = {};            // without VNNI: promises that sums of two u8 by i8 products fit 16 bits
  std::optional<x86::Subnormals> subnormals = {};  // for bf16: allows an instruction that treats subnormals as zero
  bool parallel = true;
};

// `stage`: C[i, j] = sum over k of wide(A[i, k]) wide(B[k, j]), or wide(B[j, k]). Refused: a target that has no instruction for
// the types, and (by tensorize) a sum that no instruction computes.
void matmul_dot(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulDotOptions& options = {},
                Where where = Where::current());

}  // namespace ashlar::schedules
