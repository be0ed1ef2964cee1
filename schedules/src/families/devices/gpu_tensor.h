// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The part of gpu_matmul that uses the tensor cores of NVIDIA devices.
#include <optional>
#include <vector>

#include <ashlar/schedules/gpu_matmul.h>

namespace ashlar::schedules::detail {

// The tile sizes of a product, in elements: of a block, of a warp and of an iteration over k.
struct TensorTiles {
  Type factors, sums;
  int block_i = 128, block_j = 128, warp_i = 64, warp_j = 64, block_k = 32, stages = 4;
  int raster = 1;           // rows of blocks in a group; 1: no groups
  std::int64_t part_k = 0;  // terms that one block adds; 0: all of them
};

// The bytes of shared memory that the tiles take.
void expect_shared(const Schedule& s, std::int64_t bytes, Where where);

// Tiles of both factors in shared memory.
struct Factors {
  Stage a, b;
};
Factors factors_of(Schedule& s, const Stage& sums, const Tensor& A, const Tensor& B, std::size_t batch,
                   const GpuMatmulOptions& o, Where where);

// A product in parts (gpu_parts.cpp): makes a stage with the sums of `part` terms each, computed first, and schedules the
// launch that adds them.
Stage sums_of_parts(const Stage& product, std::int64_t part, Where where);
void add_parts(Schedule& s, const Stage& product, const Stage& result, Where where);
// How many terms a part should have so that no multiprocessor is idle; 0: all terms.
std::int64_t terms_of_part(const Schedule& s, std::int64_t blocks, const Expr& terms, int block_k);

// A and B are read at [.., i, k] and [.., k, j], or as the options say.
void expect_factors(const Schedule& s, const Stage& sums, const Stage& a, const Stage& b, std::size_t batch,
                    const GpuMatmulOptions& o, Where where);
// Copies of the start values of the sums (a bias), with zeros past the end.
std::vector<Stage> start_copies(Schedule& s, const Stage& sums, const Scope& scope, Where where);

// How many elements of `over` a thread computes: as asked, else a power of two up to `most` with which all threads have work.
int width_of_thread(int asked, const Loop& over, int threads, int most, Where where);

// The loops of a result: blocks of `rows` by `columns`, and threads that compute `own_rows` by `own_columns` of each of the
// block's `places`, side by side. Dimensions before the last two are block_z.
struct ThreadTiles {
  int rows, columns, own_rows, own_columns, places;
  Tail of_blocks, of_threads;
  bool vectors;  // a thread's columns are a vector; else they are unrolled
};
Loop thread_tiles(const Stage& result, const ThreadTiles& t, Where where);  // the innermost loop that is bound

// Empty if the tensor cores of the target do not compute such products, or if the options turn them off.
std::optional<TensorTiles> tensor_tiles(const Schedule& s, const Stage& product, const Tensor& A, const Tensor& B,
                                        const GpuMatmulOptions& o, Where where);

// Schedules it. `sums` are those of the product in Scope::fragment, `result` the stage with the loops over the elements.
void tensor_product(Schedule& s, const Stage& sums, const Stage& result, const Tensor& A, const Tensor& B, const Factors& tiles,
                    const TensorTiles& t, const GpuMatmulOptions& o, Where where);

}  // namespace ashlar::schedules::detail
