// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Matrix multiplications. Floats are summed in accumulator(type), and the result has the operands' type. Sums of integers stay
// in the accumulator (quantized.h rescales them). The sum over k, the innermost axis, uses fma.
//
//   auto y = ops::dense(x, W, b);                                s[y.sum].tile(...)
//   auto scores = ops::batch_matmul(q, k, {.transpose_b = true});
#include <ashlar/ops/common.h>

namespace ashlar::ops {

struct Product {
  Tensor sum;     // in the accumulator; starts from the bias
  Tensor result;  // in the type of the operands; the same tensor as `sum` for integers, or if the types are equal
  operator Tensor() const { return result; }
};

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;  // swaps the last two dimensions: A is [K, M], B is [N, K]
};

namespace detail {

// The operands must have the required ranks, A at least 2. Dimensions before the last two are batch dimensions, which
// broadcast. A vector B is [K].
Product product(const char* op, const char* a_name, const Tensor& A, const char* b_name, const Tensor& B,
                const MatmulOptions& o, const Tensor& bias, Where where);

}  // namespace detail

// C(i, j) = sum of A(i, k) B(k, j). A: [M, K], B: [K, N], C: [M, N].
Product matmul(const Tensor& A, const Tensor& B, const MatmulOptions& o = {}, Where where = Where::current());
// The same for every batch. A: [..., M, K], B: [..., K, N]; the leading dimensions broadcast.
Product batch_matmul(const Tensor& A, const Tensor& B, const MatmulOptions& o = {}, Where where = Where::current());
// y = x W + bias. x: [..., I], W: [I, O], bias: [O] or Tensor(), y: [..., O]. With {.transpose_b = true}, W is [O, I], as in
// PyTorch. The bias has the type of x, or of the accumulator.
Product dense(const Tensor& x, const Tensor& W, const Tensor& bias = Tensor(), const MatmulOptions& o = {},
              Where where = Where::current());
// y(i) = sum of A(i, k) x(k). A: [M, K], or [K, M] with transpose_a; x: [K].
Product gemv(const Tensor& A, const Tensor& x, const MatmulOptions& o = {}, Where where = Where::current());
// alpha A B + beta C. C: [M, N], or a shape that broadcasts to it. alpha and beta are numbers or Scalars. Floats.
struct Gemm {
  Tensor sum, result;
  operator Tensor() const { return result; }
};
Gemm gemm(const Tensor& A, const Tensor& B, const Tensor& C, Operand alpha = 1, Operand beta = 1, const MatmulOptions& o = {},
          Where where = Where::current());

}  // namespace ashlar::ops
