// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Activations: elementwise functions of floating-point types. Each is one stage with the shape of x, computed in
// accumulator(type) and rounded to the type of x once. The error is that of the math functions in the formula (docs/ir.md). NaN
// gives NaN.
//
//   Tensor y = ops::gelu(ops::dense(x, w, b), ops::Gelu::tanh);
#include <ashlar/ops/common.h>

namespace ashlar::ops {

// max(x, 0).
Tensor relu(const Tensor& x, Where where = Where::current());
// clamp(x, 0, 6).
Tensor relu6(const Tensor& x, Where where = Where::current());
// x if x > 0, else slope x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01, Where where = Where::current());
// The same with a tensor of slopes, which broadcasts to x: [C, 1, 1] for the channels of NCHW.
Tensor prelu(const Tensor& x, const Tensor& slope, Where where = Where::current());
// x if x > 0, else alpha (exp(x) - 1) (Clevert, Unterthiner and Hochreiter, 2016).
Tensor elu(const Tensor& x, double alpha = 1, Where where = Where::current());
// max(x, 0) + min(alpha (exp(x / alpha) - 1), 0) (Barron, 2017).
Tensor celu(const Tensor& x, double alpha = 1, Where where = Where::current());
// scale elu(x, alpha), with the constants of Klambauer et al., Self-normalizing neural networks, 2017.
Tensor selu(const Tensor& x, Where where = Where::current());
// x P(X <= x) for a standard normal X (Hendrycks and Gimpel, 2016), in one of three forms:
//
//   exact    x / 2 (1 + erf(x / sqrt 2)); the error is a few ulps of x / 2, even where the result is near 0
//   tanh     x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), an approximation
//   tail     x / 2 erfc(-x / sqrt 2); keeps the relative error small in the left tail, but takes several times as long
//
// Minus infinity gives NaN, as in PyTorch.
enum class Gelu { exact, tanh, tail };
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact, Where where = Where::current());
// x sigmoid(beta x): SiLU for beta = 1, otherwise Swish (Ramachandran, Zoph and Le, 2017).
Tensor silu(const Tensor& x, double beta = 1, Where where = Where::current());
// log(1 + exp(beta x)) / beta, computed as max(x, 0) + log(1 + exp(-|beta x|)) / beta, which does not overflow.
Tensor softplus(const Tensor& x, double beta = 1, Where where = Where::current());
// log(sigmoid(x)).
Tensor log_sigmoid(const Tensor& x, Where where = Where::current());
// x tanh(softplus(x)) (Misra, 2019).
Tensor mish(const Tensor& x, Where where = Where::current());
// x / (1 + |x|).
Tensor softsign(const Tensor& x, Where where = Where::current());
// clamp(x, low, high).
Tensor hard_tanh(const Tensor& x, double low = -1, double high = 1, Where where = Where::current());
// clamp(x / 6 + 1/2, 0, 1).
Tensor hard_sigmoid(const Tensor& x, Where where = Where::current());
// x clamp(x + 3, 0, 6) / 6 (Howard et al., 2019).
Tensor hard_swish(const Tensor& x, Where where = Where::current());
// `otherwise` if x <= above, else x. Also for integers.
Tensor threshold(const Tensor& x, Operand above, Operand otherwise, Where where = Where::current());
// x - tanh(x).
Tensor tanh_shrink(const Tensor& x, Where where = Where::current());
// Moves x toward 0 by the given distance: 0 if |x| is smaller.
Tensor soft_shrink(const Tensor& x, double by = 0.5, Where where = Where::current());

// a sigmoid(b), where a and b are the halves of x along the axis (Dauphin et al., 2017). The extent must be known to be even: a
// number, or a Symbol with {.multiple_of = 2}.
Tensor glu(const Tensor& x, int axis = -1, Where where = Where::current());
// silu(gate) up. Both have the same shape (Shazeer, GLU variants improve transformer, 2020).
Tensor swiglu(const Tensor& gate, const Tensor& up, Where where = Where::current());

}  // namespace ashlar::ops
