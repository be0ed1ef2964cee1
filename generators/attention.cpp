// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention, rotary position embeddings, recurrent cells and layers.
#include <optional>

#include "generators/chain.h"

template <>
struct ashlar::ParamNames<ashlar::ops::Causal> {
  static constexpr NamedValue<ops::Causal> values[] = {
      {"no", ops::Causal::no}, {"first", ops::Causal::first}, {"last", ops::Causal::last}};
};

namespace ashlar::generators {

namespace {

template <bool online>
class AttentionOp : public ChainedOp {
 public:
  AttentionOp() {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const Expr B = extents["B"], H = extents["H"], M = extents["M"], N = extents["N"];
    const Param<int> D{"D", 64, between(1, 4096), "elements of a query or key"},
        E{"E", 64, between(1, 4096), "elements of a value"},
        groups{"groups", 1, between(1, 256), "queries that share a head of k and v"};
    const Param<ops::Causal> causal{"causal", ops::Causal::no,
                                    "only keys up to the query's index; last: counted from the ends"};
    const Param<int> window{"window", 0, between(0, 1 << 30), "how many keys a query sees, back from its causal limit; 0: all"};
    const Param<double> scale{"scale", 0, "factor of the scores; 0: 1 / sqrt(D)"};
    const Param<std::string> mask_type{
        "mask", "none", {{"none", "bool", "added"}}, "an input [M, N]: true where a key is seen, or added to the scores"};
    std::optional<Param<bool>> finite, rounded;
    if (!online) {
      finite.emplace("finite", false,
                     "promises that v is finite for keys that a query does not see; saves tests with causal and mask=bool, "
                     "required with tiles");
      rounded.emplace("rounded", false, "weights are rounded to the type before they multiply v; allows tensor cores of tiles");
    }
    const Chain epilogue(Chain::Place::epilogue);
    require(*window == 0 || *causal != ops::Causal::no, "window", "0 where causal=no");
    const Tensor q = input("q", type, {B, ops::detail::plain(H * *groups), M, *D}), k = input("k", type, {B, H, N, *D}),
                 v = input("v", type, {B, H, N, *E});
    Tensor mask;
    if (*mask_type != "none") mask = input("mask", *mask_type == "bool" ? bool_ : *type, {M, N});
    const ops::AttentionOptions o{.causal = causal,
                                  .groups = groups,
                                  .window = window,
                                  .scale = scale,
                                  .finite = finite && **finite,
                                  .rounded = rounded && **rounded};
    const Tensor y = online ? Tensor(ops::attention_online(q, k, v, o, mask)) : Tensor(ops::attention(q, k, v, o, mask));
    output("y", finish(epilogue, y, y, {type, {3}}));
  }
};
ASHLAR_GENERATOR(AttentionOp<false>, "attention", "attention",
                 "y = softmax(scale q k' + mask) v; q [B, G H, M, D], k [B, H, N, D], v [B, H, N, E]");
ASHLAR_GENERATOR(AttentionOp<true>, "attention_online", "attention", "y = attention in one pass over the keys");

class RotaryTablesOp : public Op {
 public:
  RotaryTablesOp() {
    Extents extents;
    const Expr T = extents["T"];
    const Param<int> D{"D", 64, between(2, 65536), "elements of a head, an even number"};
    const Param<double> base{"base", 10000, "base of the angles"};
    const Param<Type> type{"type", i32, {{i32, i64, u32, u16}}, "type of the positions"};
    require(D % 2 == 0, "D", "an even number");
    if (D % 2 != 0) return;
    const auto tables = ops::rotary_tables(input("positions", type, {T}), D, base);
    output("cos", tables.cos);
    output("sin", tables.sin);
  }
};
ASHLAR_GENERATOR(RotaryTablesOp, "rotary_tables", "attention",
                 "cos, sin = those of the angles position base^(-2 p / D), [T, D / 2]");

class RotaryEmbedding : public Op {
 public:
  RotaryEmbedding() {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    std::vector<Extent> shape = extents.shape("heads", "B,H", "dimensions of x before [T, D]", 0, 4);
    const Expr T = extents["T"];
    const Param<int> D{"D", 64, between(2, 65536), "elements of a head"},
        P{"P", 32, between(1, 32768), "pairs of a head that are rotated"};
    const Param<bool> interleaved{"interleaved", false, "pairs are neighbors, not in different halves"};
    require(2 * *P <= *D, "P", "at most D / 2");
    if (2 * *P > *D) return;
    shape.emplace_back(T), shape.emplace_back(*D);
    const Tensor x = input("x", type, shape), cos = input("cos", f32, {T, *P}), sin = input("sin", f32, {T, *P});
    output("y", ops::rotary_embedding(x, cos, sin, interleaved));
  }
};
ASHLAR_GENERATOR(RotaryEmbedding, "rotary_embedding", "attention",
                 "y = pairs of elements of x [.., T, D], rotated by the angles of row t");

// ---- recurrent: x [B, I] or [T, B, I], weights W [I, G, H] and U [H, G, H], biases [G, H] ----------------------------------

class RecurrentOp : public Op {
 protected:
  explicit RecurrentOp(int gates) : G(gates) {}
  const Param<Type> type = type_param(Kind::floats);
  const int G;
  Extents extents;
  const Expr B = extents["B"], I = extents["I"], H = extents["H"];
  Tensor W() { return input("W", type, {I, G, H}); }
  Tensor U() { return input("U", type, {H, G, H}); }
  Tensor bias(const char* name) { return input(name, type, {G, H}); }
};

class LstmCellOp : public RecurrentOp {
 public:
  LstmCellOp() : RecurrentOp(4) {
    const Tensor x = input("x", type, {B, I}), h = input("h", type, {B, H}), c = input("c", type, {B, H});
    const Tensor w = W(), u = U(), b = bias("b");
    const ops::LstmCell s = ops::lstm_cell(x, h, c, w, u, b);
    output("hidden", s.result);
    output("cell", s.cell);
  }
};
ASHLAR_GENERATOR(LstmCellOp, "lstm_cell", "recurrent", "hidden, cell = one step of a long short-term memory from h and c");

class LstmOp : public RecurrentOp {
 public:
  LstmOp() : RecurrentOp(4) {
    const Tensor x = input("x", type, {extents["T"], B, I});
    const Tensor w = W(), u = U(), b = bias("b");
    output("y", ops::lstm(x, w, u, b));
  }
};
ASHLAR_GENERATOR(LstmOp, "lstm", "recurrent",
                 "y(t) = the hidden state of a long short-term memory after step t of x [T, B, I]");

class GruCellOp : public RecurrentOp {
 public:
  GruCellOp() : RecurrentOp(3) {
    const Tensor x = input("x", type, {B, I}), h = input("h", type, {B, H});
    const Tensor w = W(), u = U(), b = bias("b"), d = bias("d");
    output("hidden", ops::gru_cell(x, h, w, u, b, d));
  }
};
ASHLAR_GENERATOR(GruCellOp, "gru_cell", "recurrent", "hidden = one step of a gated recurrent unit from h");

class GruOp : public RecurrentOp {
 public:
  GruOp() : RecurrentOp(3) {
    const Tensor x = input("x", type, {extents["T"], B, I});
    const Tensor w = W(), u = U(), b = bias("b"), d = bias("d");
    output("y", ops::gru(x, w, u, b, d));
  }
};
ASHLAR_GENERATOR(GruOp, "gru", "recurrent", "y(t) = the state of a gated recurrent unit after step t of x [T, B, I]");

}  // namespace

}  // namespace ashlar::generators
