// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators on rows: softmax, and normalization by moments.
#include "generators/chain.h"

namespace ashlar::generators {

namespace {

// ---- softmax ---------------------------------------------------------------------------------------------------------------

struct SoftmaxRow {
  const char* name;
  const char* formula;
  Tensor (*apply)(const Tensor& x, int axis);
};
constexpr SoftmaxRow softmaxes[] = {
    {"softmax", "y = e^(x - m) / sum of e^(x - m), m the largest of the row",
     [](const Tensor& x, int axis) { return Tensor(ops::softmax(x, axis)); }},
    {"softmax_online", "y = softmax of x, maximum and sum in one pass over the row",
     [](const Tensor& x, int axis) { return Tensor(ops::softmax_online(x, axis)); }},
    {"log_softmax", "y = x - m - log(sum of e^(x - m)), m the largest of the row",
     [](const Tensor& x, int axis) { return Tensor(ops::log_softmax(x, axis)); }},
};

class Softmax : public ChainedOp {
 public:
  explicit Softmax(const SoftmaxRow& row) {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x and y", 1);
    const Param<int> axis = axis_param(static_cast<int>(shape.size()));
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, shape);
    output("y", apply(epilogue, row.apply(apply(prologue, x), axis), {type, {x.rank() - 1}}));
  }
};
const auto registered_softmaxes = register_rows<Softmax, softmaxes>("softmax");

// ---- normalization ---------------------------------------------------------------------------------------------------------

// What all of them have behind their shape.
class NormOp : public ChainedOp {
 protected:
  const Param<Type> type = type_param(Kind::floats);
};
struct Affine {  // y = normalized x scale + shift
  Param<bool> scale{"scale", true, "multiply by an input `scale`"}, shift{"shift", true, "add an input `shift`"};
  Param<double> epsilon{"epsilon", 1e-5, "added to the variance"};
};

class LayerNorm : public NormOp {
 public:
  LayerNorm() {
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x and y", 1);
    const int rank = std::max<int>(1, static_cast<int>(shape.size()));
    const Param<int> dims{"dims", 1, between(1, rank), "the last dimensions, normalized together"};
    const Affine affine;
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, shape);
    const std::vector<Extent> inner(shape.end() - *dims, shape.end());
    const Tensor scale = affine.scale ? input("scale", type, inner) : Tensor(),
                 shift = affine.shift ? input("shift", type, inner) : Tensor();
    output("y",
           apply(epilogue, ops::layer_norm(apply(prologue, x), scale, shift, *affine.epsilon, dims), {type, {x.rank() - 1}}));
  }
};
ASHLAR_GENERATOR(LayerNorm, "layer_norm", "norms",
                 "y = (x - mean) / sqrt(variance + epsilon) * scale + shift, with the moments of each row");

class RmsNorm : public NormOp {
 public:
  RmsNorm() {
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x and y", 1);
    const Param<bool> with_scale{"scale", true, "multiply by an input `scale`"};
    const Param<double> epsilon{"epsilon", 1e-6, "added to the mean of the squares"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, shape);
    const Tensor scale = with_scale ? input("scale", type, {shape.back()}) : Tensor();
    output("y", apply(epilogue, ops::rms_norm(apply(prologue, x), scale, *epsilon), {type, {x.rank() - 1}}));
  }
};
ASHLAR_GENERATOR(RmsNorm, "rms_norm", "norms", "y = x / sqrt(mean of x^2 + epsilon) * scale, with the mean of each row");

template <bool training>
class BatchNorm : public NormOp {
 public:
  BatchNorm() {
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "N,C,H,W", "shape of x and y", 2);
    const Param<int> channel = axis_param(static_cast<int>(shape.size()), 1, "channel");
    const Affine affine;
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, shape);
    const int c = *channel < 0 ? *channel + x.rank() : *channel;
    const std::vector<Extent> channels{x.extent(c)};
    Tensor mean, variance;
    if (!training) mean = input("mean", type, channels), variance = input("variance", type, channels);
    const Tensor scale = affine.scale ? input("scale", type, channels) : Tensor(),
                 shift = affine.shift ? input("shift", type, channels) : Tensor();
    const Tensor y = training ? Tensor(ops::batch_norm_training(x, scale, shift, *affine.epsilon, channel))
                              : ops::batch_norm(x, mean, variance, scale, shift, *affine.epsilon, channel);
    output("y", apply(epilogue, y, {type, {c}}));
  }
};
ASHLAR_GENERATOR(BatchNorm<false>, "batch_norm", "norms",
                 "y = (x - mean) / sqrt(variance + epsilon) * scale + shift, with given moments of each channel");
ASHLAR_GENERATOR(BatchNorm<true>, "batch_norm_training", "norms", "y = batch_norm with the mean and variance of the batch");

template <bool each_channel>
class GroupNorm : public NormOp {
 public:
  GroupNorm() {
    Extents extents;
    const std::vector<Extent> shape =
        extents.shape("shape", each_channel ? "N,C,H,W" : "N,32,H,W", "shape of x and y", each_channel ? 3 : 2);
    int groups = 1;
    if (!each_channel) groups = *Param<int>{"groups", 8, between(1, 1 << 20), "groups of channels"};
    const Affine affine;
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, shape);
    const std::int64_t channels = ops::detail::number_or(x.extent(1), 0);
    if (!each_channel && (channels == 0 || channels % groups != 0)) {
      reject("groups", "what divides the channels of the shape, a number");
      return;
    }
    const Tensor scale = affine.scale ? input("scale", type, {x.extent(1)}) : Tensor(),
                 shift = affine.shift ? input("shift", type, {x.extent(1)}) : Tensor();
    const Tensor y = each_channel ? Tensor(ops::instance_norm(x, scale, shift, *affine.epsilon))
                                  : Tensor(ops::group_norm(x, groups, scale, shift, *affine.epsilon));
    output("y", apply(epilogue, y, {type, {1}}));
  }
};
ASHLAR_GENERATOR(GroupNorm<false>, "group_norm", "norms",
                 "y = (x - mean) / sqrt(variance + epsilon) * scale + shift, with the moments of each group of channels");
ASHLAR_GENERATOR(GroupNorm<true>, "instance_norm", "norms",
                 "y = (x - mean) / sqrt(variance + epsilon) * scale + shift, with the moments of each channel of an image");

}  // namespace

}  // namespace ashlar::generators
