// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Recurrent cells and layers: long short-term memory (Hochreiter and Schmidhuber, 1997, with forget gates) and gated recurrent
// units (Cho et al., 2014), with PyTorch's order of gates.
//
//   lstm   i, f, g, o = x W + h U + b      c' = sigmoid(f) c + sigmoid(i) tanh(g)      h' = sigmoid(o) tanh(c')
//   gru    r, z, n of x W + b and h U + d  h' = (1 - z) n + z h,  r and z the sigmoids of both sums,  n = tanh(xW_n + r (hU_n))
//
// A cell is one step: x [B, I], h and c [B, H]. A layer runs over a sequence, x [T, ..., I], starting from zeros. Weights are W
// [I, G, H] and U [H, G, H], biases [G, H], where G is the number of gates: 4 for lstm, 3 for gru. Floating-point types. Sums
// and the state of a layer are in accumulator(type).
#include <ashlar/ops/common.h>

namespace ashlar::ops {

namespace detail {

struct LstmState {
  Expr cell, hidden;
};
template <class F>
LstmState lstm_step(const Expr& before, F gate) {
  const Expr c = ashlar::sigmoid(gate(1)) * before + ashlar::sigmoid(gate(0)) * ashlar::tanh(gate(2));
  return {c, ashlar::sigmoid(gate(3)) * ashlar::tanh(c)};
}
template <class F, class G>
Expr gru_step(const Expr& before, F of_x, G of_h) {
  const Expr r = ashlar::sigmoid(of_x(0) + of_h(0)), z = ashlar::sigmoid(of_x(1) + of_h(1));
  const Expr n = ashlar::tanh(of_x(2) + r * of_h(2));
  return (1 - z) * n + z * before;
}

}  // namespace detail

struct LstmCell {
  Tensor xw, gates;     // x W + b; the same plus h U
  Tensor cell, result;  // c' and h', [B, H]
  operator Tensor() const { return result; }
};
LstmCell lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c, const Tensor& W, const Tensor& U, const Tensor& b,
                   Where where = Where::current());

struct Lstm {
  Tensor xw, gates;     // for all steps: x W + b; the same plus h U, a stage inside the recurrence
  Tensor cell, hidden;  // the states, [T + 1, ..., H]; the first is the initial state
  Tensor result;        // h after each step, [T, ..., H]
  operator Tensor() const { return result; }
};
Lstm lstm(const Tensor& x, const Tensor& W, const Tensor& U, const Tensor& b, Where where = Where::current());

struct GruCell {
  Tensor xw, hu;  // x W + b and h U + d, [B, 3, H]
  Tensor result;  // h'
  operator Tensor() const { return result; }
};
GruCell gru_cell(const Tensor& x, const Tensor& h, const Tensor& W, const Tensor& U, const Tensor& b, const Tensor& d,
                 Where where = Where::current());

struct Gru {
  Tensor xw, hu, hidden, result;  // hu is a stage inside the recurrence; hidden: [T + 1, ..., H]
  operator Tensor() const { return result; }
};
Gru gru(const Tensor& x, const Tensor& W, const Tensor& U, const Tensor& b, const Tensor& d, Where where = Where::current());

}  // namespace ashlar::ops
