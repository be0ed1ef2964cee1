/* A program without an operating system: the plain entry of the kernel, on memory that is known when it is linked. */
#include <stdio.h>

#include "scale.h"

static float in[5] = {1, 2, 3, 4, 5}, out[5];

int main(void) {
  const scale_args args = {.x = in, .y = out, .N = 5};
  if (scale_run(&args, NULL) != ASHLAR_OK) return 1;
  for (int i = 0; i < 5; ++i)
    if (out[i] != 3 * in[i]) return 2;
  const scale_args unaligned = {.x = (const float*)((const char*)in + 1), .y = out, .N = 4};
  ashlar_error error = {0};
  const ashlar_context context = {.size = sizeof context, .error = &error};
  if (scale_run(&unaligned, &context) != ASHLAR_E_ALIGN || error.code != ASHLAR_E_ALIGN) return 3;
  puts("the board has scaled");
  return 0;
}
