// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Attention that holds no row of scores for longer than it is needed: for so many queries as a register tile has rows, the
// scores of all keys, their softmax and the weighted values stay in the first-level cache.
//
//   auto y = ops::attention(q, k, v);
//   schedules::attention(s, y, q, k, v);
//
//   for b, ho  (up to 8 heads)
//     K panels: keys by two registers of them, transposed             in parallel
//     V panels, where a value does not fill registers                 in parallel
//     for h, io  (tile_i queries)                                     in parallel, as one loop
//       scores: for jo, tile_i x 2 registers of sums over d           q times a K panel
//       maximum, exp, sum: row by row, in lanes
//       weighted: for eo, tile_i x 2 registers of sums over keys      exp times a V panel
//       y = weighted / sum
//
// Sums and maxima are regrouped. With `few_heads` panels of all heads of all b come first. Where there are fewer than 8 heads,
// and b may be more than one, the loop over both is parallel: each head packs its own panels.
//
// A few queries, up to 4 where their number is known, repay no packing: attention_decode.h. `attention_by_size` has both forms,
// and the entry chooses by the call.
#include <ashlar/schedules/attention_decode.h>

namespace ashlar::schedules {

// `y` is what ops::attention(q, k, v, …) returned, of any mask, causality and groups, its stages not scheduled before; q, k and
// v are inputs of f32 or f64. Refused elsewhere, and for GPUs. `tile_i` asks for packed panels of however few queries.
void attention(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionOptions& o = {}, Where where = Where::current());

// Of as many queries as a call has: those of few take a variant of their own.
void attention_by_size(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::schedules
