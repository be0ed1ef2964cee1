// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Products of matrices, C[.., i, j] = sum over k of A[.., i, k] B[.., k, j], for extents of any size: packed panels, a tile of
// registers, k in blocks that accumulate through memory.
//
//   schedules::matmul(s, s[C], A, B);
//   schedules::matmul(s, s[scores], queries, keys, {.transposed_b = true});                      // B[.., j, k]
//   schedules::matmul(s, s[gradient], x, y, {.transposed_a = true});                             // A[.., k, i]
//   s[C].fuse_into(schedules::matmul(s, s[product], A, B, {.padded = true}).tile);   // bias and activation, tile by tile
//
//   for b    (dimensions before i and j)                                      in parallel, where there are any
//     for jc   (block_j panels of B)
//       for ko   (block_k at a time)
//         B panels: tile_j columns each, k after k, zeros past N              in parallel; they stay in the second-level cache
//         for io   (tile_i rows)                                              in parallel
//           A panel: tile_i rows of this block of k, row after row            it stays in the first-level cache; of A[.., k, i]
//                    several, k after k, for io in two loops
//           for jm   (tile_j columns: one panel of B)
//             partial, tile_i x tile_j sums in registers: for ki, one row of the B panel times one column of the A panel
//             product += partial, the first block stores
//             what is fused into the tile, after the last block
//
// Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008, describe the blocks and what each keeps
// where.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct MatmulOptions {
  int tile_i = 0;             // rows of a register tile; 0: as many as the target's registers hold
  int block_k = 0;            // steps of k between two visits of C; 0: 512
  int block_j = 0;            // panels of B in a block; 0: as many as fill the second-level cache twice
  int ahead = 32;             // steps of k that the panel of B is asked for before it is needed; 0: it is not
  bool transposed_a = false;  // A is read at [.., k, i]
  bool transposed_b = false;  // B is read at [.., j, k]
  // The product is no output: it has storage of its own, which may be written past the end of the matrix.
  bool padded = false;
  bool parallel = true;
};
struct MatmulLoops {
  Loop rows;  // over tiles of rows
  Loop tile;  // at the end of its iterations a tile of the product is up to date
  // Of the panels, over a few elements of A, and of B: a factor that is a stage may be computed here, just before it is packed.
  //   s[B].compute_at(loops.b).vectorize(s[B].spatial<2>()[1], lanes);
  Loop a, b;
};

// `product` sums A times B over its only reduction; A and B are inputs, or stages with declared boxes. Up to two dimensions may
// stand before i and j; A and B have all of them or none. Numbers of any type. Refused where the product has other loops or was
// scheduled before, or reads A and B at other indices.
MatmulLoops matmul(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulOptions& options = {},
                   Where where = Where::current());

}  // namespace ashlar::schedules
