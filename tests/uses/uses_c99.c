#define _POSIX_C_SOURCE 200112L
/* A C99 program that calls generated kernels three ways: tensors, tensors with a context, plain pointers in a workspace. */
#include <ashlar/runtime/runtime.h>
#include <stdlib.h>
#include <string.h>

#include "blur.h"
#include "conv1d.h"
#include "matmul.h"

int dlpack_matmul(void); /* uses_dlpack.cpp */

static ashlar_tensor matrix(float* data, int64_t* shape) {
  ashlar_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data, t.device_type = 1, t.ndim = 2, t.type_code = 2, t.type_bits = 32, t.type_lanes = 1, t.shape = shape;
  return t;
}

static int plain_pointers(void) {
  uint8_t in[40 * 30], out[40 * 30], again[40 * 30];
  int64_t shape[] = {40, 30};
  blur_args args;
  ashlar_context ctx;
  ashlar_tensor x, y;
  size_t bytes;
  int i;
  for (i = 0; i < 40 * 30; ++i) in[i] = (uint8_t)(i * 37 % 251);
  memset(&args, 0, sizeof args);
  args.in = in, args.out = out, args.H = 40, args.W = 30; /* strides of zero: dense */
  memset(&ctx, 0, sizeof ctx);
  ctx.size = sizeof ctx;
  bytes = blur_workspace_bytes(&args, &ctx);
  if (bytes == 0) return 10;
  if (posix_memalign(&ctx.workspace, BLUR_WORKSPACE_ALIGN, bytes) != 0) return 11;
  ctx.workspace_bytes = bytes;
  if (blur_run(&args, &ctx) != ASHLAR_OK) return 12;
  free(ctx.workspace);
  memset(&x, 0, sizeof x);
  x.data = in, x.device_type = 1, x.ndim = 2, x.type_code = 1, x.type_bits = 8, x.type_lanes = 1, x.shape = shape;
  y = x, y.data = again;
  if (blur(&x, &y) != ASHLAR_OK) return 13;
  return memcmp(out, again, sizeof out) == 0 ? 0 : 14;
}

int main(void) {
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, c[4] = {0, 0, 0, 0};
  const float expected[4] = {4, 5, 10, 11};
  int64_t sa[] = {2, 3}, sb[] = {3, 2}, sc[] = {2, 2};
  ashlar_tensor A = matrix(a, sa), B = matrix(b, sb), C = matrix(c, sc);
  ashlar_error why;
  ashlar_context ctx;
  char text[200];
  if (matmul(&A, &B, &C) != ASHLAR_OK || memcmp(c, expected, sizeof c) != 0) return 1;
  memset(&ctx, 0, sizeof ctx);
  memset(&why, 0, sizeof why);
  ctx.size = sizeof ctx, ctx.error = &why;
  A.type_bits = 64;
  if (matmul_with(&A, &B, &C, &ctx) != ASHLAR_E_TYPE || why.argument != 0) return 2;
  ashlar_error_text(&why, text, sizeof text);
  if (strstr(text, "A") == NULL) return 3;
  if (dlpack_matmul() != 0) return 4;
  return plain_pointers();
}
