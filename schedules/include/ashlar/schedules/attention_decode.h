// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// attention_decode: schedules attention of a few queries over many keys, as when a language model decodes. K and V are read
// once and are not packed, so the kernel is bound by memory bandwidth.
//
//   auto y = ops::attention(q, k, v);              // q: [B, G H, 1, D], k: [B, H, N, D]
//   schedules::attention_decode(s, y, q, v);
//
//   for b, h   (heads of K and V)                                     in parallel
//     for j  (keys)
//       scores of the G query heads, one key at a time: sums over d in lanes, then a tree of halves
//     maximum, exp, sum: row by row, vectorized
//     for eo  (up to 8 registers of elements of a value)
//       weighted, for all queries, in registers: for each j one row of V
//     y = weighted / sum
//
// Sums and maxima are regrouped. With `split_heads` the parallel loop runs over heads of the queries. The G heads that share a
// head of K and V then each read it.
#include <ashlar/schedule/schedule.h>

namespace ashlar::ops {
struct Attention;
}

namespace ashlar::schedules {

struct AttentionOptions {
  int tile_i = 0;            // queries in a register tile; 0: as many as the target's registers hold
  bool split_heads = false;  // set it if there are fewer heads than threads, or if query heads share a key head
  bool parallel = true;
};

// Accepts what `attention` accepts, which calls it for a few queries. `tile_i` has no effect. Correct for any number of
// queries; a register tile of `weighted` holds 4.
void attention_decode(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& v, const AttentionOptions& o = {},
                      Where where = Where::current());

}  // namespace ashlar::schedules
