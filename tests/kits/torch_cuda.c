/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions for CUDA of a kit for PyTorch, where there is neither a device nor a PyTorch with one: this program stands for
 * PyTorch's C shim (tensors are a struct, an exception is a longjmp), and tests/cuda/standin.c for the driver, which checks
 * every call and computes nothing. torch_cuda KIT.so DRIVER.so */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/standin.h"

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) fprintf(stderr, "line %d: %s\n", __LINE__, #condition), failures += 1; \
  } while (0)
static int failures;

/* ---- the shim ------------------------------------------------------------------------------------------------------ */
typedef struct Tensor {
  void* data;
  int64_t rank, sizes[8], strides[8];
  int32_t type, device, index;
} Tensor;
typedef void (*Boxed)(uint64_t*, uint64_t, uint64_t);
enum { kCpu, kCuda = 1, kFloat = 6, kDouble = 7, kByte = 0, kChar = 1, kInt = 3 };
static struct {
  char name[80], key[8];
  Boxed function;
} registered[64];
static int registered_count, tensors, guards, blocks, guarded_index = -1;
static void* current_stream;
static char message[800];
static jmp_buf thrown;

int32_t aoti_torch_library_init_fragment(const char* ns, const char* file, uint32_t line, void** library) {
  (void)file, (void)line;
  return *library = (void*)(uintptr_t)"", strcmp(ns, "ashlar_test") != 0;
}
int32_t aoti_torch_library_init_impl(const char* ns, const char* key, const char* file, uint32_t line, void** library) {
  (void)file, (void)line;
  return *library = (void*)(uintptr_t)key, strcmp(ns, "ashlar_test") != 0;
}
int32_t aoti_torch_library_def(void* library, const char* schema) { return library == NULL || strchr(schema, '(') == NULL; }
int32_t aoti_torch_library_impl(void* library, const char* name, Boxed function) {
  if (registered_count == 64) return 1;
  snprintf(registered[registered_count].name, sizeof registered->name, "%s", name);
  snprintf(registered[registered_count].key, sizeof registered->key, "%s", (const char*)library);
  registered[registered_count++].function = function;
  return 0;
}
void aoti_torch_check(bool holds, const char* function, const char* file, uint32_t line, const char* text) {
  (void)function, (void)file, (void)line;
  if (holds) return;
  snprintf(message, sizeof message, "%s", text);
  longjmp(thrown, 1);
}
int32_t aoti_torch_delete_tensor_object(Tensor* t) { return free(t), --tensors, 0; }
int32_t aoti_torch_get_data_ptr(Tensor* t, void** data) { return *data = t->data, 0; }
int32_t aoti_torch_get_dim(Tensor* t, int64_t* rank) { return *rank = t->rank, 0; }
int32_t aoti_torch_get_sizes(Tensor* t, int64_t** sizes) { return *sizes = t->sizes, 0; }
int32_t aoti_torch_get_strides(Tensor* t, int64_t** strides) { return *strides = t->strides, 0; }
int32_t aoti_torch_get_dtype(Tensor* t, int32_t* type) { return *type = t->type, 0; }
int32_t aoti_torch_get_device_type(Tensor* t, int32_t* device) { return *device = t->device, 0; }
int32_t aoti_torch_get_device_index(Tensor* t, int32_t* index) { return *index = t->index, 0; }
static float memory[1 << 16]; /* "of the device" */
static size_t memory_used;
int32_t aoti_torch_empty_strided(int64_t rank, const int64_t* sizes, const int64_t* strides, int32_t type, int32_t device,
                                 int32_t index, Tensor** result) {
  Tensor* t = calloc(1, sizeof *t);
  if (t == NULL) return 1;
  t->rank = rank, t->type = type, t->device = device, t->index = index, t->data = memory + memory_used;
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) t->sizes[d] = sizes[d], t->strides[d] = strides[d], count *= sizes[d];
  memory_used += (size_t)(count + 63) / 64 * 64;
  ++tensors;
  return *result = t, 0;
}
int32_t aoti_torch_device_type_cpu(void) { return kCpu; }
int32_t aoti_torch_device_type_cuda(void) { return kCuda; }
#define TYPE(name, number) \
  int32_t aoti_torch_dtype_##name(void) { return number; }
TYPE(uint8, 0)
TYPE(int8, 1)
TYPE(int16, 2)
TYPE(int32, 3)
TYPE(int64, 4)
TYPE(float16, 5)
TYPE(float32, 6)
TYPE(float64, 7)
TYPE(bool, 11)
TYPE(bfloat16, 15)
TYPE(float8_e5m2, 23)
TYPE(float8_e4m3fn, 24)
TYPE(uint16, 27)
TYPE(uint32, 28)
TYPE(uint64, 29)
int32_t aoti_torch_get_current_cuda_stream(int32_t index, void** stream) { return *stream = current_stream, index != 0; }
int32_t aoti_torch_create_cuda_guard(int32_t index, void** guard) {
  return *guard = &guards, ++guards, guarded_index = index, 0;
}
int32_t aoti_torch_delete_cuda_guard(void* guard) { return guard != &guards || --guards < 0; }
int32_t aoti_torch_cuda_caching_allocator_raw_alloc(uint64_t bytes, void** block) {
  return *block = malloc(bytes), ++blocks, *block == NULL;
}
int32_t aoti_torch_cuda_caching_allocator_raw_delete(void* block) { return free(block), --blocks, 0; }

