// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// tile_attention: schedules all stages of one attention (ashlar/ops/attention.h) for a target with tiles, as one launch. No
// score is stored in memory.
//
//   const ops::Attention y = ops::attention(q, k, v, {.rounded = true});
//   schedules::tile_attention(s, y);
//
//   for b, h                                block_y
//     for i / 64                            block_x
//       q                                   a tile of 64 x D
//       for j / 64                          serial: maximum, sum and weighted values are carried, tiles of 64, 64 and 64 x E
//         scores                            64 x 64, by mma
//         maximum, exponentials, sum        of the tile
//         exponentials v                    64 x E, by mma
//       weighted / sum
//
// One pass over the keys: each tile of them has a maximum of its own, by which its exponentials are taken (Milakov and
// Gimelshein, 2018; Dao, FlashAttention-2, 2023). The steps are rfactor, rebase and roll, so sums are regrouped. Correct for
// all lengths, with groups, causality, windows and masks.
//
// Both products are of tensor cores with ops::AttentionOptions::rounded. Without it the second one multiplies exponentials of
// f32 by values converted to f32, exactly and slowly. Queries that do not see all keys need ops::AttentionOptions::finite: a
// product has no conditions, and multiplies v of an unseen key by 0. Tiles of which no query sees a key are computed too.
//
// Refused: another target; types but f16 and bf16; lengths of queries and values that are no numbers up to 256; queries that do
// not see all keys, without `finite`.
#include <ashlar/schedule/schedule.h>

namespace ashlar::ops {
struct Attention;
}

namespace ashlar::schedules {

struct TileAttentionOptions {
  // Of a tile. 0: 64 of both; on chips that hold factors in registers (before sm_90, sm_120) 64 and 32, of values of more than 64
  // elements 32 and 64.
  int queries = 0, keys = 0;
};

void tile_attention(Schedule& s, const ops::Attention& y, const TileAttentionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
