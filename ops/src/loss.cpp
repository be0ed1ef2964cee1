// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/loss.h>

namespace ashlar::ops {

namespace detail {

Loss reduced_loss(const char* op, const Tensor& terms, LossReduction how, const Tensor& weight, Where where) {
  if (how == LossReduction::none) return {terms, Tensor(), terms};
  const Tensor total = reduce_sum(terms, {}, where);
  if (how == LossReduction::sum) return {terms, total, total};
  if (weight.empty()) {
    Expr count = ir::index(1);
    for (const Expr& e : extents(terms, where)) count = ir::mul(count, e);
    return {terms, total, compute(op, [&] { return total(where) / terms.type(where)(count); }, where)};
  }
  return {terms, total, compute(op, [&] { return total(where) / terms.type(where)(weight(where)); }, where)};
}

}  // namespace detail

Loss mse_loss(const Tensor& prediction, const Tensor& target, LossReduction how, Where where) {
  return detail::elementwise_loss("mse_loss", prediction, target, how, where,
                                  [](const Expr& x, const Expr& t) { return (x - t) * (x - t); });
}
Loss l1_loss(const Tensor& prediction, const Tensor& target, LossReduction how, Where where) {
  return detail::elementwise_loss("l1_loss", prediction, target, how, where,
                                  [](const Expr& x, const Expr& t) { return ashlar::abs(x - t); });
}
Loss huber_loss(const Tensor& prediction, const Tensor& target, double delta, LossReduction how, Where where) {
  return detail::elementwise_loss("huber_loss", prediction, target, how, where, [&](const Expr& x, const Expr& t) {
    const Expr d = ashlar::abs(x - t);
    return select(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta);
  });
}
Loss binary_cross_entropy(const Tensor& prediction, const Tensor& target, LossReduction how, Where where) {
  return detail::elementwise_loss("binary_cross_entropy", prediction, target, how, where, [](const Expr& x, const Expr& t) {
    return -(t * max(ashlar::log(x), -100) + (1 - t) * max(ashlar::log1p(-x), -100));
  });
}
Loss binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, LossReduction how, Where where) {
  return detail::elementwise_loss(
      "binary_cross_entropy_with_logits", logits, target, how, where,
      [](const Expr& x, const Expr& t) { return max(x, 0) - x * t + ashlar::log1p(ashlar::exp(-ashlar::abs(x))); });
}
Loss kl_divergence(const Tensor& log_prediction, const Tensor& target, LossReduction how, Where where) {
  return detail::elementwise_loss("kl_divergence", log_prediction, target, how, where,
                                  [](const Expr& x, const Expr& t) { return select(t == 0, t, t * (ashlar::log(t) - x)); });
}
Loss hinge_loss(const Tensor& prediction, const Tensor& target, LossReduction how, Where where) {
  return detail::elementwise_loss("hinge_loss", prediction, target, how, where,
                                  [](const Expr& x, const Expr& t) { return max(1 - t * x, 0); });
}

CrossEntropy cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& o, Where where) {
  const char* op = "cross_entropy";
  detail::expect_float(op, "logits", logits, where);
  detail::expect_rank(op, "logits", logits, 2, where);
  detail::expect_integer(op, "labels", labels, where);
  detail::expect_shape(op, "labels", labels, {logits.extent(0, where)}, "the rows of logits", where);
  detail::expect(o.smoothing >= 0 && o.smoothing <= 1, op, "a smoothing from 0 to 1", std::to_string(o.smoothing), where);
  const Type wide = accumulator(logits.type(where));
  const Expr N = logits.extent(0, where), C = logits.extent(1, where);
  CrossEntropy e;
  e.logits = detail::converted(op, logits, wide, where);
  e.log_softmax = log_softmax(e.logits, 1, where);
  const Tensor logs = e.log_softmax.result;
  if (o.smoothing > 0) e.smoothed = reduce_sum(logs, {.axes = {1}}, where);
  const auto counts = [&](const Expr& n) { return i64(labels(n)) != o.ignore; };
  e.terms = compute(
      op, {{"n", N}},
      [&](Var n) {
        Expr term = logs(n, detail::place(labels(n), C, Places::any));
        if (o.smoothing > 0) term = term * (1 - o.smoothing) + e.smoothed(n) * (o.smoothing / wide(C));
        return select(counts(n), -term, wide(0));
      },
      where);
  if (o.reduction == LossReduction::mean) {
    e.counted = compute("counted", {{"n", N}}, [&](Var n) { return select(counts(n), wide(1), wide(0)); }, where);
    e.count = reduce_sum(e.counted, {}, where);
  }
  const Loss loss = detail::reduced_loss(op, e.terms, o.reduction, e.count, where);
  e.total = loss.total, e.result = loss.result;
  return e;
}

CosineSimilarity cosine_similarity(const Tensor& x, const Tensor& y, double epsilon, Where where) {
  const char* op = "cosine_similarity";
  detail::expect_float(op, "x", x, where);
  detail::expect_rank_from(op, "x", x, 1, where);
  detail::expect_same_type(op, "x", x, "y", y, where);
  detail::expect_shape(op, "y", y, detail::extents(x, where), "as x has", where);
  const auto r = detail::reducing(op, x, {-1}, false, where);
  const Type type = x.type(where), wide = accumulator(type);
  const auto products = [&](const Tensor& a, const Tensor& b) {
    return compute(
        op, r.result,
        [&](Indices i) { return sum(wide(a(r.element(i), where)) * wide(b(r.element(i), where)), r.list(), where); }, where);
  };
  CosineSimilarity s{products(x, y), products(x, x), products(y, y), Tensor()};
  s.result = compute(
      op, r.result,
      [&](Indices i) {
        const auto norm = [&](const Tensor& square) { return max(ashlar::sqrt(square(i, where)), epsilon); };
        return type(s.dot(i, where) / (norm(s.x_square) * norm(s.y_square)));
      },
      where);
  return s;
}

}  // namespace ashlar::ops
