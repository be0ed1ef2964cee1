/* Which variant of a library without TARGETS answers a call: the best one, and each that is asked for.
 *
 *   usual TARGET...     prints "best: NUMBER", then "TARGET: NUMBER" for each, "refused" in its place */
#include <stdio.h>

#include <ashlar/runtime/runtime.h>
#include <usual.h>

static void call(const char* name) {
  static const int32_t x[6] = {0, 0, 0, 0, 0, 0};
  int32_t y[6] = {-1, -1, -1, -1, -1, -1};
  const int64_t shape[2] = {2, 3};
  const ashlar_tensor X = ashlar_dense(x, ASHLAR_I32, 2, shape);
  ashlar_tensor Y = ashlar_dense(y, ASHLAR_I32, 2, shape);
  if (usual(&X, &Y) == ASHLAR_OK)
    printf("%s: %d\n", name, (int)y[5]);
  else
    printf("%s: refused\n", name);
}

int main(int argc, char** argv) {
  call("best");
  for (int n = 1; n < argc; ++n) ashlar_set_target(argv[n]), call(argv[n]);
  return 0;
}