/* ---- what a caller does -------------------------------------------------------------------------------------------- */
static uint64_t tensor(int32_t type, int32_t device, int64_t rows, int64_t columns) { /* columns 0: of rank 1 */
  const int64_t sizes[] = {rows, columns}, strides[] = {columns == 0 ? 1 : columns, 1};
  Tensor* t = NULL;
  if (aoti_torch_empty_strided(columns == 0 ? 1 : 2, sizes, strides, type, device, device == kCuda ? 0 : -1, &t) != 0) exit(2);
  return (uint64_t)(uintptr_t)t;
}
static uint64_t real(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static Boxed find(const char* name, const char* key) {
  for (int k = 0; k < registered_count; ++k)
    if (strcmp(registered[k].name, name) == 0 && strcmp(registered[k].key, key) == 0) return registered[k].function;
  fprintf(stderr, "%s has no function for %s\n", name, key);
  exit(2);
}
static const char* call(const char* name, uint64_t* stack, uint64_t inputs, uint64_t outputs) { /* "", or the exception */
  const Boxed f = find(name, "CUDA");
  message[0] = 0;
  if (setjmp(thrown) == 0) f(stack, inputs, outputs);
  return message;
}

#define FIELD(name, result, parameters) result(*name) parameters;
static struct {
  STANDIN_FUNCTIONS(FIELD)
} driver;

static void check_calls(void* stream) {
  current_stream = stream;
  driver.standin_reset();
  uint64_t stack[4] = {tensor(kFloat, kCuda, 40, 30), real(1.5)};
  CHECK(strcmp(call("swish", stack, 2, 1), "") == 0);
  Tensor* y = (Tensor*)(uintptr_t)stack[0];
  CHECK(y->rank == 2 && y->sizes[0] == 40 && y->sizes[1] == 30 && y->type == kFloat && y->device == kCuda && y->index == 0);
  CHECK(driver.standin_launches() >= 1);
  CHECK(driver.standin_launch(0)->stream == (stream != NULL ? stream : (void*)1));
  CHECK(strstr(driver.standin_calls(), "Synchronize") == NULL); /* the call does not wait */
  CHECK(strcmp(driver.standin_complaints(), "") == 0);
  CHECK(guards == 0 && guarded_index == 0 && blocks == 0 && tensors == 1);
  uint64_t given[4] = {tensor(kFloat, kCuda, 40, 30), real(1.5), stack[0]};
  CHECK(strcmp(call("swish.out", given, 3, 0), "") == 0);
  CHECK(tensors == 0);
  uint64_t product[4] = {tensor(kByte, kCuda, 5, 7), tensor(kChar, kCuda, 7, 3)};
  CHECK(strcmp(call("matmul_i8", product, 2, 1), "") == 0);
  y = (Tensor*)(uintptr_t)product[0];
  CHECK(y->type == kInt && y->sizes[0] == 5 && y->sizes[1] == 3);
  CHECK(aoti_torch_delete_tensor_object(y) == 0 && tensors == 0 && blocks == 0);
}

static void check_errors(void) {
  const struct {
    const char *expected, *function;
    uint64_t stack[3];
  } wrong[] = {
      {"swish: x is f64, expected f32", "swish", {tensor(kDouble, kCuda, 4, 4), real(1)}},
      {"swish: x has rank 1, expected rank 2", "swish", {tensor(kFloat, kCuda, 4, 0), real(1)}},
      {"row_norm: w.shape[0] is 3, expected 4", "row_norm", {tensor(kFloat, kCuda, 4, 4), tensor(kFloat, kCuda, 3, 0)}},
      {"row_norm: w lies on the host, expected a CUDA device", "row_norm", {tensor(kFloat, kCuda, 4, 4), tensor(kFloat, kCpu, 4, 0)}},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    uint64_t stack[3];
    memcpy(stack, wrong[k].stack, sizeof stack);
    if (strstr(call(wrong[k].function, stack, 2, 1), wrong[k].expected) == NULL)
      fprintf(stderr, "expected \"%s\", found \"%s\"\n", wrong[k].expected, message), ++failures;
  }
  CHECK(tensors == 0 && guards == 0 && blocks == 0);
  driver.standin_reset();
  driver.standin_fail("cuLaunchKernel", 1, 700);
  uint64_t stack[3] = {tensor(kFloat, kCuda, 40, 30), real(1.5)};
  if (strstr(call("swish", stack, 2, 1), "CUDA_ERROR_ILLEGAL_ADDRESS") == NULL) fprintf(stderr, "found \"%s\"\n", message), ++failures;
  CHECK(tensors == 0 && guards == 0 && blocks == 0);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* const library = dlopen(argv[2], RTLD_NOW);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
#define LOOK_UP(name, result, parameters)       \
  {                                             \
    void* const found = dlsym(library, #name);  \
    if (found == NULL) return 2;                \
    memcpy(&driver.name, &found, sizeof found); \
  }
  STANDIN_FUNCTIONS(LOOK_UP)
  if (dlopen(argv[1], RTLD_NOW) == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  CHECK(find("swish.plain", "CPU") == find("swish", "CPU") && find("swish.plain", "CUDA") == find("swish", "CUDA"));
  CHECK(find("swish_backward.out", "CUDA") != find("swish_backward.out", "CPU"));
  void* const context = driver.standin_new_context(0);
  driver.standin_set_current(context);
  check_calls(NULL);
  check_calls(driver.standin_new_stream(context));
  check_errors();
  printf("%s\n", failures == 0 ? "the functions for CUDA do what they should" : "failed");
  return failures != 0;
}
