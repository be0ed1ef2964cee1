#include <cblas.h>

#include "bench/peers/memory.h"

namespace bench {

Prepared openblas_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  const auto m = static_cast<blasint>(rows), n = static_cast<blasint>(columns);
  return {[=] { cblas_somatcopy(CblasRowMajor, CblasTrans, m, n, 1.0f, x, n, y, m); }, "somatcopy"};
}

}  // namespace bench
