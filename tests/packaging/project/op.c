#include <ashlar/runtime/runtime.h>
#include <stdio.h>

#include "mlp_up.h"

int main(void) {
  float a[2][3] = {{1, 2, 3}, {-4, 5, -6}}, b[3][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}}, bias[4] = {10, -20, 30, 0},
        c[2][4];
  int64_t of_a[] = {2, 3}, of_b[] = {3, 4}, of_bias[] = {4}, of_c[] = {2, 4};
  ashlar_tensor A = ashlar_dense(a, ASHLAR_F32, 2, of_a), B = ashlar_dense(b, ASHLAR_F32, 2, of_b),
                Bias = ashlar_dense(bias, ASHLAR_F32, 1, of_bias), C = ashlar_dense(c, ASHLAR_F32, 2, of_c);
  const float expected[2][4] = {{11, 0, 33, 6}, {6, 0, 24, 0}};
  int i, j;
  if (mlp_up(&A, &B, &Bias, &C) != ASHLAR_OK) return 1;
  for (i = 0; i < 2; ++i)
    for (j = 0; j < 4; ++j)
      if (c[i][j] != expected[i][j]) return 2;
  puts("C = relu(A B + bias)");
  return 0;
}
