// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Softmax and normalization. Floating-point types. Sums and moments are in accumulator(type); results have the type of x.
// `scale` and `shift` have the type of x or of its accumulator. Pass Tensor() to leave one out.
//
//   auto y = ops::layer_norm(x, gamma, beta, 1e-5);       s[y.mean]..., y.result
//
// As in PyTorch, a row of softmax is NaN if it contains plus infinity or NaN, or only minus infinity.
#include <ashlar/ops/reduce.h>

namespace ashlar::ops {

// ---- softmax along an axis: exp(x - m) / sum of exp(x - m), where m is the largest element ---------------------------------
//
// Each row needs one division, by the sum, which is at least 1; elements are multiplied by the reciprocal.

struct Softmax {
  Tensor maximum, exp, sum, result;  // maximum and sum lack the axis
  operator Tensor() const { return result; }
};
Softmax softmax(const Tensor& x, int axis = -1, Where where = Where::current());

// The same with one pass over x for maximum and sum, which form one tuple with an associative combiner (Milakov and Gimelshein,
// Online normalizer calculation for softmax, 2018). It rounds differently from softmax. In a row with one plus infinity, only
// that element is NaN, and the others are 0.
struct OnlineSoftmax {
  Tensor maximum, sum, result;
  operator Tensor() const { return result; }
};
OnlineSoftmax softmax_online(const Tensor& x, int axis = -1, Where where = Where::current());

struct LogSoftmax {  // x - m - log(sum of exp(x - m))
  Tensor maximum, sum, result;
  operator Tensor() const { return result; }
};
LogSoftmax log_softmax(const Tensor& x, int axis = -1, Where where = Where::current());

// ---- normalization ---------------------------------------------------------------------------------------------------------

struct Normalized {
  Tensor sum, mean, deviations;  // over the elements that are normalized together: see Moments
  Tensor inverse;                // 1 / sqrt(variance + epsilon); empty for batch_norm_training
  Tensor result;
  Tensor variance;  // batch_norm_training only
  operator Tensor() const { return result; }
};

// Normalizes over the last `dims` dimensions; scale and shift have their shape (Ba, Kiros and Hinton, 2016). The variance is
// the mean of the squared deviations.
Normalized layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon = 1e-5, int dims = 1,
                      Where where = Where::current());

// x / sqrt(mean of x^2 + epsilon) scale, over the last dimension (Zhang and Sennrich, 2019). scale: [D], the extent of that
// dimension.
struct RmsNorm {
  Tensor sum, result;  // `sum` adds the squares
  operator Tensor() const { return result; }
};
RmsNorm rms_norm(const Tensor& x, const Tensor& scale, Operand epsilon = 1e-6, Where where = Where::current());

// For inference, with a given mean and variance for each channel (Ioffe and Szegedy, 2015). All four are [C], where C is the
// extent of x in dimension `channel`. One stage.
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& scale, const Tensor& shift,
                  Operand epsilon = 1e-5, int channel = 1, Where where = Where::current());
// For training, with the moments of the batch, over all dimensions but the channel.
Normalized batch_norm_training(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon = 1e-5,
                               int channel = 1, Where where = Where::current());

// Normalizes groups of C / groups channels together with all dimensions after them (Wu and He, 2018). x: [N, C, ...]; scale and
// shift: [C]. C must be a number that `groups` divides. instance_norm has one group for each channel, and takes any C.
Normalized group_norm(const Tensor& x, int groups, const Tensor& scale, const Tensor& shift, Operand epsilon = 1e-5,
                      Where where = Where::current());
Normalized instance_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon = 1e-5,
                         Where where = Where::current());

}  // namespace ashlar::ops
