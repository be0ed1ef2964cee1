/* program REPEATS: checks a product of random matrices, then computes it REPEATS times. What one product costs is the
 * difference between two runs. F32 or S8 is defined, and SIZE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "product.h"

#ifdef F32
typedef float element, sum;
#define product product_f32
#else
typedef int8_t element;
typedef int32_t sum;
#define product product_s8
#endif

static element a[SIZE * SIZE], b[SIZE * SIZE];
static sum c[SIZE * SIZE];

static uint32_t next(void) {
  static uint32_t state = 2463534242u; /* xorshift: Marsaglia, "Xorshift RNGs", 2003 */
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

static element random_element(void) {
#ifdef F32
  return (float)(next() >> 8) / 8388608.0f - 1.0f;
#else
  return (int8_t)(next() >> 24);
#endif
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < SIZE * SIZE; ++i) a[i] = random_element(), b[i] = random_element();
  product(a, b, c, SIZE);
  for (int i = 0; i < SIZE; i += 7)
    for (int j = 0; j < SIZE; ++j) {
      double expected = 0;
      for (int k = 0; k < SIZE; ++k) expected += (double)a[i * SIZE + k] * b[k * SIZE + j];
      if (!(fabs(c[i * SIZE + j] - expected) <= (sizeof(element) == 1 ? 0 : 1e-6 * SIZE)))
        return fprintf(stderr, "C[%d, %d] is %g, expected %g\n", i, j, (double)c[i * SIZE + j], expected), 1;
    }
  for (int r = 0; r < repeats; ++r) product(a, b, c, SIZE);
  return 0;
}
