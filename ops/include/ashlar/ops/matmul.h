// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Products of matrices. Floats are summed in accumulator(type) and come back in their own; products of integers stay in i32
// (quantized.h scales them). The sum is over the innermost axis, k, and accumulates by fma.
//
//   auto y = ops::dense(x, W, b);                                s[y.sum].tile(...)
//   auto scores = ops::batch_matmul(q, k, {.transpose_b = true});
#include <ashlar/ops/common.h>

namespace ashlar::ops {

struct Product {
  Tensor sum;     // in the accumulator; the bias is what it starts from
  Tensor result;  // in the type of the operands; the same tensor where that is the accumulator, or it is of integers
  operator Tensor() const { return result; }
};

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;  // the last two dimensions: A is [K, M], B is [N, K]
};

namespace detail {

// The operands have the ranks, A at least 2; dimensions before the last two are batches, which broadcast. Without B's last
// dimension (a vector) it is [K].
Product product(const char* op, const char* a_name, const Tensor& A, const char* b_name, const Tensor& B,
                const MatmulOptions& o, const Tensor& bias, Where where);

}  // namespace detail

// C(i, j) = sum of A(i, k) B(k, j). A: [M, K], B: [K, N], C: [M, N].
Product matmul(const Tensor& A, const Tensor& B, const MatmulOptions& o = {}, Where where = Where::current());
// The same for every batch. A: [..., M, K], B: [..., K, N]; the dimensions in front broadcast.
Product batch_matmul(const Tensor& A, const Tensor& B, const MatmulOptions& o = {}, Where where = Where::current());
// y = x W + bias. x: [..., I], W: [I, O], bias: [O] or Tensor(), y: [..., O]. With {.transpose_b = true} W is [O, I], as
// PyTorch keeps it. The bias has the type of x, or of the accumulator.
Product dense(const Tensor& x, const Tensor& W, const Tensor& bias = Tensor(), const MatmulOptions& o = {},
              Where where = Where::current());
// y(i) = sum of A(i, k) x(k). A: [M, K], or [K, M] with transpose_a; x: [K].
Product gemv(const Tensor& A, const Tensor& x, const MatmulOptions& o = {}, Where where = Where::current());
// alpha A B + beta C, C: [M, N] or what broadcasts to it; alpha and beta numbers or Scalars. Floats.
struct Gemm {
  Tensor sum, result;
  operator Tensor() const { return result; }
};
Gemm gemm(const Tensor& A, const Tensor& B, const Tensor& C, Operand alpha = 1, Operand beta = 1, const MatmulOptions& o = {},
          Where where = Where::current());

}  // namespace ashlar::ops
