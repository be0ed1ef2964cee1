// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// matmul_direct: schedules small matrix multiplications, C[i, j] = sum over k of A[i, k] B[k, j], whose factors fit the inner
// caches. Register tiles read both factors directly, without packing.
//
//   for jo   (tile_j columns)
//     for io   (tile_i rows)                                       in parallel, as one loop
//       partial, tile_i x tile_j sums in registers: for each k one row of B times one column of A
//       C = partial
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

// There must be at least tile_i rows. The number of columns should be a multiple of two registers; otherwise the last tile has
// masked lanes. Only the options tile_i and parallel have an effect.
void matmul_direct(Schedule& s, const Stage& stage, const MatmulOptions& options = {}, Where where = Where::current());

}  // namespace ashlar::schedules
