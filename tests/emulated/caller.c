/* Calls one kernel in an emulator: reads the arguments from a file, and writes what they hold afterwards to another.
 *
 *   kernel IN OUT          IN: a count, then for each argument: type code, bits, dimensions (-1: the value of a scalar), their
 *                         extents, how many strides, those, bytes, data
 *
 * The linker gives the kernel the name `kernel`, and what the runtime knows of it `kernel_desc`. It has 24 arguments at most.
 * Tensors alone go to the kernel itself: more are passed than it takes, which the calling convention of the processor allows.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ashlar/runtime/desc.h>
#include <ashlar/runtime/runtime.h>

enum { most = 24, dims = 8 };

#define EIGHT const void*, const void*, const void*, const void*, const void*, const void*, const void*, const void*
int kernel(EIGHT, EIGHT, EIGHT);
extern const ashlar_abi1_desc kernel_desc;

static int64_t number(FILE* f) {
  int64_t n = 0;
  if (fread(&n, sizeof n, 1, f) != 1) exit(99);
  return n;
}

int main(int argc, char** argv) {
  static ashlar_tensor tensors[most];
  static int64_t shapes[most][dims], strides[most][dims], bytes[most];
  FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL, *out = NULL;
  if (!in) return 98;
  const int64_t count = number(in);
  if (count > most) return 97;
  for (int64_t k = 0; k < count; ++k) {
    ashlar_tensor* t = &tensors[k];
    t->device_type = 1, t->type_lanes = 1, t->shape = shapes[k];
    t->type_code = (uint8_t)number(in), t->type_bits = (uint8_t)number(in), t->ndim = (int32_t)number(in);
    for (int32_t d = 0; d < t->ndim; ++d) shapes[k][d] = number(in);
    const int64_t strided = number(in);
    if (strided > dims) return 92;
    for (int64_t d = 0; d < strided; ++d) strides[k][d] = number(in);
    if (strided > 0) t->strides = strides[k];
    bytes[k] = number(in);
    t->data = aligned_alloc(64, ((size_t)bytes[k] + 127) / 64 * 64);
    if (!t->data || (bytes[k] && fread(t->data, (size_t)bytes[k], 1, in) != 1)) return 96;
  }
  fclose(in);
  const void* a[most];
  int scalars = 0;
  for (int k = 0; k < most; ++k) {
    const int scalar = tensors[k].ndim < 0;
    a[k] = scalar ? tensors[k].data : (const void*)&tensors[k];
    scalars += scalar;
  }
#define EIGHT_FROM(n) a[n], a[n + 1], a[n + 2], a[n + 3], a[n + 4], a[n + 5], a[n + 6], a[n + 7]
  const int result = scalars ? ashlar_abi1_call(&kernel_desc, a, NULL) : kernel(EIGHT_FROM(0), EIGHT_FROM(8), EIGHT_FROM(16));
  if (result != 0) {
    char text[400];
    ashlar_error_text(ashlar_last_error(), text, sizeof text);
    printf("the kernel returned %d: %s\n", result, text);
    return 1;
  }
  out = fopen(argv[2], "wb");
  if (!out) return 95;
  for (int64_t k = 0; k < count; ++k)
    if (bytes[k] && fwrite(tensors[k].data, (size_t)bytes[k], 1, out) != 1) return 94;
  return fclose(out) == 0 ? 0 : 93;
}
