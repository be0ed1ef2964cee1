#include <Eigen/Dense>

#include "bench/peers.h"

namespace bench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

void eigen_threads(int threads) { Eigen::setNbThreads(threads); }

void eigen_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K) {
  Eigen::Map<Matrix>(C, M, N).noalias() = Eigen::Map<const Matrix>(A, M, K) * Eigen::Map<const Matrix>(B, K, N);
}

#define BENCH_TEXT_(x) #x
#define BENCH_TEXT(x) BENCH_TEXT_(x)
const char* eigen_about() {
  return "Eigen " BENCH_TEXT(EIGEN_WORLD_VERSION) "." BENCH_TEXT(EIGEN_MAJOR_VERSION) "." BENCH_TEXT(EIGEN_MINOR_VERSION);
}

}  // namespace bench
