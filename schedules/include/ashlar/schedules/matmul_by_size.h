// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// matmul_by_size: schedules C[i, j] = sum over k of A[i, k] B[k, j] for every size. Each call chooses a variant by its extents:
//
//   at most 8 rows                   B is read once, unpacked       matmul_skinny.h
//   B in half of the second level    nothing is packed              matmul_direct.h
//   other                            packed panels                  matmul.h
//
// If K is 2048 or more, products with few rows split k into parts of 256, except those with 4 or 8 rows. matmul_direct also
// needs at least one tile of rows and whole tiles of columns; up to 2^20 multiply-adds it runs on one thread.
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

// Takes matrices only: no dimensions before i and j, and B read at [k, j]. A stage that is later fused into a tile is fused in
// the last variant only.
void matmul_by_size(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulOptions& options = {},
                    Where where = Where::current());

}  // namespace ashlar::schedules
