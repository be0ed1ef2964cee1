// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// attention: schedules attention in parallel blocks of queries, as many in a block as a register tile has rows. The block's
// scores for all keys, their softmax and the weighted values stay in the first-level cache.
//
//   auto y = ops::attention(q, k, v);
//   schedules::attention(s, y, q, k, v);
//
//   for b, ho  (up to 8 heads)
//     K panels: two registers of keys each, transposed                in parallel
//     V panels, unless a value fills whole registers                  in parallel
//     for h, io  (tile_i queries)                                     in parallel, as one loop
//       scores: for jo, tile_i x 2 registers of sums over d           q times a K panel
//       maximum, exp, sum: row by row, vectorized
//       weighted: for eo, tile_i x 2 registers of sums over keys      exp times a V panel
//       y = weighted / sum
//
// Sums and maxima are regrouped. With `split_heads`, the panels of all heads and batches are packed first. With fewer than 8
// heads and possibly several batches b, the loop over both is parallel, and each iteration packs its own panels.
//
// Packing does not pay off for a few queries. If their number is known to be at most 4, `attention` uses the schedule of
// attention_decode.h instead. `attention_by_size` generates both, and each call picks one.
#include <ashlar/schedules/attention_decode.h>

namespace ashlar::schedules {

// `y` is the result of ops::attention(q, k, v, …) with any mask, causality and groups, and has no schedule yet. q, k and v are
// inputs of f32 or f64. Other arguments and GPUs are refused. If `tile_i` is set, even a few queries use packed panels.
void attention(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionOptions& o = {}, Where where = Where::current());

// The same for any number of queries. A variant (`specialize`) handles calls with at most 4.
void attention_by_size(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
