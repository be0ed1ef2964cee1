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
// Few queries against many keys, as when a model writes one word after another ("decode"), are computed in two launches. If the
// extents are numbers, the blocks would occupy at most half of the multiprocessors, and there are at least 1024 keys, each
// block has a part of the keys, at least 512, and a second launch combines what they give (Flash-Decoding; Dao et al., 2023):
//
//   for b, h; for p, i        maximum, sum and weighted values of the keys of part p, as above
//   for b, h; for i           combined over p; weighted / sum
//
// `part_keys` asks for parts of other attentions. If extents are Symbols, the default schedule makes a variant for calls with
// few blocks. If groups of heads share keys and have few queries, a known number of at most 32, the queries of a group are the
// rows of one product, so a block reads each key once for all of them.
//
// ops::AttentionOptions::approximate lets exponentials be the chip's own powers of two.
//
// Refused: a target without tiles; types other than f16 and bf16; lengths D and E of queries and values that are not constants
// of at most 256; queries that do not see all keys, without `finite`.
#include <cstdint>

#include <ashlar/schedule/schedule.h>

namespace ashlar::ops {
struct Attention;
}

namespace ashlar::schedules {

struct TileAttentionOptions {
  // Of a tile. 0: 64 of both, or fewer queries if there are fewer. On chips that hold factors in registers (before sm_90, and
  // sm_120): 64 queries and 32 keys, or 32 queries and 64 keys if values have more than 64 elements. A tile of keys lies in one
  // page (ashlar/ops/attention_keys.h), if pages have a multiple of 16 rows.
  int queries = 0, keys = 0;
  // Keys of a block, rounded up to whole tiles. 0: as described above. all_keys: all of them.
  std::int64_t part_keys = 0;
  static constexpr std::int64_t all_keys = INT64_MAX;
};

void tile_attention(Schedule& s, const ops::Attention& y, const TileAttentionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
