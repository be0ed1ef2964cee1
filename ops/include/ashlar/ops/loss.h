// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Training losses, with PyTorch's names and edge cases. A loss has terms, one for each element or row, and a result: the terms,
// their sum, or their mean (NaN if there are no terms). Floating-point types; terms are in accumulator(type).
//
//   auto loss = ops::cross_entropy(logits, labels);           logits: [N, C], labels: [N]
//   auto [dW] = gradient(loss.result, {W});
#include <ashlar/ops/norm.h>
#include <ashlar/ops/index.h>

namespace ashlar::ops {

enum class LossReduction { mean, sum, none };
struct Loss {
  Tensor terms;
  Tensor total;  // the sum of the terms; empty with LossReduction::none
  Tensor result;
  operator Tensor() const { return result; }
};

namespace detail {

// A mean divides by the only element of `weight`, or by the number of terms if `weight` is empty.
Loss reduced_loss(const char* op, const Tensor& terms, LossReduction how, const Tensor& weight, Where where);
template <class F>
Loss elementwise_loss(const char* op, const Tensor& prediction, const Tensor& target, LossReduction how, Where where, F f) {
  expect_float(op, "prediction", prediction, where);
  expect_same_type(op, "prediction", prediction, "target", target, where);
  expect_shape(op, "target", target, extents(prediction, where), "as prediction has", where);
  const Type wide = accumulator(prediction.type(where));
  const Tensor terms = compute(
      op, prediction.shape(where), [&](Indices i) { return Expr(f(wide(prediction(i, where)), wide(target(i, where)))); },
      where);
  return reduced_loss(op, terms, how, Tensor(), where);
}

}  // namespace detail

// (x - t)^2.
Loss mse_loss(const Tensor& prediction, const Tensor& target, LossReduction how = LossReduction::mean,
              Where where = Where::current());
// |x - t|.
Loss l1_loss(const Tensor& prediction, const Tensor& target, LossReduction how = LossReduction::mean,
             Where where = Where::current());
// d^2 / 2 if |d| <= delta, else delta (|d| - delta / 2), with d = x - t (Huber, 1964).
Loss huber_loss(const Tensor& prediction, const Tensor& target, double delta = 1, LossReduction how = LossReduction::mean,
                Where where = Where::current());
// -(t log x + (1 - t) log(1 - x)), with logarithms clamped from below at -100.
Loss binary_cross_entropy(const Tensor& prediction, const Tensor& target, LossReduction how = LossReduction::mean,
                          Where where = Where::current());
// The same for sigmoid(x), computed as max(x, 0) - x t + log(1 + exp(-|x|)).
Loss binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, LossReduction how = LossReduction::mean,
                                      Where where = Where::current());
// t (log t - x), where x is the logarithm of a probability; 0 if t is 0. The mean is over all terms (PyTorch's "mean", not
// "batchmean").
Loss kl_divergence(const Tensor& log_prediction, const Tensor& target, LossReduction how = LossReduction::mean,
                   Where where = Where::current());
// max(0, 1 - t x), for targets 1 and -1.
Loss hinge_loss(const Tensor& prediction, const Tensor& target, LossReduction how = LossReduction::mean,
                Where where = Where::current());

// -log softmax(logits)(label) for each row. logits: [N, C]; labels: [N], integers. A row whose label is `ignore` has the term 0
// and does not count in the mean. Labels are places (index.h): negative ones count from the end, and ones out of range are
// clamped; PyTorch reports an error instead. With smoothing s, the target distribution is s / C for every class, plus 1 - s for
// the label (Szegedy et al., 2016).
struct CrossEntropyOptions {
  LossReduction reduction = LossReduction::mean;
  std::int64_t ignore = -100;
  double smoothing = 0;
};
struct CrossEntropy {
  LogSoftmax log_softmax;
  Tensor smoothed;  // with smoothing: the sum of the row's log softmax
  Tensor terms, total, result;
  Tensor logits;          // in the accumulator's type; the argument itself if it has that type
  Tensor counted, count;  // for a mean: 1 for each row that counts, and the sum over all rows
  operator Tensor() const { return result; }
};
CrossEntropy cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& o = {},
                           Where where = Where::current());

// x . y / (|x| |y|) along the last dimension. Norms are clamped from below at epsilon.
struct CosineSimilarity {
  Tensor dot, x_square, y_square, result;
  operator Tensor() const { return result; }
};
CosineSimilarity cosine_similarity(const Tensor& x, const Tensor& y, double epsilon = 1e-8, Where where = Where::current());

}  // namespace ashlar::ops
