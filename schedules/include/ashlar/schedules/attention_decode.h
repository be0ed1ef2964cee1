// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Attention of few queries over many keys, as a model decodes: K and V are read once, as they lie, and nothing is packed. What
// it takes is the time to read them.
//
//   auto y = ops::attention(q, k, v);              // q: [B, G H, 1, D], k: [B, H, N, D]
//   schedules::attention_decode(s, y, q, v);
//
//   for b, h   (heads of K and V)                                     in parallel
//     for j  (keys)
//       scores of the G queries' heads, one key at a time: sums over d in lanes, then a tree of halves
//     maximum, exp, sum: row by row, in lanes
//     for eo  (up to 8 registers of numbers of a value)
//       weighted, of all queries, in registers: for j one row of V
//     y = weighted / sum
//
// Sums and maxima are regrouped. With `few_heads` each head of the queries is a piece of work for a thread, and the G of them
// that share a head of K and V read it one after the other.
#include <ashlar/schedule/schedule.h>

namespace ashlar::ops {
struct Attention;
}

namespace ashlar::schedules {

struct AttentionOptions {
  int tile_i = 0;          // queries in a register tile; 0: as many as the target's registers hold
  bool few_heads = false;  // fewer heads than threads, or heads of queries that share one of keys
  bool parallel = true;
};

// As `attention`, which takes this form where the program has so few queries. `tile_i` does not count. Right for any number of
// queries, of which a register tile of `weighted` holds 4.
void attention_decode(Schedule& s, const ops::Attention& y, const Tensor& q, const Tensor& v, const AttentionOptions& o = {},
                      Where where = Where::current());

}  // namespace ashlar::schedules
