/* A C99 program on the generated header and the runtime. */
#include <ashlar/runtime/runtime.h>
#include <stdio.h>

#include "scale.h"

int main(void) {
  float in[5] = {1, 2, 3, 4, 5}, out[5] = {0, 0, 0, 0, 0};
  int64_t five[] = {5}, four[] = {4};
  ashlar_tensor x = {0}, y;
  char text[200];
  int i;
  x.data = in, x.device_type = 1, x.ndim = 1, x.type_code = 2, x.type_bits = 32, x.type_lanes = 1, x.shape = five;
  y = x, y.data = out;
  if (scale(&x, &y) != ASHLAR_OK) return 1;
  for (i = 0; i < 5; ++i)
    if (out[i] != 3 * in[i]) return 2;
  y.shape = four;
  if (scale(&x, &y) != ASHLAR_E_SHAPE) return 3;
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  puts(text);
  return 0;
}
