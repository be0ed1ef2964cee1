/* A program in C99 that links the runtime and nothing else: no C++ library is needed. */
#include <stdio.h>
#include <string.h>

#include <ashlar/runtime/runtime.h>

typedef struct twice_args {
  const float* x;
  float* y;
  int64_t N;
} twice_args;

static int twice_run(const void* p, const ashlar_context* ctx) {
  const twice_args* a = (const twice_args*)p;
  int64_t i;
  (void)ctx;
  for (i = 0; i < a->N; ++i) a->y[i] = 2 * a->x[i];
  return 0;
}

static const ashlar_abi1_term n_term[] = {{1, 0}};
static const ashlar_abi1_dim n_dims[] = {{"N", 0, n_term, 1, -1}};
static const ashlar_abi1_argument arguments[] = {
    {"x", n_dims, NULL, 0, ASHLAR_ABI1_INPUT, 1, ASHLAR_ABI1_DENSE, 0, offsetof(twice_args, x), 0, 2, 32, {0}},
    {"y", n_dims, NULL, 0, ASHLAR_ABI1_OUTPUT, 1, ASHLAR_ABI1_DENSE, 0, offsetof(twice_args, y), 0, 2, 32, {0}}};
static const ashlar_abi1_symbol symbols[] = {{"N", 0, INT64_MAX, 1, offsetof(twice_args, N), 0}};
static const ashlar_abi1_desc twice_desc = {1,
                                            sizeof(ashlar_abi1_desc),
                                            "twice",
                                            1,
                                            0,
                                            0,
                                            2,
                                            1,
                                            0,
                                            0,
                                            sizeof(twice_args),
                                            arguments,
                                            symbols,
                                            NULL,
                                            NULL,
                                            NULL,
                                            NULL,
                                            1,
                                            twice_run,
                                            NULL};

static int twice(const ashlar_tensor* x, ashlar_tensor* y) {
  const void* values[2];
  values[0] = x, values[1] = y;
  return ashlar_abi1_call(&twice_desc, values, NULL);
}

static ashlar_tensor vector(float* data, int64_t* shape) {
  ashlar_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data, t.device_type = 1, t.ndim = 1, t.type_code = 2, t.type_bits = 32, t.type_lanes = 1, t.shape = shape;
  return t;
}

int main(void) {
  float x[3] = {1, 2, 3}, y[3] = {0, 0, 0};
  int64_t three = 3, two = 2;
  char text[100];
  ashlar_tensor X = vector(x, &three), Y = vector(y, &three), Short = vector(y, &two);
  if (twice(&X, &Y) != ASHLAR_OK || y[0] != 2 || y[1] != 4 || y[2] != 6) return 1;
  if (twice(&X, &Short) != ASHLAR_E_SHAPE) return 2;
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  puts(text);
  return strcmp(text, "twice: y.shape[0] is 2, expected 3 (N, from x.shape[0])") == 0 ? 0 : 3;
}
