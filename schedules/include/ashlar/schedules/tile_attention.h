// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// tile_attention: schedules all stages of one attention (ashlar/ops/attention.h) for a target with tiles (docs/tiles.md), as
// one launch. Scores are never stored in memory.
//
//   const ops::Attention y = ops::attention(q, k, v, {.rounded = true});
//   schedules::tile_attention(s, y);
//
//   for b, h                                block_y
//     for i / 64                            block_x
//       q                                   a tile of 64 x D
//       for j / 64                          serial; carries tiles of maxima (64), sums (64) and weighted values (64 x E)
//         scores                            64 x 64, by mma
//         maximum, exponentials, sum        of the tile of scores
//         exponentials v                    64 x E, by mma
//       weighted / sum
//
// There is one pass over the keys. The exponentials of each tile of keys are relative to that tile's own maximum (Milakov and
// Gimelshein, 2018; Dao, FlashAttention-2, 2023). The steps are rfactor, rebase and roll, so sums are regrouped. The schedule
// is correct for all numbers of queries and keys, with groups, causality, windows and masks.
//
// With ops::AttentionOptions::rounded both products run on tensor cores. Without it, the second product multiplies exponentials
// in f32 by values converted to f32, exactly and slowly. If queries do not see all keys, ops::AttentionOptions::finite is
// needed: a product has no conditions, and multiplies v of an unseen key by 0. Tiles in which no query sees a key are not
// computed.
//
// ops::AttentionOptions::approximate lets exponentials be the chip's own powers of two.
//
// Refused: a target without tiles; types other than f16 and bf16; lengths D and E of queries and values that are not constants
// of at most 256; queries that do not see all keys, without `finite`.
#include <ashlar/schedule/schedule.h>

namespace ashlar::ops {
struct Attention;
}

namespace ashlar::schedules {

struct TileAttentionOptions {
  // Of a tile. 0: 64 of both. On chips that hold factors in registers (before sm_90, and sm_120): 64 queries and 32 keys, or 32
  // queries and 64 keys if values have more than 64 elements.
  int queries = 0, keys = 0;
};

void tile_attention(Schedule& s, const ops::Attention& y, const TileAttentionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
