// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_matmul: schedules matrix multiplications on a device, C[.., i, j] = sum over k of A[.., i, k] B[.., k, j], for extents of
// any size. Tiles of both factors are copied to shared memory, and each thread keeps a tile of sums in registers.
//
//   schedules::gpu_matmul(s, s[C], A, B);
//   schedules::gpu_matmul(s, s[scores], queries, keys, {.transposed_b = true});       // B[.., j, k]
//   schedules::gpu_matmul(s, s[gradient], x, y, {.transposed_a = true});              // A[.., k, i]
//   schedules::gpu_matmul(s, s[y.sum], x, W, s[y.result]);                            // with bias and activation
//
//   for b                                   block_z: the dimensions before i and j, if any
//     for bi (128 rows), for bj (128 columns)         block_y, block_x
//       for v in 2                          virtual threads: each thread has two groups of columns, 64 apart
//         for ti, tj in 16                  thread_y, thread_x
//           sums, 8 x 4 in registers:
//             for ko (8 at a time)
//               A tile 128 x 8, B tile 8 x 128        shared memory, copied by all threads; zeros past the end
//               for ki in 8: 8 x 4 sums     unrolled
//           8 x 4 results
//
// On Vulkan, threads read tiles in shared memory as vectors of four, and copies move four elements at a time. The size of a
// block follows the device: for vulkan-128 it computes 64 x 128 results. With the feature dot8, products of bytes are dot
// products of four steps of k, with the same bits.
//
// The method is that of Volkov and Demmel, Benchmarking GPUs to tune dense linear algebra, 2008. Neighboring threads each read
// 4 neighbors of a row of the B tile, and share one element of the A tile. Sums keep their order. Correct for every extent.
// From sm_80 on, tiles are copied asynchronously, 16 bytes at a time if rows begin and end at multiples of 16 bytes; each call
// tests that. If B is read at [.., j, k], its tile is copied by elements: neighboring threads read neighboring rows of it,
// and this lets the rows start in different banks.
//
// On CUDA, tensor cores compute products of f16 and bf16 with sums in f32, and of bytes with sums in i32. They add floats in an
// unspecified order (docs/ir.md, "Tensor cores"), which is the same in every run. {.math = GpuMatmulOptions::Math::exact} turns
// them off; `math` can also ask for tf32, which uses them for f32. A block computes 128 x 128 results, and each of its four
// warps 64 x 64. If the sizes are numbers and so small that most of the chip would be idle, a block computes 64 x 64 and a warp
// 32 x 32:
//
//   for groups of bi, for bj, for bi in 8   block_z, block_y, block_x: neighbors run together and share tiles in L2
//     for w in 4                            warp
//       sums, 64 x 64 in the registers of a warp:
//         for ko (64 bytes of a row at a time)
//           A and B tile                    shared memory, a ring of four, asynchronous copies of 16 bytes; zeros past the end
//           for kk                          64 rows of A, 64 columns of B in registers, by ldmatrix; 4 x 4 products by mma
//       results
//
// The copies need rows that begin and end at multiples of 16 bytes. Each call tests that; if they do not, elements are copied
// one by one. A lane holds two neighbors in a row of the result, and stores them together if rows begin at multiples of two
// elements. threads_i, threads_j and block_k apply to the form without tensor cores; setting tile_i or tile_j selects that
// form.
//
// If even these smaller blocks would occupy at most half of the multiprocessors, and K is at least 1024, K is split into parts
// of at least 512 terms, enough for a block on each multiprocessor if K suffices. Blocks store the sums of their parts to
// global memory, and a second launch adds them in order, so repeated runs give the same bits. `part_k` sets the length of a
// part, for other products too; all_k turns parts off. Parts regroup sums, as tensor cores do anyway; without tensor cores only
// `part_k` asks for them. If extents are Symbols, the number of results is unknown: the default schedule makes a variant for
// calls with few, with part_k and small_blocks.
//
// Refused: a CPU target, a product with other loops or other indices of A and B, a result with other dimensions, more threads
// or shared memory than a block may have.
#include <cstdint>

#include <ashlar/schedule/schedule.h>

namespace ashlar::schedules {

struct GpuMatmulOptions {
  enum class Math {
    by_type,     // tensor cores for f16 and bf16 with sums in f32 and for bytes with sums in i32; fma for all else
    exact,       // no tensor cores: every sum has the bits of the definition
    tf32,        // f32 on tensor cores, with factors rounded to tf32: 10 bits after the point
    tf32_twice,  // f32 on tensor cores, with each factor as a sum of two tf32 numbers (3xTF32): nearly as precise as f32
  } math = Math::by_type;
  int threads_i = 0, threads_j = 0;  // threads of a block; 0: 16 x 16, or 8 x 16 if blocks have at most 128
  int tile_i = 0, tile_j = 0;        // rows and columns of one thread; 0: 8, or fewer if that covers a small product
  // Steps of k to copy at a time. 0: 16 for f32 from sm_90 on, otherwise 8; on Vulkan, 64 bytes of a row, or as many as fit.
  int block_k = 0;
  int stages = 0;  // depth of the copy pipeline; 1: no pipeline; 0: 2, or 4 with tensor cores
  // Terms of a result that one block adds; a second launch adds the parts (CUDA). Rounded up to whole copies. 0: with tensor
  // cores as described above, otherwise all of them. Parts of f32 regroup a sum.
  std::int64_t part_k = 0;
  static constexpr std::int64_t all_k = INT64_MAX;
  bool small_blocks = false;  // with tensor cores: 64 x 64 results a block, for extents that are Symbols and will be small
  // With tensor cores: rows of blocks in a group. Blocks of a group run down each column before the next column, which makes
  // better use of L2. 0: 8, or fewer so that groups are full; 1: row by row.
  int raster = 0;
  bool transposed_a = false;  // A is read at [.., k, i]
  bool transposed_b = false;  // B is read at [.., j, k]
};

// `product` sums A times B over its only reduction variable. A and B are inputs or stages. Up to two dimensions may precede i
// and j; A and B each have all of them or none.
void gpu_matmul(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const GpuMatmulOptions& o = {},
                Where where = Where::current());

// The same with an elementwise stage after the product: `result` is computed while the sums are still in registers, and the
// product is not stored.
void gpu_matmul(Schedule& s, const Stage& product, const Tensor& A, const Tensor& B, const Stage& result,
                const GpuMatmulOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
