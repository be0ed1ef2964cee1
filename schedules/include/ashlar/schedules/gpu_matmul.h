// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_matmul: schedules matrix multiplications on a device, C[.., i, j] = sum over k of A[.., i, k] B[.., k, j], for extents of
// any size. Tiles of both factors lie in shared memory; each thread has a tile of sums in registers.
//
//   schedules::gpu_matmul(s, s[C], A, B);
//   schedules::gpu_matmul(s, s[scores], queries, keys, {.transposed_b = true});       // B[.., j, k]
//   schedules::gpu_matmul(s, s[gradient], x, y, {.transposed_a = true});              // A[.., k, i]
//   schedules::gpu_matmul(s, s[y.sum], x, W, s[y.result]);                            // with bias and activation
//
//   for b                                   block_z: the dimensions before i and j, if any
//     for bi (128 rows), for bj (128 columns)         block_y, block_x
//       for v in 2                          virtual threads: each thread has columns at two places, 64 apart
//         for ti, tj in 16                  thread_y, thread_x
//           sums, 8 x 4 in registers:
//             for ko (8 at a time)
//               A tile 128 x 8, B tile 8 x 128        shared memory, copied by all threads; zeros past the end
//               for ki in 8: 8 x 4 sums     unrolled
//           8 x 4 results
//
// On Vulkan threads read tiles in shared memory as vectors of four, copies move four elements at a time, and a block has the
// threads that the device has: for vulkan-128 it computes 64 x 128 results. With the feature dot8 products of bytes are dot
// products of four steps of k, equal to the bit.
//
// Sums in registers over tiles in shared memory are described by Volkov and Demmel, Benchmarking GPUs to tune dense linear
// algebra, 2008. Neighbouring threads each read 4 neighbours of a row of the B tile, and share one element of the A tile. Sums
// keep their order. Correct for every extent. From sm_80 on the tiles are copied asynchronously, 16 bytes at a time where rows
// begin and end at multiples of 16 bytes, which each call shows; the tile of a B that is read at [.., j, k] by elements, since
// neighbouring threads read neighbouring rows of it, which then start in other banks.
//
// On CUDA, products of f16 and bf16 with sums in f32, and of bytes with sums in i32, are computed by tensor cores instead,
// which add floats in an order of their own (docs/ir.md, "Tensor cores"); {.math = GpuMatmulOptions::Math::exact} refuses them,
// and f32 gets them if `math` asks for tf32. A block computes 128 x 128 results, each of its four warps 64 x 64; 64 x 64 and 32
// x 32 where the sizes are numbers and so small that most of the chip would be idle:
//
//   for groups of bi, for bj, for bi in 8   block_z, block_y, block_x: neighbours run together and share tiles in L2
//     for w in 4                            warp
//       sums, 64 x 64 in the registers of a warp:
//         for ko (64 bytes of a row at a time)
//           A and B tile                    shared memory, a ring of four, asynchronous copies of 16 bytes; zeros past the end
//           for kk                          64 rows of A, 64 columns of B in registers, by ldmatrix; 4 x 4 products by mma
//       results
//
// The copies need rows that begin and end at multiples of 16 bytes. Each call shows whether they do; if not, elements are
// copied one by one. A lane holds two neighbours of a row of the results, and stores them together where rows of the results
// begin at multiples of two. threads_i, threads_j and block_k concern the form without tensor cores; tile_i and tile_j ask for
// it.
//
// Where these smaller blocks are still at most half as many as the chip has multiprocessors, and results have at least 1024
// terms, the terms are cut into parts of at least 512, so many that there is a block for each multiprocessor if K suffices.
// Blocks store the sums of their parts to global memory, and the threads of a second launch add those of their results in
// order, so that two runs give the same bits. `part_k` says how long parts are, for other products too; all_k: there are none.
// They are a regrouping, which products by tensor cores are in any case; without tensor cores only `part_k` asks for it. If
// extents are Symbols, nothing is known of how few results there are: the default schedule makes a variant for such calls, with
// part_k and small_blocks.
//
// Refused: a processor, a product with other loops or that reads A and B at other indices, a result with other dimensions, more
// threads or shared memory than a block of the target has.
#include <cstdint>

#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuMatmulOptions {
  enum class Math {
    by_type,     // tensor cores for f16 and bf16 with sums in f32, and for bytes with sums in i32; all else by fma
    exact,       // no tensor cores: every sum is the one that the definition says, to the bit
    tf32,        // f32 by tensor cores, on factors that are rounded to tf32: 10 bits after the point
    tf32_twice,  // f32 by tensor cores, on factors that are sums of two tf32 numbers (3xTF32): nearly as precise as f32
  } math = Math::by_type;
  int threads_i = 0, threads_j = 0;  // in a block; 0: 16, or 8 x 16 where a block has 128
  int tile_i = 0, tile_j = 0;        // rows and columns of one thread; 0: 8, or fewer if that covers a small product
  // Steps of k between two copies. 0: 16 for f32 from sm_90 on, else 8; on Vulkan as many as are 64 bytes of a row, or fit.
  int block_k = 0;
  int stages = 0;  // tiles in the pipeline, of which all but one are being copied; 1: no pipeline; 0: 2, by tensor cores 4
  // Terms of a result that a block adds up; a second launch adds the parts (CUDA). Rounded up to whole steps between two
  // copies. 0: by tensor cores as described above, else all of them. Parts of f32 regroup a sum.
  std::int64_t part_k = 0;
  static constexpr std::int64_t all_k = INT64_MAX;
  bool small_blocks = false;  // by tensor cores: 64 x 64 results a block, where extents that are Symbols will be small
  // By tensor cores: rows of blocks in a group, whose blocks follow each other down, then beside each other, for the sake of
  // L2. 0: 8, or fewer so that groups are full; 1: row after row.
  int raster = 0;
  bool transposed_a = false;  // A is read at [.., k, i]
  bool transposed_b = false;  // B is read at [.., j, k]
};

// `product` sums A times B over its only reduction. A and B are inputs or stages. Up to two dimensions may precede i and j; A
// and B each have all of them or none.
void gpu_matmul(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const GpuMatmulOptions& o = {},
                Where where = Where::current());

// The same with an elementwise stage after the product: `result` is computed while the sums are in registers, and the product
// is not stored.
void gpu_matmul(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const Stage& result,
                const GpuMatmulOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
