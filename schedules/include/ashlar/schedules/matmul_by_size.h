// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// C[i, j] = sum over k of A[i, k] B[k, j] for all sizes: the entry chooses by the extents.
//
//   one row, or few       B is read once, as it lies                 matmul_skinny.h; of 2048 k and more in parts of these
//   B in half of level 2  nothing is packed                          matmul_direct.h; up to 2^20 multiply-adds on one thread
//   else                  panels                                     matmul.h
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

// Of matrices alone: nothing stands before i and j, B is read at [k, j]. What is fused into a tile afterwards is so in the last
// case only.
void matmul_by_size(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulOptions& options = {},
                    Where where = Where::current());

}  // namespace ashlar::schedules
