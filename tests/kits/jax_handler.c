/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Handlers of a kit for JAX without JAX, under sanitizers too: this program stands for XLA. It builds call frames, whose
 * buffers are blocks of exactly their size, and runs tasks on threads of its own, or has no pool. jax_handler KIT.so */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xla/ffi/api/c_api.h>

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) fprintf(stderr, "line %d: %s\n", __LINE__, #condition), failures += 1; \
  } while (0)
static int failures;

/* ---- XLA ----------------------------------------------------------------------------------------------------------- */
struct XLA_FFI_Error {
  char message[600];
  XLA_FFI_Error_Code code;
};
static int errors; /* that live */
static XLA_FFI_Error* create_error(XLA_FFI_Error_Create_Args* args) {
  XLA_FFI_Error* e = malloc(sizeof *e);
  snprintf(e->message, sizeof e->message, "%s", args->message);
  e->code = args->errc;
  return ++errors, e;
}
static void destroy_error(XLA_FFI_Error_Destroy_Args* args) { free(args->error), --errors; }

static pthread_t pool[256];
static int pooled, pool_size; /* 0: there is none */
typedef struct Task {
  XLA_FFI_Task* task;
  void* data;
} Task;
static void* run_task(void* task_) {
  Task task = *(Task*)task_;
  free(task_);
  task.task(task.data);
  return NULL;
}
static XLA_FFI_Error* no_pool(void) {
  XLA_FFI_Error_Create_Args args = {.message = "there is no pool", .errc = XLA_FFI_Error_Code_UNIMPLEMENTED};
  return create_error(&args);
}
static XLA_FFI_Error* schedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  if (pool_size == 0 || pooled == 256) return no_pool();
  Task* task = malloc(sizeof *task);
  task->task = args->task, task->data = args->data;
  return pthread_create(&pool[pooled++], NULL, run_task, task) == 0 ? NULL : no_pool();
}
static XLA_FFI_Error* threads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  if (pool_size == 0) return no_pool();
  *args->num_threads = pool_size;
  return NULL;
}
static XLA_FFI_Api api;

/* ---- calls --------------------------------------------------------------------------------------------------------- */
typedef struct Call {
  XLA_FFI_Buffer buffers[8];
  int64_t dims[8][8];
  void* blocks[8];
  int operands, results;
} Call;

