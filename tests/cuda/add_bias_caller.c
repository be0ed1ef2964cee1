/* A C program that calls a generated library for a CUDA device: no compiler, no CUDA headers, no libcuda linked. The test runs
 * it on the stand-in driver, which takes any memory for a device's and runs no kernel. */
#include <ashlar/runtime/runtime.h>
#include <stdio.h>

#include "add_bias.h"

int main(void) {
  static float x[300], b[100], y[300];
  int64_t matrix[] = {3, 100}, row[] = {100};
  ashlar_tensor host = {x, 1, 0, 2, 2, 32, 1, matrix, NULL, 0};
  printf("host memory: %s\n", ashlar_code_name(add_bias(&host, &host, &host)));
  ashlar_tensor tx = {x, 2, 0, 2, 2, 32, 1, matrix, NULL, 0}, tb = {b, 2, 0, 1, 2, 32, 1, row, NULL, 0},
                ty = {y, 2, 0, 2, 2, 32, 1, matrix, NULL, 0};
  const ashlar_context context = {.size = sizeof context};
  if (add_bias_prepare(&tx, &tb, &ty, &context) != ASHLAR_OK) return 2;
  const int code = add_bias(&tx, &tb, &ty);
  char text[300];
  if (code != ASHLAR_OK) ashlar_error_text(ashlar_last_error(), text, sizeof text), fprintf(stderr, "%s\n", text);
  printf("add_bias: %s\n", ashlar_code_name(code));
  return code != ASHLAR_OK;
}
