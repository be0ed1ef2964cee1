#include <Eigen/Dense>

#include <cmath>

#include "bench/peers/peers.h"

namespace bench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

void eigen_threads(int threads) { Eigen::setNbThreads(threads); }

void eigen_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K) {
  Eigen::Map<Matrix>(C, M, N).noalias() = Eigen::Map<const Matrix>(A, M, K) * Eigen::Map<const Matrix>(B, K, N);
}

void eigen_attention(const float* q, const float* k, const float* v, float* y, std::int64_t heads, std::int64_t queries,
                     std::int64_t length, std::int64_t D) {
  static Matrix scores;  // kept from call to call
  const float scale = 1 / std::sqrt(static_cast<float>(D));
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::int64_t at = h * length * D, row = h * queries * D;
    const Eigen::Map<const Matrix> Q(q + row, queries, D), K(k + at, length, D), V(v + at, length, D);
    scores.noalias() = Q * K.transpose();
    for (std::int64_t i = 0; i < queries; ++i) {
      auto scored = scores.row(i).array();
      scored = ((scored - scored.maxCoeff()) * scale).exp();
      scored /= scored.sum();
    }
    Eigen::Map<Matrix>(y + row, queries, D).noalias() = scores * V;
  }
}

#define BENCH_TEXT_(x) #x
#define BENCH_TEXT(x) BENCH_TEXT_(x)
const char* eigen_about() {
  return "Eigen " BENCH_TEXT(EIGEN_WORLD_VERSION) "." BENCH_TEXT(EIGEN_MAJOR_VERSION) "." BENCH_TEXT(EIGEN_MINOR_VERSION);
}

}  // namespace bench
