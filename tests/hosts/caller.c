/* A program for a processor that this machine is not, run in an emulator: calls libraries that hold code for that processor and
 * for Vulkan, on host memory and on memory of the first Vulkan device. Results on host memory are compared with loops in C,
 * those of the device with those on host memory, bit by bit. Shapes are no multiples of the schedules' tiles, but for one.
 *
 *   dense       C = max(A B + bias, 0), f32 (apps/everywhere)
 *   running     sums of each row up to each element, i32 (the library's cumsum)
 *
 * 0: all is right; 3: it is on the processor, and no device could be opened; 1: something is not.
 */
#include <ashlar/runtime/runtime.h>
#include <ashlar/runtime/vulkan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "running.h"

enum { kMost = 4, kElements = 1 << 14, kFloat = ASHLAR_F32, kInt = ASHLAR_I32 };

typedef struct Argument {
  int type;
  int64_t shape[2];
  int ndim;
  int32_t words[kElements]; /* what the tensor holds: floats as their bits */
} Argument;

static int64_t elements(const Argument* a) { return a->ndim == 2 ? a->shape[0] * a->shape[1] : a->shape[0]; }

static void describe(Argument* a, int type, int ndim, int64_t first, int64_t second) {
  a->type = type, a->ndim = ndim, a->shape[0] = first, a->shape[1] = second;
  if (elements(a) > kElements) exit(9);
}

/* Whole numbers from -8 to 8, whose sums of products are exact in any order; or fractions too. */
static void fill(Argument* a, int fractions) {
  static uint32_t state = 12345;
  for (int64_t k = 0; k < elements(a); ++k) {
    state = state * 1664525u + 1013904223u;
    const int32_t whole = (int32_t)(state >> 16) % 9 - ((state >> 8) & 1 ? 8 : 0);
    const float x = fractions ? (float)(int32_t)state * 0x1p-31f : (float)whole;
    if (a->type == kFloat)
      memcpy(&a->words[k], &x, sizeof x);
    else
      a->words[k] = whole;
  }
}

static float real(const Argument* a, int64_t k) {
  float x;
  memcpy(&x, &a->words[k], sizeof x);
  return x;
}

static ashlar_tensor on_host(Argument* a) { return ashlar_dense(a->words, a->type, a->ndim, a->shape); }

static int say(const char* what, const ashlar_error* error) {
  char text[300];
  ashlar_error_text(error, text, sizeof text);
  printf("%s: %s\n", what, text);
  return 0;
}

/* ---- what is called ------------------------------------------------------------------------------------------------- */

static Argument a[kMost];
static int32_t expected[kElements];

typedef struct Kernel {
  const char* name;
  int count; /* of arguments; the last is the output */
  int (*call)(ashlar_tensor* const*);
  void (*reference)(void); /* sets `expected` */
} Kernel;

static int call_dense(ashlar_tensor* const* t) { return dense(t[0], t[1], t[2], t[3]); }
static int call_running(ashlar_tensor* const* t) { return running(t[0], t[1]); }

static void reference_dense(void) {
  const int64_t m = a[0].shape[0], depth = a[0].shape[1], n = a[1].shape[1];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = real(&a[2], j);
      for (int64_t k = 0; k < depth; ++k) sum += real(&a[0], i * depth + k) * real(&a[1], k * n + j);
      if (!(sum > 0)) sum = 0;
      memcpy(&expected[i * n + j], &sum, sizeof sum);
    }
}

static void reference_running(void) {
  const int64_t m = a[0].shape[0], n = a[0].shape[1];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) expected[i * n + j] = a[0].words[i * n + j] + (j > 0 ? expected[i * n + j - 1] : 0);
}

static const Kernel kDense = {"dense", 4, call_dense, reference_dense},
                    kRunning = {"running", 2, call_running, reference_running};

/* ---- on each memory --------------------------------------------------------------------------------------------------- */

static ashlar_vulkan_queue* queue;

