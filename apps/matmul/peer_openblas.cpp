#include <cblas.h>

#include <algorithm>

#include "apps/matmul/peers.h"

namespace peers {

void openblas(const Problem& p, int threads) {
  openblas_set_num_threads(threads);
  const auto m = static_cast<blasint>(p.M), n = static_cast<blasint>(p.N), k = static_cast<blasint>(p.K);
  for (std::int64_t i = 0; i < p.M; ++i) std::copy_n(p.bias, p.N, p.C + i * p.N);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, p.A, k, p.B, n, 1.0f, p.C, n);
  for (std::int64_t e = 0; e < p.M * p.N; ++e) p.C[e] = std::max(p.C[e], 0.0f);
}

}  // namespace peers
