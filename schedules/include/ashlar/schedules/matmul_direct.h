// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Small products, C[i, j] = sum over k of A[i, k] B[k, j], whose factors fit the first caches: a tile of registers reads both
// where they lie.
//
//   for jo   (tile_j columns)
//     for io   (tile_i rows)                                       in parallel, as one loop
//       partial, tile_i x tile_j sums in registers: for k one row of B times one column of A
//       C = partial
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

// The rows are at least tile_i, and columns a multiple of two registers, or as many more as lanes are masked. Of the options
// tile_i alone counts.
void matmul_direct(Schedule& s, const Stage& stage, const MatmulOptions& options = {}, Where where = Where::current());

}  // namespace ashlar::schedules
