/* Plain loops, in the order in which gcc -O3 makes vectors of them. */
#include <string.h>

#include "product.h"

#define PRODUCT(name, element, sum)                                                             \
  void name(const element* restrict a, const element* restrict b, sum* restrict c, int64_t n) { \
    memset(c, 0, sizeof(sum) * (size_t)(n * n));                                                \
    for (int64_t i = 0; i < n; ++i)                                                             \
      for (int64_t k = 0; k < n; ++k)                                                           \
        for (int64_t j = 0; j < n; ++j) c[i * n + j] += (sum)a[i * n + k] * (sum)b[k * n + j];  \
  }
PRODUCT(product_f32, float, float)
PRODUCT(product_s8, int8_t, int32_t)
