/* The generated product, by its plain entry. */
#include <stdio.h>
#include <stdlib.h>

#include "matmul.h"
#include "product.h"

#ifdef F32
void product_f32(const float* a, const float* b, float* c, int64_t n) {
#else
void product_s8(const int8_t* a, const int8_t* b, int32_t* c, int64_t n) {
#endif
  static void* workspace;
  static size_t bytes;
  const matmul_args args = {.A = a, .B = b, .C = c, .M = n, .K = n, .N = n};
  if (workspace == NULL) {
    bytes = matmul_workspace_bytes(&args, NULL);
    workspace = aligned_alloc(MATMUL_WORKSPACE_ALIGN,
                              (bytes + MATMUL_WORKSPACE_ALIGN - 1) / MATMUL_WORKSPACE_ALIGN * MATMUL_WORKSPACE_ALIGN);
  }
  ashlar_error error = {0};
  const ashlar_context context = {.size = sizeof context, .workspace = workspace, .workspace_bytes = bytes, .error = &error};
  if (matmul_run(&args, &context) == ASHLAR_OK) return;
  fprintf(stderr, "matmul_run: %s\n", error.what);
  exit(1);
}
