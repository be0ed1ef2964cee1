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
//       for bj (32 keys): scores by mma          first pass: the maximum of each row
//       for bj (32 keys): scores by mma, exp     second pass: the sum of each row
//       for w in 4                               warp: 16 queries
//         weighted, 16 x E in the registers of a warp:
//           for bj (32 keys)                     third pass; K and V tiles: a ring of two, copied asynchronously
//             scores by mma, exp                 shared memory
//             weighted += exp V                  by mma
//         results
//
// Scores are computed three times, so that each pass is one of reductions that the program has: a tile of scores costs less
// than what is stored and loaded of it. The form that computes them once, and rescales what was summed when a maximum grows
// (Dao et al., FlashAttention, 2022), is another algorithm. All lengths are right, those that no tile divides too.
//
// Both products are of tensor cores: of f16 and bf16 with scores in f32, from sm_80 on. They add floats in an order of their
// own (docs/ir.md, "Tensor cores"), and the exponentials are rounded to the type of v where they are multiplied
// (ampere::mma_rounding_left), which is as far off as the rounding of the result is.
//
// Queries that do not see all keys (causal, a window, a mask of bool) need ops::AttentionOptions::finite: tensor cores have no
// conditions, and multiply v of an unseen key by 0. Tiles of which no query sees a key are computed too. A mask that is added
// needs nothing.
//
// Refused: another device or type; lengths D and E of a query and a value that are no multiples of 16 up to 256; queries that do
// not see all keys, without `finite`.
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
