/* A C program with one library for processors, CUDA and Vulkan. Tensors in managed memory call the CUDA variant; the test names
 * a driver that cannot be used, and the processor's variant runs where the context allows it, on the same memory. */
#include <stdio.h>
#include <string.h>

#include <ashlar/runtime/runtime.h>
#include <which.h>

enum { kRows = 3, kColumns = 70, kHost = 1, kManaged = 13 };

static int32_t x[kRows * kColumns], y[kRows * kColumns];

static int is_filled(void) { /* y = 2 x + the number of a processor's variant, 1 .. 5 */
  for (int k = 0; k < kRows * kColumns; ++k)
    if (y[k] != 2 * k + y[0]) return 0;
  return y[0] >= 1 && y[0] <= 5;
}

static int is_untouched(void) {
  for (int k = 0; k < kRows * kColumns; ++k)
    if (y[k] != -1) return 0;
  return 1;
}

static const char* text_of(const ashlar_error* error) {
  static char text[400];
  const int at = snprintf(text, sizeof text, "%s ", ashlar_code_name(error->code));
  ashlar_error_text(error, text + at, sizeof text - (size_t)at);
  return text;
}

int main(void) {
  int64_t shape[2] = {kRows, kColumns};
  ashlar_tensor X, Y;
  ashlar_error error;
  ashlar_context context;
  memset(&X, 0, sizeof X), memset(&context, 0, sizeof context);
  for (int k = 0; k < kRows * kColumns; ++k) x[k] = k, y[k] = -1;
  X.data = x, X.device_type = kHost, X.ndim = 2, X.type_bits = 32, X.type_lanes = 1, X.shape = shape;
  Y = X, Y.data = y;
  context.size = sizeof context, context.error = &error;

  int rc = which(&X, &Y);
  printf("host: %s\n", rc == ASHLAR_OK && is_filled() ? "right" : rc != ASHLAR_OK ? text_of(ashlar_last_error()) : "wrong");

  X.device_type = Y.device_type = kManaged;
  for (int k = 0; k < kRows * kColumns; ++k) y[k] = -1;
  rc = which_with(&X, &Y, &context);
  printf("managed: %s; %s\n", rc != ASHLAR_OK && rc == error.code ? text_of(&error) : "no error",
         is_untouched() ? "nothing written" : "written");

  memset(&error, 0, sizeof error);
  context.flags = ASHLAR_OR_CPU;
  rc = which_with(&X, &Y, &context);
  printf("managed, or the processor: %s, because %s\n", rc == ASHLAR_OK && is_filled() ? "right" : "wrong", text_of(&error));
  return 0;
}
