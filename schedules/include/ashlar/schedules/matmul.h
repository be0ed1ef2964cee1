// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// matmul: schedules matrix multiplications, C[.., i, j] = sum over k of A[.., i, k] B[.., k, j], for extents of any size. It
// uses packed panels, tiles of sums in registers, and blocks of k that accumulate in memory.
//
//   schedules::matmul(s, s[C], A, B);
//   schedules::matmul(s, s[scores], queries, keys, {.transposed_b = true});                      // B[.., j, k]
//   schedules::matmul(s, s[gradient], x, y, {.transposed_a = true});                             // A[.., k, i]
//   s[C].fuse_into(schedules::matmul(s, s[product], A, B, {.padded = true}).tile);   // bias and activation, tile by tile
//
//   for b    (dimensions before i and j)                                      in parallel, if any
//     for jc   (block_j panels of B)
//       for ko   (block_k at a time)
//         B panels: tile_j columns each, in the order of k, zeros past N      in parallel; in the second-level cache
//         for io   (tile_i rows)                                              in parallel
//           A panel: tile_i rows of this block of k, row by row               in the first-level cache
//           for jm   (tile_j columns: one panel of B)
//             partial, tile_i x tile_j sums in registers: for ki, one row of the B panel times one column of the A panel
//             product += partial; the first block stores
//             stages that are fused into the tile, after the last block
//
// For A[.., k, i], several panels of A are packed in the order of k, and io is two loops.
//
// The blocks, and the cache levels that hold them, are those of Goto and van de Geijn, Anatomy of high-performance matrix
// multiplication, 2008.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct MatmulOptions {
  int tile_i = 0;             // rows of a register tile; 0: as many as the target's registers hold
  int block_k = 0;            // steps of k between two updates of C; 0: 512
  int block_j = 0;            // panels of B in a block; 0: as many as fill the second-level cache twice
  int ahead = 32;             // prefetch distance in steps of k, for the panel of B; 0: no prefetch
  bool transposed_a = false;  // A is read at [.., k, i]
  bool transposed_b = false;  // B is read at [.., j, k]
  // The product is not an output: it has its own storage, which may be written past the end of the matrix.
  bool padded = false;
  bool parallel = true;
};
struct MatmulLoops {
  Loop rows;  // over tiles of rows
  Loop tile;  // at the end of each iteration, one tile of the product is complete
  // The loops of the packing over a few elements of A and of B. A factor that is a stage may be computed here, just before it
  // is packed:
  //   s[B].compute_at(loops.b).vectorize(s[B].spatial<2>()[1], lanes);
  Loop a, b;
};

// `stage` sums A times B over its only reduction variable, in any type. A and B are inputs, or stages with declared domains. Up
// to two dimensions may precede i and j; A and B each have all of them or none. Refused: a stage that has other loops or
// already has a schedule, other indices of A and B, and a GPU (use gpu_matmul).
MatmulLoops matmul(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulOptions& options = {},
                   Where where = Where::current());

}  // namespace ashlar::schedules
