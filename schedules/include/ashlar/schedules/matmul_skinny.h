// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// matmul_skinny: schedules matrix multiplications with few rows, C[i, j] = sum over k of A[i, k] B[k, j] with up to a dozen or
// so rows. B is read once and is not packed, so the kernel is bound by memory bandwidth.
//
//   schedules::matmul_skinny(s, s[C], {.tile_i = 8});
//
//   for jc   (block_j columns)                                     in parallel
//     for ko   (block_k rows of B)                                 the block of C stays in the first-level cache
//       for io   (tile_i rows)                                     and so do the rows of B, from the second iteration on
//         for jo   (tile_j registers)
//           partial, tile_i x tile_j sums in registers: for each ki one row of B
//           C += partial; the first block stores
//
// A few long rows of B are read side by side, as many as the hardware prefetcher can follow. Narrower blocks would keep more
// threads busy, but each thread would read more slowly. With `part_k` the sum is split too:
//
//   for jc, p   (block_j columns, part_k rows of B)                in parallel, as one loop
//     part = as above, for these rows
//   C = the sum of the parts
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct SkinnyOptions {
  int tile_i = 4;      // rows of a register tile: all rows, or a part of them
  int tile_j = 0;      // registers of one row of a tile; 0: as many as fit the tile into half of the registers, at most 8
  int block_k = 0;     // rows of B that are read together; 0: 8
  int block_j = 1024;  // columns for one thread
  int part_k = 0;      // rows of B for one thread, a multiple of block_k; 0: all
  bool parallel = true;
};

void matmul_skinny(Schedule& s, const Stage& stage, const SkinnyOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
