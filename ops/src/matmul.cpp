// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ops/matmul.h>

namespace ashlar::ops {

namespace detail {

Product product(const char* op, const char* a_name, const Tensor& A, const char* b_name, const Tensor& B,
                const MatmulOptions& o, const Tensor& bias, Where where) {
  expect_numbers(op, a_name, A, where);
  expect_same_type(op, a_name, A, b_name, B, where);
  expect_beside(op, "bias", bias, A.type(where), where);
  const int ra = A.rank(where), rb = B.rank(where);
  const int m = ra - (o.transpose_a ? 1 : 2), ka = ra - (o.transpose_a ? 2 : 1);
  const int n = rb - (o.transpose_b ? 2 : 1), kb = rb - (o.transpose_b ? 1 : 2);
  const Expr K = A.extent(ka, where);
  expect_extent(op, b_name, B, kb, K, (std::string("as dimension ") + std::to_string(ka) + " of " + a_name + " has").c_str(),
                where);
  if (!bias.empty()) expect_shape(op, "bias", bias, {B.extent(n, where)}, "the columns of the product", where);

  // batches, aligned at the right
  const int batches = std::max(ra, rb) - 2;
  const auto batch_dim = [&](int rank, int d) { return d - (batches - (rank - 2)); };  // negative: not there
  std::vector<Extent> shape;
  for (int d = 0; d < batches; ++d) {
    const int da = batch_dim(ra, d), db = batch_dim(rb, d);
    const Expr a = da < 0 ? ir::index(1) : A.extent(da, where), b = db < 0 ? ir::index(1) : B.extent(db, where);
    const bool one_a = ir::is_int(a, std::int64_t{1}), one_b = ir::is_int(b, std::int64_t{1});
    if (!one_a && !one_b && !same_extent(a, b))
      refuse(op,
             std::string(b_name) + " whose dimension " + std::to_string(db) + " has the extent " + ir::text(a) +
                 " or the number 1",
             ir::text(b), where);
    shape.emplace_back("b", one_a ? b : a);
  }
  shape.emplace_back("i", A.extent(m, where));
  shape.emplace_back("j", B.extent(n, where));

  const Type type = A.type(where), wide = accumulator(type);
  const Axis k{"k", Operand(K, where), where};
  const auto element = [&](const Tensor& t, int rank, const Indices& i, int row, const Expr& at_row, const Expr& at_column) {
    Indices at;
    for (int d = 0; d < batches; ++d) {
      const int own = batch_dim(rank, d);
      if (own >= 0) Access::append(at, ir::is_int(t.extent(own, where), std::int64_t{1}) ? ir::index(0) : i[d]);
    }
    Access::append(at, row == rank - 2 ? at_row : at_column);
    Access::append(at, row == rank - 2 ? at_column : at_row);
    return wide(Operand(t(at, where), where));
  };
  Product p;
  p.sum = compute(
      op, Shape::of(std::move(shape), where),
      [&](Indices i) {
        const Expr a = element(A, ra, i, m, i[batches], k), b = element(B, rb, i, kb, k, i[batches + 1]);
        const Reduction<> total = ashlar::sum(a * b, k, where);
        return bias.empty() ? total : total.from(Operand(wide(bias(i[batches + 1])), where));
      },
      where);
  p.result = type.is_float() ? converted(op, p.sum, type, where) : p.sum;
  return p;
}

}  // namespace detail

Product matmul(const Tensor& A, const Tensor& B, const MatmulOptions& o, Where where) {
  detail::expect_rank("matmul", "A", A, 2, where);
  detail::expect_rank("matmul", "B", B, 2, where);
  return detail::product("matmul", "A", A, "B", B, o, Tensor(), where);
}
Product batch_matmul(const Tensor& A, const Tensor& B, const MatmulOptions& o, Where where) {
  detail::expect_rank_from("batch_matmul", "A", A, 2, where);
  detail::expect_rank_from("batch_matmul", "B", B, 2, where);
  return detail::product("batch_matmul", "A", A, "B", B, o, Tensor(), where);
}
Product dense(const Tensor& x, const Tensor& W, const Tensor& bias, const MatmulOptions& o, Where where) {
  detail::expect_rank_from("dense", "x", x, 2, where);
  detail::expect_rank("dense", "W", W, 2, where);
  detail::expect(!o.transpose_a, "dense", "x as it is: transpose it by ops::transpose", "transpose_a", where);
  return detail::product("dense", "x", x, "W", W, o, bias, where);
}
Product gemv(const Tensor& A, const Tensor& x, const MatmulOptions& o, Where where) {
  detail::expect_rank("gemv", "A", A, 2, where);
  detail::expect_rank("gemv", "x", x, 1, where);
  detail::expect_numbers("gemv", "A", A, where);
  detail::expect_same_type("gemv", "A", A, "x", x, where);
  const int m = o.transpose_a ? 1 : 0;
  detail::expect_extent("gemv", "x", x, 0, A.extent(1 - m, where), "the columns of A", where);
  const Type type = A.type(where), wide = accumulator(type);
  const Axis k{"k", Operand(A.extent(1 - m, where), where), where};
  Product p;
  p.sum = compute(
      "gemv", {Extent("i", A.extent(m, where))},
      [&](Var i) { return sum(wide(m == 0 ? A(i, k) : A(k, i)) * wide(x(k)), k, where); }, where);
  p.result = type.is_float() ? detail::converted("gemv", p.sum, type, where) : p.sum;
  return p;
}
Gemm gemm(const Tensor& A, const Tensor& B, const Tensor& C, Operand alpha, Operand beta, const MatmulOptions& o, Where where) {
  detail::expect_float("gemm", "A", A, where);
  detail::expect_rank("gemm", "A", A, 2, where);
  detail::expect_rank("gemm", "B", B, 2, where);
  detail::expect_same_type("gemm", "A", A, "C", C, where);
  const Tensor AB = detail::product("gemm", "A", A, "B", B, o, Tensor(), where).sum;
  detail::expect_broadcast("gemm", "C", C, "A B", AB, where);
  const Type type = A.type(where), wide = accumulator(type);
  const Tensor result = compute(
      "gemm", AB.shape(where),
      [&](Indices i) { return type(AB(i, where) * alpha + wide(detail::aligned(C, i, where)) * beta); }, where);
  return {AB, result};
}

}  // namespace ashlar::ops
