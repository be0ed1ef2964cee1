// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses of training.
#include "generators/op.h"
#include "generators/params.h"

template <>
struct ashlar::ParamNames<ashlar::ops::LossReduction> {
  static constexpr NamedValue<ops::LossReduction> values[] = {
      {"mean", ops::LossReduction::mean}, {"sum", ops::LossReduction::sum}, {"none", ops::LossReduction::none}};
};

namespace ashlar::generators {

namespace {

struct LossRow {
  const char* name;
  const char* formula;
  Tensor (*apply)(const Tensor& prediction, const Tensor& target, ops::LossReduction, double delta);
  bool has_delta = false;
};
#define ROW(NAME, FORMULA) \
  {#NAME, FORMULA,         \
   [](const Tensor& x, const Tensor& t, ops::LossReduction how, double) { return Tensor(ops::NAME(x, t, how)); }}
constexpr LossRow losses[] = {
    ROW(binary_cross_entropy, "loss = -(t log(x) + (1 - t) log(1 - x)); x the prediction, t the target"),
    ROW(binary_cross_entropy_with_logits, "loss = binary_cross_entropy of sigmoid(x); x the prediction"),
    ROW(hinge_loss, "loss = max(0, 1 - t x); x the prediction, t the target"),
    {"huber_loss", "loss = d^2 / 2 where d = |x - t| is at most delta, else delta (d - delta / 2)",
     [](const Tensor& x, const Tensor& t, ops::LossReduction how, double delta) {
       return Tensor(ops::huber_loss(x, t, delta, how));
     },
     true},
    ROW(kl_divergence, "loss = t (log(t) - x); x the logarithms of the predicted probabilities, t the target"),
    ROW(l1_loss, "loss = |x - t|; x the prediction, t the target"),
    ROW(mse_loss, "loss = (x - t)^2; x the prediction, t the target"),
};
#undef ROW
class LossOp : public Op {
 public:
  explicit LossOp(const LossRow& row) {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of prediction and target");
    const Param<ops::LossReduction> reduction{"reduction", ops::LossReduction::mean, "how the terms are combined"};
    double delta = 1;
    if (row.has_delta) delta = *Param<double>{"delta", 1, "the distance from which on the loss is linear"};
    const Tensor x = input("prediction", type, shape), t = input("target", type, shape);
    output("loss", row.apply(x, t, reduction, delta));
  }
};
const auto registered_losses = register_rows<LossOp, losses>("losses");

class CrossEntropyOp : public Op {
 public:
  CrossEntropyOp() {
    const Param<Type> type = type_param(Kind::floats),
                      labels_type{"labels_type", i64, {{i32, i64, u8, i16, u16}}, "type of the labels"};
    Extents extents;
    const Expr N = extents["N"];
    Extents at_least({.min = 1});
    const Expr C = at_least["C"];
    const Param<ops::LossReduction> reduction{"reduction", ops::LossReduction::mean, "how the losses of the rows are combined"};
    const Param<std::int64_t> ignore{"ignore", -100, "rows with this label do not count"};
    const Param<double> smoothing{"smoothing", 0, between(0.0, 1.0), "share of the target that is spread over all labels"};
    const Tensor logits = input("logits", type, {N, C}), labels = input("labels", labels_type, {N});
    output("loss", ops::cross_entropy(logits, labels, {.reduction = reduction, .ignore = ignore, .smoothing = smoothing}));
  }
};
ASHLAR_GENERATOR(CrossEntropyOp, "cross_entropy", "losses",
                 "-log softmax(logits)(label) of each row; logits [N, C], labels [N]");

class CosineSimilarityOp : public Op {
 public:
  CosineSimilarityOp() {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x and y", 1);
    const Param<double> epsilon{"epsilon", 1e-8, "least norm that counts"};
    const Tensor x = input("x", type, shape), y = input("y", type, shape);
    output("similarity", ops::cosine_similarity(x, y, epsilon));
  }
};
ASHLAR_GENERATOR(CosineSimilarityOp, "cosine_similarity", "losses", "x . y / (|x| |y|) along the last dimension");

}  // namespace

}  // namespace ashlar::generators