/* Adds a buffer of floats or bytes, with `values` where they are given, `shift` bytes past the beginning of its block. */
static float* add(Call* c, int result, XLA_FFI_DataType type, const void* values, size_t shift, int rank, const int64_t* dims) {
  const int n = c->operands + c->results;
  int64_t bytes = type == XLA_FFI_DataType_F32 || type == XLA_FFI_DataType_S32 ? 4 : 1;
  for (int d = 0; d < rank; ++d) bytes *= c->dims[n][d] = dims[d];
  c->blocks[n] = malloc((size_t)bytes + shift > 0 ? (size_t)bytes + shift : 1);
  char* data = (char*)c->blocks[n] + shift;
  if (values != NULL) memcpy(data, values, (size_t)bytes);
  c->buffers[n].struct_size = XLA_FFI_Buffer_STRUCT_SIZE;
  c->buffers[n].dtype = type, c->buffers[n].data = data, c->buffers[n].rank = rank, c->buffers[n].dims = c->dims[n];
  *(result ? &c->results : &c->operands) += 1;
  return (float*)(void*)data;
}
#define DIMS(...) \
  (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (const int64_t[]) { __VA_ARGS__ }

/* Runs a handler; the message, or "" after a success. The call keeps its buffers. */
static const char* run(XLA_FFI_Handler* handler, Call* c, XLA_FFI_ExecutionStage stage) {
  static char message[600];
  void *args[8], *rets[8];
  XLA_FFI_CallFrame frame;
  memset(&frame, 0, sizeof frame);
  for (int k = 0; k < c->operands; ++k) args[k] = &c->buffers[k];
  for (int k = 0; k < c->results; ++k) rets[k] = &c->buffers[c->operands + k];
  frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE, frame.api = &api, frame.stage = stage;
  frame.args.size = c->operands, frame.args.args = args;
  frame.rets.size = c->results, frame.rets.rets = rets;
  XLA_FFI_Error* e = handler(&frame);
  message[0] = 0;
  if (e != NULL) {
    snprintf(message, sizeof message, "%s", e->message);
    free(e), --errors;
  }
  return message;
}
static void end(Call* c) {
  for (int k = 0; k < c->operands + c->results; ++k) free(c->blocks[k]);
  memset(c, 0, sizeof *c);
}
static float swish(float x, float beta) { return x / (1 + expf(-beta * x)); }

/* ---- what is tested ------------------------------------------------------------------------------------------------ */
static void versions(XLA_FFI_Handler* handler) { /* it has that of the caller, or the oldest */
  for (int told = 0; told < 2; ++told) {
    XLA_FFI_Metadata metadata;
    XLA_FFI_Metadata_Extension extension;
    XLA_FFI_CallFrame frame;
    memset(&frame, 0, sizeof frame), memset(&extension, 0, sizeof extension), memset(&metadata, 0, sizeof metadata);
    extension.extension_base.type = XLA_FFI_Extension_Metadata, extension.metadata = &metadata;
    frame.extension_start = &extension.extension_base, frame.api = told ? &api : NULL;
    CHECK(handler(&frame) == NULL);
    CHECK(metadata.api_version.major_version == 0 && metadata.api_version.minor_version == (told ? 7 : 1));
  }
}

static void batches(XLA_FFI_Handler* handler) { /* x [2, 1, 3, 4], beta [1, 5] */
  Call c = {0};
  float x[24], beta[5];
  for (int k = 0; k < 24; ++k) x[k] = (float)k / 4 - 3;
  for (int k = 0; k < 5; ++k) beta[k] = (float)k;
  add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(2, 1, 3, 4));
  add(&c, 0, XLA_FFI_DataType_F32, beta, 0, DIMS(1, 5));
  const float* y = add(&c, 1, XLA_FFI_DataType_F32, NULL, 0, DIMS(2, 5, 3, 4));
  CHECK(strcmp(run(handler, &c, XLA_FFI_ExecutionStage_EXECUTE), "") == 0);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 5; ++b)
      for (int k = 0; k < 12; ++k) CHECK(fabsf(y[(a * 5 + b) * 12 + k] - swish(x[a * 12 + k], beta[b])) < 1e-5f);
  end(&c);
  add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(0, 3, 4)); /* none */
  add(&c, 0, XLA_FFI_DataType_F32, beta, 0, DIMS(1));
  add(&c, 1, XLA_FFI_DataType_F32, NULL, 0, DIMS(0, 3, 4));
  CHECK(strcmp(run(handler, &c, XLA_FFI_ExecutionStage_EXECUTE), "") == 0);
  end(&c);
}

static void alignment(XLA_FFI_Handler* handler) { /* bias [2, 3] asks for 64 bytes, and each of them begins at 12 k + 4 */
  Call c = {0};
  const float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, bias[6] = {1, 2, 3, 10, 20, 30};
  add(&c, 0, XLA_FFI_DataType_F32, x, 4, DIMS(2, 2, 3));
  add(&c, 0, XLA_FFI_DataType_F32, bias, 4, DIMS(2, 3));
  const float* y = add(&c, 1, XLA_FFI_DataType_F32, NULL, 4, DIMS(2, 2, 3));
  CHECK(strcmp(run(handler, &c, XLA_FFI_ExecutionStage_EXECUTE), "") == 0);
  for (int k = 0; k < 12; ++k) CHECK(y[k] == x[k] + bias[k / 6 * 3 + k % 3]);
  end(&c);
}

