// A keyword-spotting network of int8 layers as one function: 49 frames of 10 coefficients in, the logits of twelve classes and
// their probabilities out. Parameters are constants, data of the object; nothing but the workspace is written besides the
// results. `network.h` says which layers, `schedules.h` how they are computed on a processor with vectors, on a Cortex-M4 and
// on a Cortex-M55.
#include <ashlar/ashlar.h>

#include "apps/keywords/network.h"
#include "apps/keywords/schedules.h"

namespace {

using namespace ashlar;
using ds_cnn::Layer, ds_cnn::channels, ds_cnn::high, ds_cnn::wide, ds_cnn::classes;

Tensor numbers(const char* name, const std::vector<std::int32_t>& list) {
  return constant(name, i32, {static_cast<std::int64_t>(list.size())}, list);
}

// The bias with what the zero point of the input adds to each sum: w (x - zero) = w x - zero w. `filter` gives the weights of
// one.
template <class F>
Tensor folded_bias(const char* name, const Layer& l, int terms, int zero, F&& weight) {
  std::vector<std::int32_t> bias = l.bias;
  for (std::size_t c = 0; c < bias.size(); ++c)
    for (int t = 0; t < terms; ++t) bias[c] -= zero * l.weights[weight(c, static_cast<std::size_t>(t))];
  return numbers(name, bias);
}

// acc * multiplier / 2^(31 + shift), rounded twice, onto the zero point of the result
Expr requantize(const Expr& acc, const Expr& multiplier, const Expr& shift, int to) {
  return saturate(i8, add_sat(rounding_shr(mul_high_rounding(acc, multiplier), shift), to));
}

class Keywords : public Generator {
 public:
  Input x{"x", i8, {ds_cnn::frames, ds_cnn::coefficients}};
  Output logits{"logits", i8, {classes}}, probability{"probability", f32, {classes}};

  void algorithm() override {
    const ds_cnn::Network& n = ds_cnn::network();
    net.input = compute("input", [&, x = boundary::constant(x, i8(ds_cnn::input_zero))](Var h, Var w) { return x(h, w); });
    const Axis r{"r", ds_cnn::kernel_h}, q{"q", ds_cnn::kernel_w};
    const Tensor weights = constant("conv_weights", i8, {channels, ds_cnn::kernel_h, ds_cnn::kernel_w}, n.conv.weights);
    const Tensor bias = folded_bias("conv_bias", n.conv, ds_cnn::kernel_h * ds_cnn::kernel_w, ds_cnn::input_zero,
                                    [](std::size_t c, std::size_t t) { return c * ds_cnn::kernel_h * ds_cnn::kernel_w + t; });
    net.conv.sums = compute("conv_sums", {high, wide, channels}, [&](Var h, Var w, Var c) {
      return sum(i32(net.input(ds_cnn::stride * h + r - 4, ds_cnn::stride * w + q - 1)) * i32(weights(c, r, q)), {r, q})
          .from(bias(c));
    });
    net.conv.result = activate("conv", net.conv.sums, n.conv);
    Tensor now = net.conv.result;
    for (int b = 0; b < ds_cnn::blocks; ++b) now = block(net.block[b], now, n.depth[b], n.point[b]);
    classify(now, n);
  }

  void schedule(Schedule& s) override { ds_cnn::schedule(s, net); }

 private:
  ds_cnn::Stages net;

  // i32[25, 5, 64] to i8 by what belongs to each channel
  Tensor activate(const char* name, const Tensor& sums, const Layer& l) {
    const Tensor multiplier = numbers("multiplier", l.multiplier), shift = numbers("shift", l.shift);
    return compute(name, {high, wide, channels},
                   [&](Var h, Var w, Var c) { return requantize(sums(h, w, c), multiplier(c), shift(c), ds_cnn::zero); });
  }

  Tensor block(ds_cnn::BlockStages& to, const Tensor& from, const Layer& depth, const Layer& point) {
    to.padded = compute("padded", [&, from = boundary::constant(from, i8(ds_cnn::zero), {0, 1})](Var h, Var w, Var c) {
      return from(h, w, c);
    });
    const Axis r{"r", 3}, q{"q", 3}, k{"k", channels};
    const Tensor dw = constant("depth_weights", i8, {3, 3, channels}, depth.weights);
    const Tensor dw_bias =
        folded_bias("depth_bias", depth, 9, ds_cnn::zero, [](std::size_t c, std::size_t t) { return t * channels + c; });
    to.depth.sums = compute("depth_sums", {high, wide, channels}, [&](Var h, Var w, Var c) {
      return sum(i32(to.padded(h + r - 1, w + q - 1, c)) * i32(dw(r, q, c)), {r, q}).from(dw_bias(c));
    });
    to.depth.result = activate("depth", to.depth.sums, depth);
    const Tensor pw = constant("point_weights", i8, {channels, channels}, point.weights);
    const Tensor pw_bias =
        folded_bias("point_bias", point, channels, ds_cnn::zero, [](std::size_t c, std::size_t t) { return c * channels + t; });
    to.point.sums = compute("point_sums", {high, wide, channels}, [&](Var h, Var w, Var o) {
      return sum(i32(to.depth.result(h, w, k)) * i32(pw(o, k)), k).from(pw_bias(o));
    });
    return to.point.result = activate("point", to.point.sums, point);
  }

  void classify(const Tensor& last, const ds_cnn::Network& n) {
    const Axis h{"h", high}, w{"w", wide}, k{"k", channels}, c{"c", classes};
    net.pool_sums = compute("pool_sums", {channels},
                            [&](Var o) { return sum(i32(last(h, w, o)), {h, w}).from(-ds_cnn::zero * high * wide); });
    net.pool = compute("pool", {channels}, [&](Var o) {
      return requantize(net.pool_sums(o), i32(n.pool.multiplier[0]), i32(n.pool.shift[0]), ds_cnn::zero);
    });
    const Tensor weights = constant("dense_weights", i8, {classes, channels}, n.dense.weights);
    const Tensor bias = folded_bias("dense_bias", n.dense, channels, ds_cnn::zero,
                                    [](std::size_t o, std::size_t t) { return o * channels + t; });
    net.dense_sums =
        compute("dense_sums", {classes}, [&](Var o) { return sum(i32(net.pool(k)) * i32(weights(o, k)), k).from(bias(o)); });
    const Tensor multiplier = numbers("dense_multiplier", n.dense.multiplier), shift = numbers("dense_shift", n.dense.shift);
    const Tensor of_class =
        compute("logit", {classes}, [&](Var o) { return requantize(net.dense_sums(o), multiplier(o), shift(o), 0); });
    logits = of_class;
    net.top = compute("top", [&] { return maximum(i32(of_class(c)), c); });
    net.power =
        compute("power", {classes}, [&](Var o) { return exp(f32(i32(of_class(o)) - net.top()) * ds_cnn::logit_scale); });
    net.total = compute("total", [&] { return strict_sum(net.power(c), c); });
    probability = compute("probability", {classes}, [&](Var o) { return net.power(o) / net.total(); });
  }
};
ASHLAR_GENERATOR(Keywords, "keywords");

}  // namespace
