// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Activations, elementwise, of floating types; each is one stage of the shape of x. They are computed in accumulator(type) and
// rounded to the type of x once; bounds of errors are those of the math functions they are made of (docs/ir.md). Where a NaN
// goes in, a NaN comes out.
//
//   Tensor y = ops::gelu(ops::dense(x, w, b), ops::Gelu::tanh);
#include <limits>
#include <ashlar/ops/common.h>

namespace ashlar::ops {

Tensor relu(const Tensor& x, Where where = Where::current());
Tensor relu6(const Tensor& x, Where where = Where::current());
// x where x > 0, else slope x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01, Where where = Where::current());
// The same with a slope for each element; slope: broadcast against x, [C, 1, 1] for a channel of NCHW.
Tensor prelu(const Tensor& x, const Tensor& slope, Where where = Where::current());
// x where x > 0, else alpha (exp(x) - 1) (Clevert, Unterthiner and Hochreiter, 2016).
Tensor elu(const Tensor& x, double alpha = 1, Where where = Where::current());
// max(x, 0) + min(alpha (exp(x / alpha) - 1), 0) (Barron, 2017).
Tensor celu(const Tensor& x, double alpha = 1, Where where = Where::current());
// scale elu(x), the constants of Klambauer et al., Self-normalizing neural networks, 2017.
Tensor selu(const Tensor& x, Where where = Where::current());
// x P(X <= x) for a normal X (Hendrycks and Gimpel, 2016): exact, x / 2 (1 + erf(x / sqrt 2)), the error of which is a few
// units of x / 2, also where the result is near 0; or by tanh, x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))); or tail, x /
// 2 erfc(-x / sqrt 2), which keeps its relative error in the left tail and takes several times as long. Of minus infinity NaN,
// as in PyTorch.
enum class Gelu { exact, tanh, tail };
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact, Where where = Where::current());
// x sigmoid(beta x): SiLU for beta = 1, else Swish (Ramachandran, Zoph and Le, 2017).
Tensor silu(const Tensor& x, double beta = 1, Where where = Where::current());
// log(1 + exp(beta x)) / beta, as max(x, 0) + log(1 + exp(-|beta x|)) / beta, which does not overflow.
Tensor softplus(const Tensor& x, double beta = 1, Where where = Where::current());
Tensor log_sigmoid(const Tensor& x, Where where = Where::current());
Tensor mish(const Tensor& x, Where where = Where::current());
Tensor softsign(const Tensor& x, Where where = Where::current());
Tensor hard_tanh(const Tensor& x, double low = -1, double high = 1, Where where = Where::current());
Tensor hard_sigmoid(const Tensor& x, Where where = Where::current());
Tensor hard_swish(const Tensor& x, Where where = Where::current());
// x where x > above, else otherwise; integers too.
Tensor threshold(const Tensor& x, Operand above, Operand otherwise, Where where = Where::current());
Tensor tanh_shrink(const Tensor& x, Where where = Where::current());
Tensor soft_shrink(const Tensor& x, double by = 0.5, Where where = Where::current());

// a sigmoid(b), a and b the halves of x along the axis (Dauphin et al., 2017). The extent is even, as its number or the
// multiple_of of its Symbol shows.
Tensor glu(const Tensor& x, int axis = -1, Where where = Where::current());
// silu(gate) up, of one shape (Shazeer, GLU variants improve transformer, 2020).
Tensor swiglu(const Tensor& gate, const Tensor& up, Where where = Where::current());

}  // namespace ashlar::ops
