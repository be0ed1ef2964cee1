/* Calls the library that a generator wrote as C, and compares it with plain loops; and a call that is wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ashlar/runtime/runtime.h>

#include "smooth.h"

enum { H = 45, W = 67 };
static uint8_t in[H][W], out[H][W];
static float damped[H][W];

static int at(int y, int x) { return in[y < 0 ? 0 : y >= H ? H - 1 : y][x < 0 ? 0 : x >= W ? W - 1 : x]; }
static int across(int y, int x) { return at(y, x - 1) + 2 * at(y, x) + at(y, x + 1); }

static ashlar_tensor tensor(void* data, int64_t* shape, uint8_t code, uint8_t bits) {
  ashlar_tensor t = {0};
  t.data = data, t.device_type = 1, t.ndim = 2, t.type_code = code, t.type_bits = bits, t.type_lanes = 1, t.shape = shape;
  return t;
}

int main(void) {
  int64_t shape[2] = {H, W}, other[2] = {H, W + 1};
  ashlar_tensor a = tensor(in, shape, 1, 8), b = tensor(out, shape, 1, 8), c = tensor(damped, shape, 2, 32),
                wrong = tensor(out, other, 1, 8);
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) in[y][x] = (uint8_t)(y * 37 + x * 11);
  if (smooth(&a, &b, &c) != ASHLAR_OK) {
    char text[200];
    ashlar_error_text(ashlar_last_error(), text, sizeof text);
    return puts(text), 1;
  }
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) {
      const int expected = (across(y - 1, x) + 2 * across(y, x) + across(y + 1, x) + 8) >> 4;
      const double e = exp(in[y][x] * -(double)0.01f);
      if (out[y][x] != expected || fabs(damped[y][x] - e) > 1e-6 * e) return printf("wrong at %d %d\n", y, x), 1;
    }
  if (smooth(&a, &wrong, &c) != ASHLAR_E_SHAPE) return puts("a wrong shape was taken"), 1;
  return puts("same"), 0;
}
