// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Derivatives of a number by whole tensors, in reverse: for each tensor one of its shape, made of ordinary stages that are
// scheduled like those a user writes.
//
//   Tensor loss = compute("loss", [&] { return sum(pow2(y(i) - target(i)), i); });
//   auto [dW, db] = gradient(loss, {W, b});
//   s[dW].parallel(...);
//
// The loss has no dimensions and a floating type. What lies between it and the tensors is written with compute (of one or more
// values), sum, strict_sum, minimum, maximum, select, scatters that add, and reads. A read at sums of variables times numbers
// (convolutions, strides, transpositions, diagonals, constant boundaries) is passed back as what each element receives, any
// other (data choose the place) by a scatter. Elements that share a maximum share its derivative evenly; the other corners
// stand in docs/language.md. Stages are named after what they are the derivative by: d_W.
//
// Stages in between are named after their tensor as well, and those that sum one reader's part alone d_W_0, d_W_1, ...; all
// that were made are given, in order of definition, to a vector handed over:
//
//   std::vector<Tensor> made;
//   auto [dW, db] = gradient(loss, {W, b}, &made);
//
// Refused, at the line of the call, with the stage that is in the way: products, reducers of one's own, stages whose domain is
// inferred, and tensors that the loss does not depend on.
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
