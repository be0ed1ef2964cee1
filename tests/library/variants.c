/* Which variant of the library `which` runs on this processor: the best one, and each one that is named; and whether that of
 * `dot`, whose schedules differ, computes what it should.
 *
 *   variants TARGET...     prints "best: NUMBER", then "TARGET: NUMBER" for each; in the place of a number what was refused */
#include <stdio.h>
#include <string.h>

#include <ashlar/runtime/runtime.h>
#include <dot.h>
#include <which.h>

enum { kRows = 3, kColumns = 70, kTerms = 5, kSums = 128 };

static ashlar_tensor tensor(void* data, int type_code, int bits, int dimensions, int64_t* shape) {
  ashlar_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data, t.device_type = 1, t.ndim = dimensions, t.shape = shape;
  t.type_code = (uint8_t)type_code, t.type_bits = (uint8_t)bits, t.type_lanes = 1;
  return t;
}

static int call_dot(int* right) { /* sums of products of u8 up to 255 and i8 down to -128 */
  static uint8_t x[kTerms][4];
  static int8_t w[kTerms][kSums][4];
  static int32_t y[kSums];
  int64_t of_x[] = {kTerms, 4}, of_w[] = {kTerms, kSums, 4}, of_y[] = {kSums};
  for (int q = 0; q < kTerms; ++q)
    for (int r = 0; r < 4; ++r) {
      x[q][r] = (uint8_t)(255 - 17 * q - 3 * r);
      for (int j = 0; j < kSums; ++j) w[q][j][r] = (int8_t)((37 * j + 11 * q + 5 * r) % 256 - 128);
    }
  const ashlar_tensor X = tensor(x, 1, 8, 2, of_x), W = tensor(w, 0, 8, 3, of_w);
  ashlar_tensor Y = tensor(y, 0, 32, 1, of_y);
  memset(y, 0, sizeof y);
  const int rc = dot(&X, &W, &Y);
  *right = 1;
  for (int j = 0; j < kSums; ++j) {
    int32_t sum = 0;
    for (int q = 0; q < kTerms; ++q)
      for (int r = 0; r < 4; ++r) sum += x[q][r] * w[q][j][r];
    *right = *right && y[j] == (rc == ASHLAR_OK ? sum : 0);
  }
  return rc;
}

static void call(const char* name) {
  static int32_t x[kRows * kColumns], y[kRows * kColumns];
  int64_t shape[2] = {kRows, kColumns};
  const ashlar_tensor X = tensor(x, 0, 32, 2, shape);
  ashlar_tensor Y = tensor(y, 0, 32, 2, shape);
  for (int k = 0; k < kRows * kColumns; ++k) x[k] = k, y[k] = -1;
  int filled = 1;
  const int of_dot = call_dot(&filled), rc = which(&X, &Y);
  for (int k = 0; k < kRows * kColumns; ++k) filled = filled && y[k] == (rc == ASHLAR_OK ? 2 * k + y[0] : -1);
  char text[1000];
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  if (!filled || of_dot != rc)
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
