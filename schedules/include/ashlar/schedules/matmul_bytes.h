// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// matmul_bytes: schedules matrix multiplications of i8 by i8, summed in i32. On AArch64 it uses the widest instruction that the
// target has; on other targets, vectors of i32:
//
//   smmla (i8mm)       8 k of 2 rows and 2 columns: tile 8 x 8; a register has 2 x 2 sums, which the store arranges in rows
//   sdot (dotprod)     4 k of 4 columns, with rows in lanes: tile 8 x 12
//   smlal              1 k of 4 columns, with rows in lanes: tile 8 x 12
//   vectors            1 k, on any processor: tile 8 x 12, or 4 x 12 with 16 registers
//
//   schedules::matmul_bytes(s, s[C], A, B);
//
// The loops are those of matmul.h: panels of columns of B and of rows of A, and a tile of sums in registers. Only the packing
// differs: the values of k that one instruction takes (a step) are neighbors in both panels.
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules {

struct MatmulBytesOptions {
  int block_k = 0;  // steps of k between two updates of C, a multiple of 8; 0: 512
  int block_j = 0;  // panels of B in a block; 0: as many as fill three quarters of the second-level cache
  bool parallel = true;
};

// `stage`: C[i, j] = sum over k of i32(A[i, k]) i32(B[k, j]), where A and B are i8.
void matmul_bytes(Schedule& s, const Stage& stage, const Tensor& A, const Tensor& B, const MatmulBytesOptions& options = {},
                  Where where = Where::current());

}  // namespace ashlar::schedules
