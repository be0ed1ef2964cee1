/* Which variant of the library `which` runs on this processor: the best one, and each one that is named.
 *
 *   variants TARGET...     prints "best: NUMBER", then "TARGET: NUMBER" for each; in the place of a number what was refused */
#include <stdio.h>
#include <string.h>

#include <ashlar/runtime/runtime.h>
#include <which.h>

enum { kRows = 3, kColumns = 70 };

static void call(const char* name) {
  static int32_t x[kRows * kColumns], y[kRows * kColumns];
  int64_t shape[2] = {kRows, kColumns};
  ashlar_tensor X, Y;
  memset(&X, 0, sizeof X);
  for (int k = 0; k < kRows * kColumns; ++k) x[k] = k, y[k] = -1;
  X.data = x, X.device_type = 1, X.ndim = 2, X.type_bits = 32, X.type_lanes = 1, X.shape = shape;
  Y = X, Y.data = y;
  const int rc = which(&X, &Y);
  int filled = 1;
  for (int k = 0; k < kRows * kColumns; ++k) filled = filled && y[k] == (rc == ASHLAR_OK ? 2 * k + y[0] : -1);
  char text[1000];
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  if (!filled)
    printf("%s: wrong\n", name);
  else if (rc == ASHLAR_OK)
    printf("%s: %d\n", name, (int)y[0]);
  else
    printf("%s: %s %s\n", name, ashlar_code_name(rc), text);
}

int main(int count, char** names) {
  call("best");
  for (int k = 1; k < count; ++k) {
    ashlar_set_target(names[k]);
    call(names[k]);
  }
  return 0;
}
