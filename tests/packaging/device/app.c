/* Two operators on the processor and on the first Vulkan device. Without a device it says why, and returns 0 all the same. */
#include <ashlar/runtime/runtime.h>
#include <ashlar/runtime/vulkan.h>
#include <stdio.h>
#include <string.h>

#include "mlp_up.h"
#include "turned.h"

enum { M = 17, K = 50, N = 37 }; /* no multiples of anything */

static float a[M][K], b[K][N], bias[N], c[M][N], found[M][N], turned_back[N][M];

static int said(const ashlar_error* error) {
  char text[300];
  ashlar_error_text(error, text, sizeof text);
  puts(text);
  return 1;
}

static ashlar_vulkan_buffer* on_device(ashlar_vulkan_queue* queue, const void* from, size_t bytes) {
  ashlar_vulkan_buffer* buffer = NULL;
  ashlar_error error = {0};
  if (ashlar_vulkan_alloc(queue, bytes, &buffer, &error) != ASHLAR_OK ||
      (from != NULL && ashlar_vulkan_upload(buffer, 0, from, bytes, &error) != ASHLAR_OK))
    said(&error);
  return buffer;
}

static ashlar_tensor of(ashlar_vulkan_buffer* buffer, int32_t rank, const int64_t* shape) {
  ashlar_tensor t = ashlar_dense(buffer, ASHLAR_F32, rank, shape);
  t.device_type = 7;
  return t;
}

int main(void) {
  const int64_t of_a[] = {M, K}, of_b[] = {K, N}, of_bias[] = {N}, of_c[] = {M, N}, of_turned[] = {N, M};
  int i, j, k;
  for (i = 0; i < M; ++i)
    for (k = 0; k < K; ++k) a[i][k] = (float)((7 * i + 3 * k) % 11 - 5);
  for (k = 0; k < K; ++k)
    for (j = 0; j < N; ++j) b[k][j] = (float)((5 * k + j) % 13 - 6);
  for (j = 0; j < N; ++j) bias[j] = (float)(j - 20);

  ashlar_tensor A = ashlar_dense(a, ASHLAR_F32, 2, of_a), B = ashlar_dense(b, ASHLAR_F32, 2, of_b),
                Bias = ashlar_dense(bias, ASHLAR_F32, 1, of_bias), C = ashlar_dense(c, ASHLAR_F32, 2, of_c);
  if (mlp_up(&A, &B, &Bias, &C) != ASHLAR_OK) return said(ashlar_last_error());
  for (i = 0; i < M; ++i)
    for (j = 0; j < N; ++j) {
      float sum = bias[j];
      for (k = 0; k < K; ++k) sum += a[i][k] * b[k][j];
      if (c[i][j] != (sum > 0 ? sum : 0)) return puts("wrong on the processor"), 1;
    }
  puts("the processor is right");
  if (turned(&C, &C) != ASHLAR_E_DEVICE) return 1;
  said(ashlar_last_error()); /* it has code for a device alone */

  ashlar_vulkan_queue* queue = NULL;
  ashlar_error error = {0};
  if (ashlar_vulkan_open(NULL, &queue, &error) != ASHLAR_OK) return said(&error), 0;
  ashlar_vulkan_buffer *da = on_device(queue, a, sizeof a), *db = on_device(queue, b, sizeof b),
                       *dbias = on_device(queue, bias, sizeof bias), *dc = on_device(queue, NULL, sizeof c),
                       *dturned = on_device(queue, NULL, sizeof c);
  ashlar_tensor TA = of(da, 2, of_a), TB = of(db, 2, of_b), TBias = of(dbias, 1, of_bias), TC = of(dc, 2, of_c),
                T = of(dturned, 2, of_turned);
  if (mlp_up(&TA, &TB, &TBias, &TC) != ASHLAR_OK || turned(&TC, &T) != ASHLAR_OK) return said(ashlar_last_error());
  if (ashlar_vulkan_download(dc, 0, found, sizeof found, &error) != ASHLAR_OK ||
      ashlar_vulkan_download(dturned, 0, turned_back, sizeof turned_back, &error) != ASHLAR_OK)
    return said(&error);
  if (memcmp(found, c, sizeof c) != 0) return puts("other bits on the device"), 1;
  for (i = 0; i < M; ++i)
    for (j = 0; j < N; ++j)
      if (turned_back[j][i] != c[i][j]) return puts("turned the wrong way"), 1;
  ashlar_vulkan_free(da), ashlar_vulkan_free(db), ashlar_vulkan_free(dbias), ashlar_vulkan_free(dc),
      ashlar_vulkan_free(dturned);
  ashlar_vulkan_close(queue);
  puts("the device is right");
  return 0;
}
