// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Losses of training, with PyTorch's names and corners. Each is the terms, one for an element or a row, and what is made of
// them: the terms themselves, their sum or their mean (NaN of none). Floating types; terms are in accumulator(type).
//
//   auto loss = ops::cross_entropy(logits, labels);           logits: [N, C], labels: [N]
//   auto [dW] = gradient(loss.result, {W});
#include <ashlar/ops/norm.h>
#include <ashlar/ops/index.h>

namespace ashlar::ops {

enum class LossReduction { mean, sum, none };
struct Loss {
  Tensor terms;
  Tensor total;  // their sum; none of LossReduction::none
  Tensor result;
  operator Tensor() const { return result; }
};

namespace detail {

// A mean divides by `weight`, of one element, or where it is empty by the number of terms.
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
// d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2) (Huber, 1964).
Loss huber_loss(const Tensor& prediction, const Tensor& target, double delta = 1, LossReduction how = LossReduction::mean,
                Where where = Where::current());
// -(t log x + (1 - t) log(1 - x)), logarithms of at least -100.
Loss binary_cross_entropy(const Tensor& prediction, const Tensor& target, LossReduction how = LossReduction::mean,
                          Where where = Where::current());
// The same of sigmoid(x): max(x, 0) - x t + log(1 + exp(-|x|)).
Loss binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, LossReduction how = LossReduction::mean,
                                      Where where = Where::current());
// t (log t - x) of logarithms x of probabilities; 0 where t is 0. The mean is that of all terms, PyTorch's "mean", not
// "batchmean".
Loss kl_divergence(const Tensor& log_prediction, const Tensor& target, LossReduction how = LossReduction::mean,
                   Where where = Where::current());
// max(0, 1 - t x) of targets 1 and -1.
Loss hinge_loss(const Tensor& prediction, const Tensor& target, LossReduction how = LossReduction::mean,
                Where where = Where::current());

// -log softmax(logits)(label) of each row; logits: [N, C], labels: [N] of integers. Rows whose label is `ignore` have the term
// 0 and do not count in the mean. A label is a place (index.h): a negative one counts from the back, one outside is brought to
// the nearest end, where PyTorch reports an error. With smoothing s the target is s / C of each label, and 1 - s more of the
// row's own (Szegedy et al., 2016).
struct CrossEntropyOptions {
  LossReduction reduction = LossReduction::mean;
  std::int64_t ignore = -100;
  double smoothing = 0;
};
struct CrossEntropy {
  LogSoftmax log_softmax;
  Tensor smoothed;  // the sum of the row's log softmax, where there is smoothing
  Tensor terms, total, result;
  Tensor logits;          // in the accumulator; the argument where it is
  Tensor counted, count;  // 1 for each row that counts, and their sum; of a mean
  operator Tensor() const { return result; }
};
CrossEntropy cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& o = {},
                           Where where = Where::current());

// x . y / (|x| |y|) along the last dimension; norms of at least epsilon.
struct CosineSimilarity {
  Tensor dot, x_square, y_square, result;
  operator Tensor() const { return result; }
};
CosineSimilarity cosine_similarity(const Tensor& x, const Tensor& y, double epsilon = 1e-8, Where where = Where::current());

}  // namespace ashlar::ops
