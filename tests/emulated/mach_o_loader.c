/* Runs kernels of a Mach-O library on Linux: mach_o_loader IMAGE BASE ADDRESS... The image is the library as it lies in memory
 * from the address BASE on; the addresses are those of soft_run, soft_workspace_bytes, product_run and
 * product_workspace_bytes. Both systems call functions in the same way on these processors. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "product.h"
#include "soft.h"

enum { M = 7, N = 515, K = 130 };

static void* with_workspace(ashlar_context* context, size_t bytes) {
  void* block = aligned_alloc(64, bytes / 64 * 64 + 64);
  context->size = sizeof *context;
  context->workspace = block;
  context->workspace_bytes = bytes;
  return block;
}

static int check_softmax(int (*run)(const soft_args*, const ashlar_context*),
                         size_t (*bytes)(const soft_args*, const ashlar_context*)) {
  static float x[M][N], y[M][N];
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) x[i][j] = (float)((i * 37 + j * 11) % 101) / 16;
  const soft_args args = {.x = &x[0][0], .y = &y[0][0], .M = M, .N = N};
  ashlar_context context = {0};
  void* block = with_workspace(&context, bytes(&args, NULL));
  const int rc = run(&args, &context);
  free(block);
  if (rc != ASHLAR_OK) return rc;
  for (int i = 0; i < M; ++i) {
    double sum = 0;
    for (int j = 0; j < N; ++j) sum += exp(x[i][j]);
    for (int j = 0; j < N; ++j)
      if (fabs(y[i][j] - exp(x[i][j]) / sum) > 1e-6) return 1;
  }
  return 0;
}

static int check_product(int (*run)(const product_args*, const ashlar_context*),
                         size_t (*bytes)(const product_args*, const ashlar_context*)) {
  static int8_t a[M][K], b[K][N];
  static int32_t c[M][N];
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) a[i][k] = (int8_t)(i * 91 + k * 57);
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) b[k][j] = (int8_t)(k * 29 + j * 83);
  const product_args args = {.A = &a[0][0], .B = &b[0][0], .C = &c[0][0], .M = M, .N = N, .K = K};
  ashlar_context context = {0};
  void* block = with_workspace(&context, bytes(&args, NULL));
  const int rc = run(&args, &context);
  free(block);
  if (rc != ASHLAR_OK) return rc;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < K; ++k) sum += a[i][k] * b[k][j];
      if (c[i][j] != sum) return 1;
    }
  return 0;
}

int main(int count, char** words) {
  if (count != 7) return 64;
  uintptr_t at[5];
  for (int k = 0; k < 5; ++k) at[k] = (uintptr_t)strtoull(words[k + 2], NULL, 16);
  const int file = open(words[1], O_RDONLY);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0) return 65;
  if (mmap((void*)at[0], (size_t)facts.st_size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) ==
      MAP_FAILED)
    return 66;
  const int soft = check_softmax((int (*)(const soft_args*, const ashlar_context*))at[1],
                                 (size_t (*)(const soft_args*, const ashlar_context*))at[2]);
  const int product = check_product((int (*)(const product_args*, const ashlar_context*))at[3],
                                    (size_t (*)(const product_args*, const ashlar_context*))at[4]);
  printf("softmax %d, product %d\n", soft, product);
  return soft != 0 || product != 0;
}
