// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_attention: schedules all stages of one attention (ashlar/ops/attention.h) on a CUDA device as one launch. No score is
// stored in global memory.
//
//   const ops::Attention y = ops::attention(q, k, v);
//   schedules::gpu_attention(s, y);
//
//   for b, h                                     block_y
//     for bi (64 queries)                        block_x
//       q tile 64 x D                            shared memory
//       for w in 4                               warp: 16 queries, all in its registers
//         for bj (32 keys)                       K and V tiles: a ring of two in shared memory, copied asynchronously
//           scores 16 x 32                       by mma
//           maximum of the tile, exponentials    four lanes have a row; shfl.sync brings together what they have
//           sum of the tile; exponentials V      by mma
//           maximum, sum, weighted (16 x E)      what is there and the tile, the one with the smaller maximum rescaled
//         weighted / sum
//
// One pass over the keys: scores are computed once, and each tile has a maximum of its own, by which its exponentials are
// taken (Milakov and Gimelshein, 2018; Dao, FlashAttention-2, 2023). The steps are rfactor, rebase and roll, so sums are
// regrouped, and a tile is multiplied by the exponential of the difference of two maxima, at most once for every tile after it.
// All lengths are right, those that no tile divides too.
//
// Both products are of tensor cores: of f16 and bf16 with scores in f32, from sm_80 on. They add floats in an order of their
// own (docs/ir.md, "Tensor cores"), and the exponentials are rounded to the type of v where they are multiplied
// (ampere::mma_rounding_left), which is as far off as the rounding of the result is.
//
// Queries that do not see all keys (causal, a window, a mask of bool) need ops::AttentionOptions::finite: tensor cores have no
// conditions, and multiply v of an unseen key by 0. Tiles of which no query sees a key are computed too. A mask that is added
// needs nothing.
//
// Refused: another device or type; lengths D and E of a query and a value of more than 256 elements; queries that
// do not see all keys, without `finite`.
#include <ashlar/schedule/schedule.h>

namespace ashlar::ops {
struct Attention;
}

namespace ashlar::schedules {

struct GpuAttentionOptions {
  int block_i = 64;  // queries of a block, 16 for each warp
  int block_j = 32;  // keys of a tile; a multiple of 16
};

void gpu_attention(Schedule& s, const ops::Attention& y, const GpuAttentionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