static void refusals(XLA_FFI_Handler* handler) {
  Call c = {0};
  const float x[12] = {0}, beta = 1;
#define REFUSED(text, stage)                                                                         \
  do {                                                                                               \
    const char* said = run(handler, &c, XLA_FFI_ExecutionStage_##stage);                             \
    if (strstr(said, text) == NULL) fprintf(stderr, "line %d: %s\n", __LINE__, said), failures += 1; \
    end(&c);                                                                                         \
  } while (0)
  add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(3, 4));
  REFUSED("swish: beta is missing", EXECUTE);
  REFUSED("swish: x is missing", EXECUTE);
  add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(3, 4)), add(&c, 0, XLA_FFI_DataType_F32, &beta, 0, 0, NULL);
  REFUSED("swish: y is missing", EXECUTE);
  REFUSED("one stage", INSTANTIATE);
  add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(12)), add(&c, 0, XLA_FFI_DataType_F32, &beta, 0, 0, NULL);
  add(&c, 1, XLA_FFI_DataType_F32, NULL, 0, DIMS(12));
  REFUSED("swish: x has rank 1, expected rank 2", EXECUTE);
  add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(3, 4)), add(&c, 0, XLA_FFI_DataType_F32, &beta, 0, 0, NULL);
  add(&c, 1, XLA_FFI_DataType_F32, NULL, 0, DIMS(4, 3));
  REFUSED("swish: y.shape[0] is 4, expected 3 (M, from x.shape[0])", EXECUTE);
  add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(3, 2, 2)), add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(2));
  add(&c, 1, XLA_FFI_DataType_F32, NULL, 0, DIMS(3, 2, 2));
  REFUSED("swish: beta has 2 elements in a batch of 3", EXECUTE);
  add(&c, 0, XLA_FFI_DataType_F32, x, 0, DIMS(3, 2, 2)), add(&c, 0, XLA_FFI_DataType_F32, &beta, 0, DIMS(1));
  add(&c, 1, XLA_FFI_DataType_F32, NULL, 0, DIMS(1, 2, 2)); /* too few results */
  REFUSED("swish: y has 1 elements in a batch of 3", EXECUTE);
  add(&c, 0, XLA_FFI_DataType_C64, x, 0, DIMS(1, 1)), add(&c, 0, XLA_FFI_DataType_F32, &beta, 0, 0, NULL);
  add(&c, 1, XLA_FFI_DataType_F32, NULL, 0, DIMS(1, 1));
  REFUSED("swish: x has a type that no kernel takes", EXECUTE);
}

static void large(XLA_FFI_Handler* handler) { /* on several threads */
  Call c = {0};
  const int64_t n = 512;
  float* values = malloc((size_t)(n * n) * sizeof *values);
  const float beta = 1.5f;
  for (int64_t k = 0; k < n * n; ++k) values[k] = (float)(k % 97) / 16 - 3;
  add(&c, 0, XLA_FFI_DataType_F32, values, 0, DIMS(n, n)), add(&c, 0, XLA_FFI_DataType_F32, &beta, 0, 0, NULL);
  const float* y = add(&c, 1, XLA_FFI_DataType_F32, NULL, 0, DIMS(n, n));
  CHECK(strcmp(run(handler, &c, XLA_FFI_ExecutionStage_EXECUTE), "") == 0);
  int wrong = 0;
  for (int64_t k = 0; k < n * n; ++k) wrong += fabsf(y[k] - swish(values[k], beta)) > 1e-5f;
  CHECK(wrong == 0);
  free(values), end(&c);
}

int main(int argc, char** argv) {
  void* kit = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  XLA_FFI_Handler *swish_handler = NULL, *strided_handler = NULL;
  if (kit == NULL) return fprintf(stderr, "jax_handler KIT.so: %s\n", argc == 2 ? dlerror() : "expected a library"), 2;
  *(void**)&swish_handler = dlsym(kit, "swish_jax"), *(void**)&strided_handler = dlsym(kit, "strided_jax");
  if (swish_handler == NULL || strided_handler == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  api.struct_size = XLA_FFI_Api_STRUCT_SIZE, api.api_version.minor_version = 7;
  api.XLA_FFI_Error_Create = create_error, api.XLA_FFI_Error_Destroy = destroy_error;
  api.XLA_FFI_ThreadPool_Schedule = schedule, api.XLA_FFI_ThreadPool_NumThreads = threads;
  versions(swish_handler);
  for (pool_size = 0; pool_size <= 4; pool_size += 4) {
    batches(swish_handler);
    alignment(strided_handler);
    refusals(swish_handler);
    large(swish_handler);
    if (pool_size > 0) CHECK(pooled > 0);
    while (pooled > 0) pthread_join(pool[--pooled], NULL);
  }
  CHECK(errors == 0);
  return failures != 0;
}
