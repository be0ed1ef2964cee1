// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Products of few rows, C[i, j] = sum over k of A[i, k] B[k, j] with i below a dozen or so: B is read once, as it lies in
// memory, and nothing is packed. What they take is the time to read B.
//
//   schedules::matmul_skinny(s, s[C], {.tile_i = 8});
//
//   for jc   (block_j columns)                                     in parallel
//     for ko   (block_k rows of B)                                 C's columns stay in the first-level cache
//       for io   (tile_i rows)                                     and so do B's after the first of them
//         for jo   (tile_j registers)
//           partial, tile_i x tile_j sums in registers: for ki one row of B
//           C += partial, the first block stores
//
// A few rows of B are read side by side, each a long way: the processor's prefetching follows so many. Narrower blocks of
// columns would be more pieces of work, which one thread reads more slowly. So with `part_k` pieces are parts of the sum, too:
//
//   for jc, p   (block_j columns, part_k rows of B)                in parallel, as one loop
//     part = as above, of these rows
//   C = the sum of the parts
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct SkinnyOptions {
  int tile_i = 4;      // rows of a register tile: the rows there are, or a part of them
  int tile_j = 0;      // registers of a row of it; 0: as many as half of the file holds, 8 at most
  int block_k = 0;     // rows of B read at once; 0: 8
  int block_j = 1024;  // columns handed to a thread
  int part_k = 0;      // rows of B handed to a thread, a multiple of block_k; 0: all
  bool parallel = true;
};

void matmul_skinny(Schedule& s, const Stage& stage, const SkinnyOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
