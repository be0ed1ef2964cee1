// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gradient: the derivatives of a number with respect to tensors, by reverse-mode differentiation. Each result has the shape of
// its tensor and consists of ordinary stages, which are scheduled like any others.
//
//   Tensor loss = compute("loss", [&] { return sum(pow2(y(i) - target(i)), i); });
//   auto [dW, db] = gradient(loss, {W, b});
//   s[dW].parallel(...);
//
// The loss has no dimensions and a floating-point type. Between it and the tensors there may be compute (of one or several
// values), sum, strict_sum, minimum, maximum, select, scatters that add, and reads. If the indices of a read are affine
// (convolutions, strides, transpositions, diagonals, constant boundaries), its derivative gathers the contributions to each
// element; if they come from data, it is a scatter. Equal terms of a maximum share its derivative evenly; docs/language.md
// describes the other edge cases.
//
// Results are named after their tensors: d_W. So are the stages in between; the contributions of single readers are d_W_0,
// d_W_1, ... Pass a vector to receive all new stages in order of definition:
//
//   std::vector<Tensor> made;
//   auto [dW, db] = gradient(loss, {W, b}, &made);
//
// Refused, at the line of the call and with the stage concerned: product reductions, user-defined reducers, stages with an
// inferred domain, and tensors that the loss does not depend on.
#include <ashlar/lang/compute.h>

namespace ashlar {

namespace detail {
void gradient(const Tensor& loss, const Tensor* inputs, std::size_t count, Tensor* results, std::vector<Tensor>* made, Where);
}

template <std::size_t N>
std::array<Tensor, N> gradient(const Tensor& loss, const Tensor (&inputs)[N], Where where = Where::current()) {
  std::array<Tensor, N> results;
  detail::gradient(loss, inputs, N, results.data(), nullptr, where);
  return results;
}
template <std::size_t N>
std::array<Tensor, N> gradient(const Tensor& loss, const Tensor (&inputs)[N], std::vector<Tensor>* made,
                               Where where = Where::current()) {
  std::array<Tensor, N> results;
  detail::gradient(loss, inputs, N, results.data(), made, where);
  return results;
}

}  // namespace ashlar
