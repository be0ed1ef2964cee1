// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Products of matrices on a device, C[.., i, j] = sum over k of A[.., i, k] B[.., k, j], for extents of any size: tiles of both
// factors in shared memory, a tile of sums in the registers of each thread.
//
//   schedules::gpu_matmul(s, s[C], A, B);
//   schedules::gpu_matmul(s, s[scores], queries, keys, {.transposed_b = true});       // B[.., j, k]
//   schedules::gpu_matmul(s, s[gradient], x, y, {.transposed_a = true});              // A[.., k, i]
//   schedules::gpu_matmul(s, s[y.sum], x, W, s[y.result]);                            // and bias, activation of each element
//
//   for b                                   block_z: dimensions before i and j, where there are any
//     for bi (128 rows), for bj (128 columns)         block_y, block_x
//       for v in 2                          virtual threads: a thread has columns at two places, 64 apart
//         for ti, tj in 16                  thread_y, thread_x
//           sums, 8 x 4 in registers:
//             for ko (8 at a time)
//               A tile 128 x 8, B tile 8 x 128        shared memory, copied by all threads; zeros past the end
//               for ki in 8: 8 x 4 sums     unrolled
//           8 x 4 results
//
// Volkov and Demmel, Benchmarking GPUs to tune dense linear algebra, 2008, describe sums in registers over shared tiles.
// Neighbouring threads read 4 neighbours of a row of the B tile each, and one element of the A tile together. The terms keep
// their order, so that no sum is regrouped. Right for every extent. Instructions of tensor cores are not used:
// docs/schedules.md "Instructions of a warp". Refused: a processor, a product that has other loops or reads A and B at other
// indices, a result that has other dimensions, more threads than a block has or more shared memory.
#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuMatmulOptions {
  int threads_i = 16, threads_j = 16;  // of a block
  int tile_i = 0, tile_j = 0;          // rows and columns of a thread; 0: 8, or as few as reach over a small product
  int block_k = 8;                     // steps of k between two copies
  int stages = 2;                      // tiles in flight: one is copied while another is read; 1: none
  bool transposed_a = false;           // A is read at [.., k, i]
  bool transposed_b = false;           // B is read at [.., j, k]
};

// `product` sums A times B over its only reduction; A and B are inputs or stages. Up to two dimensions may stand before i and
// j; A and B have all of them or none.
void gpu_matmul(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const GpuMatmulOptions& o = {},
                Where where = Where::current());

// The same with a stage of each element of the product, `result`, computed of the sums while they are in registers; the product
// is stored nowhere else.
void gpu_matmul(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const Stage& result,
                const GpuMatmulOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
