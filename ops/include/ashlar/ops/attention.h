// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Attention: softmax(scale q k' + mask) v for each head, and rotary position embeddings.
//
//   auto [cos, sin] = ops::rotary_tables(positions, 64);
//   q = ops::rotary_embedding(q, cos, sin), k = ops::rotary_embedding(k, cos, sin);
//   auto y = ops::attention(q, k, v, {.causal = ops::Causal::last});
//
//   q: [B, G H, M, D]   k: [B, H, N, D]   v: [B, H, N, E]   y: [B, G H, M, E]; G query heads share a head of k and v, usually 1
//
// Floating-point types. Scores, exponentials and sums are in accumulator(type). A query that sees no key gives 0 (PyTorch gives
// NaN) and does not read k or v.
#include <ashlar/ops/common.h>

namespace ashlar::ops {

// The keys that a query sees. no: all of them. first: those up to its own index (PyTorch's is_causal). last: the same, counted
// from the ends, so query i of M sees keys up to i + N - M, as with a cache of keys.
enum class Causal { no, first, last };
struct AttentionOptions {
  Causal causal = Causal::no;
  int groups = 1;    // query heads that share a head of k and v
  int window = 0;    // how many keys a query sees, ending with the last causal one; 0: all
  double scale = 0;  // 0: 1 / sqrt(D)
  // A promise: v is finite even for keys that a query does not see, so 0 times v adds nothing. Without it, a term whose weight
  // is 0 is left out, which costs tensor cores a few instructions (schedules::gpu_attention), and schedules::tile_attention
  // needs it. Where the promise is broken, the result is infinite or NaN. For `attention` only.
  bool finite = false;
  // Rounds the exponentials to the type of v (f16 or bf16) before they weight it. Tensor cores take two factors of one type, so
  // this lets them compute the second product too. Each weight is off by at most half a unit in its last place; the sum that
  // divides adds the exponentials before they are rounded. For `attention` only.
  bool rounded = false;
  // Exponentials may be the target's approximations of 2^x (docs/ir.md, "Approximations"), with the scale and log2 e as one
  // factor. Each has a relative error of at most 2^-21 + 2^-22 |scale score|, and is 0 below 2^-125. For `attention` only.
  bool approximate = false;
};

struct Attention {
  Tensor scores;             // [B, G H, M, N], q k' without the scale and the mask
  Tensor maximum, exp, sum;  // over each row of visible scores; exp is 0 for a key that is not seen. With `approximate`, the
                             // maximum is in other units: without the scale, or times log2 e
  Tensor weighted, result;   // sum of exp v, without terms whose exp is 0 if some keys are not seen; the same divided by `sum`
  operator Tensor() const { return result; }
};

// `mask`: [M, N], either bool and true where a key is seen, or a tensor to add to the scores; Tensor() for no mask.
Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o = {},
                    const Tensor& mask = Tensor(), Where where = Where::current());

// The same in one pass over the keys. {maximum, sum, weighted} is one tuple with an associative combiner, so a schedule can
// process blocks of keys separately and need not store a row of scores (Milakov and Gimelshein, 2018; Dao et al.,
// FlashAttention, 2022). maximum and sum do not depend on the element e of a value; `drop_dim` removes that dimension.
struct OnlineAttention {
  Tensor scores, maximum, sum, weighted, result;
  operator Tensor() const { return result; }
};
OnlineAttention attention_online(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o = {},
                                 const Tensor& mask = Tensor(), Where where = Where::current());

// ---- rotary position embeddings (Su et al., RoFormer, 2021) ----------------------------------------------------------------

// The cosine and sine of position base^(-2 p / D) for pairs p: [T, D / 2], f32. positions: [T], integers. D is even.
struct RotaryTables {
  Tensor cos, sin;
};
RotaryTables rotary_tables(const Tensor& positions, int D, double base = 10000, Where where = Where::current());
// Rotates pairs of elements in the last dimension of x, [..., T, D], by the angles of row t. A pair is p and p + D / 2
// (GPT-NeoX, Llama), or 2 p and 2 p + 1 if `interleaved` (GPT-J). If the tables have P columns, elements from 2 P on are
// copied.
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved = false,
                        Where where = Where::current());

}  // namespace ashlar::ops
