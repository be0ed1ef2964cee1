// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Products of narrow types on x86-64, by the instructions that multiply several neighbours and add them to one sum:
//
//   u8 by i8, summed in i32     vpdpbusd (avx512vnni, avxvnni): four k a step; so is i8 by u8
//   u8 by i8, summed in i32     vpmaddubsw (avx2), where the caller says that two products added fit 16 bits: four k a step
//   bytes, summed in i32        vpmaddwd (avx2) of what is widened to 16 bits where it is packed: two k a step
//   bytes, summed in i32        vpmaddwd of what is widened in registers, on every processor: four k a step
//   bf16, summed in f32         vdpbf16ps (avx512bf16): two k a step
//
//   schedules::matmul_dot(s, s[C], A, B);
//   schedules::matmul_dot(s, s[C], A, B, {.subnormals = x86::Subnormals::as_zero});      // bf16: what the instruction does
//   schedules::matmul_dot(s, s[y], x, weights, {.transposed_b = true});                  // B[j, k]
//
// The loops are those of matmul.h. What differs is the packing: the elements that a step multiplies are neighbours in both
// panels, zeros fill the last step of k, and a panel of B is a transposition of so many rows at a time. Of B[j, k] the elements
// of a step lie beside each other already, and are moved together.
//
//   for jc   (block_j panels of B)
//     for ko   (block_bytes of a row of A at a time)
//       B panels: tile_j columns, step after step, a column's elements of a step beside each other       in parallel
//       for io   (tile_i rows)                                                                           in parallel
//         A panel: tile_i rows of this block of k, row after row
//         for jm   (tile_j columns: one panel of B)
//           partial, tile_i x tile_j sums in registers: for each step one instruction a register, A's elements broadcast
//           C += partial, the first block stores
#include <ashlar/instructions/x86.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct MatmulDotOptions {
  int tile_i = 0;                                  // rows of a register tile; 0: as many as the target's registers hold
  int block_bytes = 0;                             // of a row of A between two visits of C, a multiple of 4; 0: 1024
  int block_j = 0;                                 // panels of B in a block; 0: as many as fill the second-level cache twice
  bool transposed_b = false;                       // B is read at [j, k]
  std::optional<x86::Pairs> pairs = {};            // of u8 by i8, without VNNI: two products added fit 16 bits, so vpmaddubsw
  std::optional<x86::Subnormals> subnormals = {};  // products of bf16 say that the instruction may take them for zero
  bool parallel = true;
};

// `stage`: C[i, j] = sum over k of wide(A[i, k]) wide(B[k, j]), or wide(B[j, k]). Refused where the target has no instruction
// for the types, and, by tensorize, where the sum is not what the instruction computes.
void matmul_dot(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulDotOptions& options = {},
                Where where = Where::current());

}  // namespace ashlar::schedules
