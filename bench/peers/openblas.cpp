#include <cblas.h>

#include <string>

#include "bench/peers/peers.h"

namespace bench {

void openblas_threads(int threads) { openblas_set_num_threads(threads); }

void openblas_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K) {
  const auto m = static_cast<blasint>(M), n = static_cast<blasint>(N), k = static_cast<blasint>(K);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, A, k, B, n, 0.0f, C, n);
}

const char* openblas_about() {
  static const std::string text = std::string(openblas_get_config()) + " on " + openblas_get_corename();
  return text.c_str();
}

}  // namespace bench
