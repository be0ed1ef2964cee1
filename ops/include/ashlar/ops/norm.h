// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Softmax, and normalisation by moments. Floating types; sums and moments are in accumulator(type), the result is of the type
// of x. `scale` and `shift`, of the type of x or of its accumulator, may be Tensor(): none.
//
//   auto y = ops::layer_norm(x, gamma, beta, 1e-5);       s[y.mean]..., y.result
//
// A row of softmax that holds plus infinity or NaN, or minus infinity alone, is NaN, as in PyTorch.
#include <limits>
#include <ashlar/ops/reduce.h>

namespace ashlar::ops {

// ---- softmax along an axis: exp(x - m) / sum of exp(x - m), m the largest element ------------------------------------------
//
// The sum, which is 1 or more, is divided by once: its reciprocal is multiplied by.

struct Softmax {
  Tensor maximum, exp, sum, result;  // maximum and sum: the shape of x without the axis
  operator Tensor() const { return result; }
};
Softmax softmax(const Tensor& x, int axis = -1, Where where = Where::current());

// The same in one pass over x for maximum and sum, which are one tuple that merges (Milakov and Gimelshein, Online normalizer
// calculation for softmax, 2018). It differs from softmax in roundings, and in a row that holds plus infinity once: that
// element is NaN, and the others are 0.
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

// ---- normalisation ---------------------------------------------------------------------------------------------------------

struct Normalized {
  Tensor sum, mean, deviations;  // of what is normalised together: see Moments
  Tensor inverse;                // 1 / sqrt(variance + epsilon); empty for batch_norm_training
  Tensor result;
  Tensor variance;  // of batch_norm_training alone
  operator Tensor() const { return result; }
};

// Over the last `dims` dimensions; scale and shift: of their shape (Ba, Kiros and Hinton, 2016). The variance is the mean of
// the squared deviations.
Normalized layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon = 1e-5, int dims = 1,
                      Where where = Where::current());

// x / sqrt(mean of x^2 + epsilon) * scale, over the last dimension; scale: [its extent] (Zhang and Sennrich, 2019).
struct RmsNorm {
  Tensor sum, result;  // sum: of the squares
  operator Tensor() const { return result; }
};
RmsNorm rms_norm(const Tensor& x, const Tensor& scale, Operand epsilon = 1e-6, Where where = Where::current());

// Of inference: with a mean and a variance for each channel, [C], C the extent of x in dimension `channel` (Ioffe and Szegedy,
// 2015). One stage.
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& scale, const Tensor& shift,
                  Operand epsilon = 1e-5, int channel = 1, Where where = Where::current());
// Of training: with the moments of the batch, over all dimensions but the channel.
Normalized batch_norm_training(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon = 1e-5,
                               int channel = 1, Where where = Where::current());

// x: [N, C, ...]; C / groups channels, with all that stands behind them, are normalised together (Wu and He, 2018). scale and
// shift: [C]. C is a number that `groups` divides. One group a channel is instance_norm, which takes any C.
Normalized group_norm(const Tensor& x, int groups, const Tensor& scale, const Tensor& shift, Operand epsilon = 1e-5,
                      Where where = Where::current());
Normalized instance_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, Operand epsilon = 1e-5,
                         Where where = Where::current());

}  // namespace ashlar::ops
