// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Attention whose queries see a range of keys that data say: sequences of different lengths, several sequences in one tensor,
// keys in pages.
//
//   lengths: i32 [B]         auto y = ops::attention(q, k, v, {.causal = ops::Causal::last}, ops::SeenKeys{.ends = lengths});
//
//   offsets: i32 [S + 1]     sequence s has the rows offsets(s) to offsets(s + 1) - 1 of q, k and v, [1, H, T, D]
//                            auto y = ops::attention(q, k, v, {}, ops::packed_keys(offsets, T));
//
//   table: i32 [B, P]        auto K = ops::paged(keys, table), V = ops::paged(values, table);
//                            auto y = ops::attention(q, K, V, {.causal = ops::Causal::last}, ops::SeenKeys{.ends = lengths});
#include <ashlar/ops/attention.h>

namespace ashlar::ops {

// Query i of batch b sees keys from begins(b, i), or 0, up to before ends(b, i), or N. Integers, of shape [B, M], or [B] for
// all queries of a batch; Tensor(): no such limit. They may be any numbers: those outside of 0 to N limit nothing or
// everything. Causal::last counts from the ends: of M queries, query i sees keys up to i + ends(b) - M. It needs ends of shape
// [B].
struct SeenKeys {
  Tensor begins = {}, ends = {};
};
Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o, const SeenKeys& seen,
                    Where where = Where::current());

// The keys that each of T rows sees, those of its own sequence, as [1, T] in i32. offsets: integers [S + 1] that do not fall,
// from 0 to T. Rows from the last offset on see those from there on.
SeenKeys packed_keys(const Tensor& offsets, const Expr& T, Where where = Where::current());

// Pages as one tensor, [B, H, P S, D]: row j of batch b is row j % S of page table(b, j / S). pages: [pages, H, S, D] with a
// number S and at least one page; table: integers [B, P]. Numbers outside of the pages are clamped, so a table may have any
// numbers for pages that nobody sees.
Tensor paged(const Tensor& pages, const Tensor& table, Where where = Where::current());

}  // namespace ashlar::ops
