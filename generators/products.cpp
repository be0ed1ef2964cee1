// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices.
#include "generators/chain.h"

namespace ashlar::generators {

namespace {

// The parameters that all of them have, in the order of --help.
class ProductOp : public ChainedOp {
 protected:
  const Param<Type> type =
      type_param(Kind::numbers, "type", "type of the operands; sums of integers have type i32, or their own if that is wider");
  Extents extents;

  std::vector<Extent> matrix(const Expr& rows, const Expr& columns, bool transposed) {
    return transposed ? std::vector<Extent>{columns, rows} : std::vector<Extent>{rows, columns};
  }
};

class Matmul : public ProductOp {
 public:
  Matmul() {
    const Expr M = extents["M"], N = extents["N"], K = extents["K"];
    const Param<bool> transpose_a{"transpose_a", false, "A is [K, M]"}, transpose_b{"transpose_b", false, "B is [N, K]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor A = input("A", type, matrix(M, K, transpose_a)), B = input("B", type, matrix(K, N, transpose_b));
    const ops::Product p = ops::matmul(apply(prologue, A), B, {.transpose_a = transpose_a, .transpose_b = transpose_b});
    output("C", finish(epilogue, p.sum, p.result, {type, {1}}));
  }
};
ASHLAR_GENERATOR(Matmul, "matmul", "products", "C = A B; A [M, K], B [K, N]");

class BatchMatmul : public ProductOp {
 public:
  BatchMatmul() {
    const std::vector<Extent> batch_a = extents.shape("batch_a", "B", "batches of A; an extent of 1 broadcasts", 0, 4),
                              batch_b = extents.shape("batch_b", extents.written("batch_a").c_str(),
                                                      "batches of B; left out: those of A", 0, 4);
    const Expr M = extents["M"], N = extents["N"], K = extents["K"];
    const Param<bool> transpose_a{"transpose_a", false, "A is [.., K, M]"},
        transpose_b{"transpose_b", false, "B is [.., N, K]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const auto in = [&](const char* name, std::vector<Extent> shape, const std::vector<Extent>& last) {
      shape.insert(shape.end(), last.begin(), last.end());
      return input(name, type, shape);
    };
    const Tensor A = in("A", batch_a, matrix(M, K, transpose_a)), B = in("B", batch_b, matrix(K, N, transpose_b));
    const ops::Product p = decided_by("batch_b", [&] {
      return ops::batch_matmul(apply(prologue, A), B, {.transpose_a = transpose_a, .transpose_b = transpose_b});
    });
    output("C", finish(epilogue, p.sum, p.result, {type, {p.result.rank() - 1}}));
  }
};
ASHLAR_GENERATOR(BatchMatmul, "batch_matmul", "products", "C(b) = A(b) B(b); A [B, M, K], B [B, K, N]");

class Dense : public ProductOp {
 public:
  Dense() {
    std::vector<Extent> shape = extents.shape("rows", "M", "shape of x without its last extent, I", 1, 6);
    const Expr I = extents["I"], O = extents["O"];
    const Param<bool> transpose_b{"transpose_b", false, "W is [O, I], as in PyTorch"},
        with_bias{"bias", true, "add a bias [O]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    shape.emplace_back(I);
    const Tensor x = input("x", type, shape), W = input("W", type, matrix(I, O, transpose_b));
    const Tensor bias = with_bias ? input("b", type, {O}) : Tensor();
    const ops::Product p = ops::dense(apply(prologue, x), W, bias, {.transpose_b = transpose_b});
    output("y", finish(epilogue, p.sum, p.result, {type, {x.rank() - 1}}));
  }
};
ASHLAR_GENERATOR(Dense, "dense", "products", "y = x W + b; x [M, I], W [I, O], b [O]");

class Gemv : public ProductOp {
 public:
  Gemv() {
    const Expr M = extents["M"], K = extents["K"];
    const Param<bool> transpose_a{"transpose_a", false, "A is [K, M]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor A = input("A", type, matrix(M, K, transpose_a)), x = input("x", type, {K});
    const ops::Product p = ops::gemv(apply(prologue, A), x, {.transpose_a = transpose_a});
    output("y", finish(epilogue, p.sum, p.result, {type, {0}}));
  }
};
ASHLAR_GENERATOR(Gemv, "gemv", "products", "y = A x; A [M, K], x [K]");

class Gemm : public ChainedOp {
 public:
  Gemm() {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const Expr M = extents["M"], N = extents["N"], K = extents["K"];
    const std::vector<Extent> of_c = extents.shape("c", "M,N", "shape of C, which broadcasts to the product", 0, 2);
    const Param<bool> transpose_a{"transpose_a", false, "A is [K, M]"}, transpose_b{"transpose_b", false, "B is [N, K]"};
    const Chain prologue(Chain::Place::prologue), epilogue(Chain::Place::epilogue);
    const Tensor A = input("A", type, transpose_a ? std::vector<Extent>{K, M} : std::vector<Extent>{M, K}),
                 B = input("B", type, transpose_b ? std::vector<Extent>{N, K} : std::vector<Extent>{K, N}),
                 C = input("C", type, of_c);
    const Expr alpha = scalar("alpha", ops::accumulator(type)), beta = scalar("beta", ops::accumulator(type));
    const Tensor D = decided_by("c", [&] {
      return ops::gemm(apply(prologue, A), B, C, alpha, beta, {.transpose_a = transpose_a, .transpose_b = transpose_b});
    });
    output("D", finish(epilogue, D, D, {type, {D.rank() - 1}}));
  }
};
ASHLAR_GENERATOR(Gemm, "gemm", "products", "D = alpha A B + beta C; A [M, K], B [K, N]");

}  // namespace

}  // namespace ashlar::generators
