#include <ashlar/runtime/runtime.h>
#include <stdio.h>

#include "mlp_up.h"

static ashlar_tensor dense(void* data, int32_t rank, int64_t* shape) { /* floats on the host, row-major */
  ashlar_tensor t = {0};
  t.data = data, t.device_type = 1, t.ndim = rank, t.shape = shape;
  t.type_code = 2, t.type_bits = 32, t.type_lanes = 1;
  return t;
}

int main(void) {
  float a[2][3] = {{1, 2, 3}, {-4, 5, -6}}, b[3][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}}, bias[4] = {10, -20, 30, 0},
        c[2][4];
  int64_t of_a[] = {2, 3}, of_b[] = {3, 4}, of_bias[] = {4}, of_c[] = {2, 4};
  ashlar_tensor A = dense(a, 2, of_a), B = dense(b, 2, of_b), Bias = dense(bias, 1, of_bias), C = dense(c, 2, of_c);
  const float expected[2][4] = {{11, 0, 33, 6}, {6, 0, 24, 0}};
  int i, j;
  if (mlp_up(&A, &B, &Bias, &C) != ASHLAR_OK) return 1;
  for (i = 0; i < 2; ++i)
    for (j = 0; j < 4; ++j)
      if (c[i][j] != expected[i][j]) return 2;
  puts("C = relu(A B + bias)");
  return 0;
}
