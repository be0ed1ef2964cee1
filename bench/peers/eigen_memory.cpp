#include <Eigen/Dense>

#include <cmath>

#include "bench/peers/memory.h"

namespace bench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

// A row after the other, so that it stays in the cache.
Prepared eigen_softmax(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  return {[=] {
            const Eigen::Map<const Rows> from(x, rows, columns);
            Eigen::Map<Rows> to(y, rows, columns);
            for (std::int64_t r = 0; r < rows; ++r) {
              to.row(r) = (from.row(r) - from.row(r).maxCoeff()).exp();
              to.row(r) *= 1 / to.row(r).sum();
            }
          },
          "maxCoeff, exp, sum"};
}

Prepared eigen_layer_norm(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows,
                          std::int64_t columns, float epsilon) {
  return {[=] {
            const Eigen::Map<const Rows> from(x, rows, columns);
            const Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>> a(scale, columns), b(shift, columns);
            Eigen::Map<Rows> to(y, rows, columns);
            for (std::int64_t r = 0; r < rows; ++r) {
              const float mean = from.row(r).mean();
              const float variance = (from.row(r) - mean).square().mean();
              to.row(r) = (from.row(r) - mean) * (1 / std::sqrt(variance + epsilon)) * a + b;
            }
          },
          "mean, square, mean"};
}

Prepared eigen_sum(const float* x, float* y, std::int64_t n) {
  return {[=] { *y = Eigen::Map<const Eigen::VectorXf>(x, n).sum(); }, "sum"};
}

Prepared eigen_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  return {[=] { Eigen::Map<Matrix>(y, columns, rows).noalias() = Eigen::Map<const Matrix>(x, rows, columns).transpose(); },
          "transpose"};
}

}  // namespace bench
