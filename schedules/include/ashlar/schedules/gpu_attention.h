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
//           maximum of the tile, exponentials    four lanes share a row and combine their parts by shfl.sync
//           sum of the tile; exponentials V      by mma
//           maximum, sum, weighted (16 x E)      combined with the tile; the side with the smaller maximum is rescaled
//         weighted / sum
//
// There is one pass over the keys. Scores are computed once, and the exponentials of a tile are taken relative to that tile's
// own maximum (Milakov and Gimelshein, 2018; Dao, FlashAttention-2, 2023). The schedule consists of rfactor, rebase and roll.
// It regroups sums, and multiplies a tile by the exponential of a difference of maxima at most once for each later tile.
// Correct for every length, whether or not tiles divide it.
//
// Both products run on tensor cores: f16 or bf16 with scores in f32, from sm_80 on. Tensor cores add floats in an unspecified
// order (docs/ir.md, "Tensor cores"). The exponentials are rounded to the type of v before they are multiplied
// (ampere::mma_rounding_left), an error of the same size as that of rounding the result. With ops::AttentionOptions::rounded
// the program does so itself; exponentials are rounded relative to the maximum of a tile, where the program says that of all.
//
// If queries do not see all keys (causal, a window, a bool mask), v of an unseen key may hold infinities and NaN: terms of
// weight 0 are skipped (ampere::mma_skipping_zeros), which tests each fragment of v for infinities and NaN. The promise
// ops::AttentionOptions::finite saves these tests. The loop over tiles begins and ends by block of queries, so causal attention
// computes about half of them, and a window those that it reaches; a mask leaves out none.
//
// Refused: other devices and types; queries or values of more than 256 elements (D, E).
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
