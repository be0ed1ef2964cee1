/* Calls the kernel once on this thread, which a debugger looks at, and says whether it blurred a constant to itself. */
#include <stdio.h>

#include <ashlar/runtime/runtime.h>
#include <blur.h>

enum { kHeight = 20, kWidth = 37 };

int main(void) {
  static float in[kHeight * kWidth], out[kHeight * kWidth];
  int64_t shape[2] = {kHeight, kWidth};
  ashlar_tensor from = {0}, to;
  ashlar_context context = {0};
  for (int k = 0; k < kHeight * kWidth; ++k) in[k] = 3;
  from.data = in, from.device_type = 1, from.ndim = 2, from.type_code = 2, from.type_bits = 32, from.type_lanes = 1;
  from.shape = shape;
  to = from, to.data = out;
  context.size = sizeof context;
  if (blur_with(&from, &to, &context) != ASHLAR_OK) return 1;
  for (int k = 0; k < kHeight * kWidth; ++k)
    if (out[k] < 2.99f || out[k] > 3.01f) return 2;
  puts("blurred");
  return 0;
}
