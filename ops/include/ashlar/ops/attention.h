// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Attention: softmax(scale q k' + mask) v for each head, and rotary position embeddings.
//
//   auto [cos, sin] = ops::rotary_tables(positions, 64);
//   q = ops::rotary_embedding(q, cos, sin), k = ops::rotary_embedding(k, cos, sin);
//   auto y = ops::attention(q, k, v, {.causal = ops::Causal::last});
//
//   q: [B, G H, M, D]   k: [B, H, N, D]   v: [B, H, N, E]   y: [B, G H, M, E]; G queries share a head of k and v, 1 ordinarily
//
// Floating types; scores, exponentials and sums are in accumulator(type). A query that sees nothing gives 0, where PyTorch
// gives NaN: nothing of k and v is read for it.
#include <limits>
#include <ashlar/ops/common.h>

namespace ashlar::ops {

// Which keys a query sees: all; those up to its own number (first, as PyTorch's is_causal), or the same counted from the ends,
// query i of M up to key i + N - M (last, as with a cache of keys).
enum class Causal { no, first, last };
struct AttentionOptions {
  Causal causal = Causal::no;
  int groups = 1;    // queries that share a head of k and v
  int window = 0;    // of the keys up to the causal one only so many; 0: all
  double scale = 0;  // 0: 1 / sqrt(D)
};

struct Attention {
  Tensor scores;             // [B, G H, M, N], scaled, without the mask
  Tensor maximum, exp, sum;  // of the rows of visible scores; exp is 0 where a key is not seen
  Tensor weighted, result;   // sum of exp v, and that by `sum`
  operator Tensor() const { return result; }
};

// mask: [M, N], bool (true where a key is seen) or added to the scores; or Tensor().
Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o = {},
                    const Tensor& mask = Tensor(), Where where = Where::current());

// The same in one pass over the keys: {maximum, sum, weighted} is a tuple that merges, so that a schedule may take runs of keys
// apart and keep no row of scores (Milakov and Gimelshein, 2018; Dao et al., FlashAttention, 2022). maximum and sum do not
// depend on e: a schedule drops the dimension.
struct OnlineAttention {
  Tensor scores, maximum, sum, weighted, result;
  operator Tensor() const { return result; }
};
OnlineAttention attention_online(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o = {},
                                 const Tensor& mask = Tensor(), Where where = Where::current());

// ---- rotary position embeddings (Su et al., RoFormer, 2021) ----------------------------------------------------------------

// cos and sin of position base^(-2 p / D), [T, D / 2], f32; positions: [T] of integers, D an even number.
struct RotaryTables {
  Tensor cos, sin;
};
RotaryTables rotary_tables(const Tensor& positions, int D, double base = 10000, Where where = Where::current());
// Pairs of elements of the last dimension of x, [..., T, D], are turned by the angles of row t: elements p and p + D / 2
// (GPT-NeoX, Llama), or 2 p and 2 p + 1 where they are interleaved (GPT-J). Elements from 2 P on, P the columns of the tables,
// stay.
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved = false,
                        Where where = Where::current());

}  // namespace ashlar::ops