static int on_device(const Kernel* k, int32_t* found) {
  ashlar_vulkan_buffer* buffers[kMost];
  ashlar_tensor tensors[kMost], *pointers[kMost];
  ashlar_error error = {0};
  for (int n = 0; n < k->count; ++n) {
    const size_t bytes = (size_t)elements(&a[n]) * sizeof(int32_t);
    if (ashlar_vulkan_alloc(queue, bytes, &buffers[n], &error) != ASHLAR_OK) return say("alloc", &error), 1;
    if (n < k->count - 1 && ashlar_vulkan_upload(buffers[n], 0, a[n].words, bytes, &error) != ASHLAR_OK)
      return say("upload", &error), 1;
    tensors[n] = on_host(&a[n]), tensors[n].data = buffers[n], tensors[n].device_type = 7;
    pointers[n] = &tensors[n];
  }
  if (k->call(pointers) != ASHLAR_OK) return say("on the device", ashlar_last_error()), 1;
  const int last = k->count - 1;
  if (ashlar_vulkan_download(buffers[last], 0, found, (size_t)elements(&a[last]) * sizeof(int32_t), &error) != ASHLAR_OK)
    return say("download", &error), 1;
  for (int n = 0; n < k->count; ++n) ashlar_vulkan_free(buffers[n]);
  return 0;
}

static int check(const Kernel* k) {
  static int32_t found[kElements];
  const int last = k->count - 1;
  const size_t bytes = (size_t)elements(&a[last]) * sizeof(int32_t);
  ashlar_tensor tensors[kMost], *pointers[kMost];
  for (int n = 0; n < k->count; ++n) tensors[n] = on_host(&a[n]), pointers[n] = &tensors[n];
  for (int fractions = 0; fractions < (a[0].type == kFloat ? 2 : 1); ++fractions) {
    for (int n = 0; n < last; ++n) fill(&a[n], fractions);
    if (k->call(pointers) != ASHLAR_OK) return say(k->name, ashlar_last_error()), 1;
    if (!fractions) k->reference();
    if (!fractions && memcmp(a[last].words, expected, bytes) != 0) return printf("%s: wrong on the processor\n", k->name), 1;
    if (queue == NULL) continue;
    memset(found, 0x55, bytes);
    if (on_device(k, found) != 0) return 1;
    if (memcmp(a[last].words, found, bytes) != 0) return printf("%s: other bits on the device\n", k->name), 1;
  }
  printf("%s of %d x %d: right%s\n", k->name, (int)a[last].shape[0], (int)a[last].shape[1],
         queue != NULL ? ", and the same on the device" : "");
  return 0;
}

/* B lies where A does not. */
static int refused(void) {
  ashlar_tensor t[kMost], *p[kMost];
  for (int n = 0; n < kMost; ++n) t[n] = on_host(&a[n]), p[n] = &t[n];
  t[1].device_type = 7;
  return call_dense(p) == ASHLAR_E_DEVICE ? say("refused", ashlar_last_error()) : 1;
}

int main(void) {
  static const int sizes[][3] = {{32, 32, 32}, {33, 70, 19}, {1, 1, 1}, {2, 129, 100}};
  static const int rows[][2] = {{3, 257}, {1, 5000}, {64, 64}};
  ashlar_error error = {0};
  const int opened = ashlar_vulkan_open(NULL, &queue, &error) == ASHLAR_OK;
  if (opened)
    printf("device: %s\n", ashlar_vulkan_device_name(queue));
  else
    say("no device", &error);
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    const int *s = sizes[n], m = s[0], columns = s[1], depth = s[2];
    describe(&a[0], kFloat, 2, m, depth), describe(&a[1], kFloat, 2, depth, columns), describe(&a[2], kFloat, 1, columns, 0);
    describe(&a[3], kFloat, 2, m, columns);
    if (check(&kDense) != 0) return 1;
  }
  if (refused() != 0) return 1;
  for (size_t n = 0; n < sizeof rows / sizeof *rows; ++n) {
    describe(&a[0], kInt, 2, rows[n][0], rows[n][1]), describe(&a[1], kInt, 2, rows[n][0], rows[n][1]);
    if (check(&kRunning) != 0) return 1;
  }
  if (opened) ashlar_vulkan_close(queue);
  puts("all right");
  return opened ? 0 : 3;
}
