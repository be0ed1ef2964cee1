/* The accelerator of i_accelerator.cpp, on the host. A copy is done when it is waited for: until then its tile holds nothing of
   use, so that a missing wait shows. */
#include "npu.h"

#include <string.h>

static struct {
  int8_t* to;
  const int8_t* from;
  int64_t rows, columns, stride;
} pending[8];
static int32_t issued, waited;
npu_counters npu_count;

int32_t npu_dma_2d(int8_t* to, const int8_t* from, int64_t rows, int64_t columns, int64_t stride) {
  const int32_t token = issued++;
  pending[token % 8].to = to;
  pending[token % 8].from = from;
  pending[token % 8].rows = rows;
  pending[token % 8].columns = columns;
  pending[token % 8].stride = stride;
  memset(to, 0x55, (size_t)(rows * columns));
  ++npu_count.copies;
  return token;
}

void npu_wait(int32_t token) {
  for (; waited <= token; ++waited)
    for (int64_t r = 0; r < pending[waited % 8].rows; ++r)
      memcpy(pending[waited % 8].to + r * pending[waited % 8].columns,
             pending[waited % 8].from + r * pending[waited % 8].stride, (size_t)pending[waited % 8].columns);
  ++npu_count.waits;
}

void npu_gemm16(int32_t* c, const int8_t* a, const int8_t* b, int32_t zero) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      for (int k = 0; k < 16; ++k) c[i * 16 + j] += (a[i * 16 + k] - zero) * b[k * 16 + j];
  ++npu_count.products;
}
