// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// matmul_by_size: schedules C[i, j] = sum over k of A[i, k] B[k, j] for all sizes. Each call chooses by its extents:
//
//   few rows                         B is read once, unpacked       matmul_skinny.h; with 2048 k or more, k is split in parts
//   B in half of the second level    nothing is packed              matmul_direct.h; up to 2^20 multiply-adds on one thread
//   other                            packed panels                  matmul.h
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

// Takes matrices only: no dimensions before i and j, and B read at [k, j]. A stage that is fused into a tile afterwards is
// fused in the last case only.
void matmul_by_size(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulOptions& options = {},
                    Where where = Where::current());

}  // namespace ashlar::schedules
