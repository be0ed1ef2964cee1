/* A C program that calls a generated library on a Vulkan device: no compiler, no Vulkan headers, no libvulkan linked. */
#include <ashlar/runtime/runtime.h>
#include <ashlar/runtime/vulkan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "add_bias.h"

enum { kRows = 3, kColumns = 100 };

static int failed(const ashlar_error* error) {
  char text[300];
  ashlar_error_text(error, text, sizeof text);
  fprintf(stderr, "%s: %s\n", ashlar_code_name(error->code), text);
  return 1;
}

/* 77 where there is no loader or driver: ctest shows that as skipped. With ASHLAR_REQUIRE_VULKAN that is a failure too. */
static int not_opened(const ashlar_error* error) {
  const char* require = getenv("ASHLAR_REQUIRE_VULKAN");
  char text[300];
  ashlar_error_text(error, text, sizeof text);
  const int absent = error->code == ASHLAR_E_DEVICE && strstr(text, ": no Vulkan ") != NULL;
  if (!absent || (require != NULL && *require != 0)) return failed(error);
  printf("skipped: vulkan_add_bias, %s\n", text);
  return 77;
}

int main(void) {
  static float x[kRows * kColumns], b[kColumns], y[kRows * kColumns];
  for (int k = 0; k < kRows * kColumns; ++k) x[k] = (float)k;
  for (int k = 0; k < kColumns; ++k) b[k] = 0.5f;

  int64_t matrix[] = {kRows, kColumns}, row[] = {kColumns};
  ashlar_tensor host = {x, 1, 0, 2, 2, 32, 1, matrix, NULL, 0};
  if (add_bias(&host, &host, &host) != ASHLAR_E_DEVICE) return 2; /* host memory */

  ashlar_error error = {0};
  ashlar_vulkan_queue* queue = NULL;
  if (ashlar_vulkan_open(NULL, &queue, &error) != ASHLAR_OK) return not_opened(&error);
  ashlar_vulkan_buffer *dx = NULL, *db = NULL, *dy = NULL;
  if (ashlar_vulkan_alloc(queue, sizeof x, &dx, &error) != ASHLAR_OK ||
      ashlar_vulkan_alloc(queue, sizeof b, &db, &error) != ASHLAR_OK ||
      ashlar_vulkan_alloc(queue, sizeof y, &dy, &error) != ASHLAR_OK)
    return failed(&error);
  if (ashlar_vulkan_upload(dx, 0, x, sizeof x, &error) != ASHLAR_OK ||
      ashlar_vulkan_upload(db, 0, b, sizeof b, &error) != ASHLAR_OK)
    return failed(&error);
  ashlar_tensor tx = {dx, 7, 0, 2, 2, 32, 1, matrix, NULL, 0}, tb = {db, 7, 0, 1, 2, 32, 1, row, NULL, 0},
                ty = {dy, 7, 0, 2, 2, 32, 1, matrix, NULL, 0};
  if (add_bias(&tx, &tb, &ty) != ASHLAR_OK) return failed(ashlar_last_error());
  if (ashlar_vulkan_download(dy, 0, y, sizeof y, &error) != ASHLAR_OK) return failed(&error);
  for (int k = 0; k < kRows * kColumns; ++k)
    if (y[k] != x[k] + 0.5f) return 3;
  ashlar_vulkan_free(dx), ashlar_vulkan_free(db), ashlar_vulkan_free(dy);
  ashlar_vulkan_close(queue);
  printf("add_bias on %d elements: as it should be\n", kRows * kColumns);
  return 0;
}
