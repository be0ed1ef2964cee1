/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* JAX operators that call the C entries of kernels; the C that a generator writes (-e jax) uses them. Callers do not
 * include it. The header of XLA's typed FFI comes from the user's jaxlib (jax.ffi.include_dir()).
 *
 * A handler takes its inputs and scalars as operands in the order of the kernel's arguments, and its outputs as results.
 * All may have the same number of leading batch dimensions (jax.vmap with vmap_method="expand_dims"). An operand has the
 * extent 1 in the batch dimensions along which it does not change. The kernel then runs once for each element of the
 * batch.
 *
 *   x [5, 1, M, N]   w [1, 3, N]   beta [5, 1]   y [5, 3, M]        15 calls
 */
#ifndef ASHLAR_RUNTIME_JAX_H
#define ASHLAR_RUNTIME_JAX_H
#include <ashlar/runtime/kit.h>
#include <pthread.h>
#include <xla/ffi/api/c_api.h>

#if XLA_FFI_API_MAJOR != 0
#error "this jaxlib has another version of XLA's FFI than 0, for which this Ashlar was made"
#endif

enum { ASHLAR_JAX_BATCH = 16 }; /* dimensions of batches, at most */

typedef struct ashlar_jax_call {
  const ashlar_kit_op* op;
  const XLA_FFI_Buffer* buffers[ASHLAR_ABI1_MAX_ARGUMENTS]; /* NULL: of an extent */
  ashlar_tensor tensors[ASHLAR_ABI1_MAX_ARGUMENTS];
  ashlar_kit_number numbers[ASHLAR_ABI1_MAX_ARGUMENTS];
  int64_t steps[ASHLAR_ABI1_MAX_ARGUMENTS][ASHLAR_JAX_BATCH]; /* bytes to the next element of the batch; 0: the same one */
  void* copies[ASHLAR_ABI1_MAX_ARGUMENTS];                    /* of elements that are less aligned than the kernel requires */
  int64_t batch[ASHLAR_JAX_BATCH];
  int32_t batch_rank;
  XLA_FFI_Error_Code code;
  char text[600]; /* the error; empty: none */
} ashlar_jax_call;

static inline int ashlar_jax_type(XLA_FFI_DataType type) { /* ASHLAR_F32, or 0 */
  switch ((int)type) {
    case XLA_FFI_DataType_PRED:
      return ASHLAR_BOOL;
    case XLA_FFI_DataType_S8:
      return ASHLAR_I8;
    case XLA_FFI_DataType_S16:
      return ASHLAR_I16;
    case XLA_FFI_DataType_S32:
      return ASHLAR_I32;
    case XLA_FFI_DataType_S64:
      return ASHLAR_I64;
    case XLA_FFI_DataType_U8:
      return ASHLAR_U8;
    case XLA_FFI_DataType_U16:
      return ASHLAR_U16;
    case XLA_FFI_DataType_U32:
      return ASHLAR_U32;
    case XLA_FFI_DataType_U64:
      return ASHLAR_U64;
    case XLA_FFI_DataType_F16:
      return ASHLAR_F16;
    case XLA_FFI_DataType_F32:
      return ASHLAR_F32;
    case XLA_FFI_DataType_F64:
      return ASHLAR_F64;
    case XLA_FFI_DataType_BF16:
      return ASHLAR_BF16;
    case XLA_FFI_DataType_F8E4M3FN:
      return ASHLAR_E4M3;
    case XLA_FFI_DataType_F8E5M2:
      return ASHLAR_E5M2;
    default:
      return 0;
  }
}
static inline int64_t ashlar_jax_bytes(int type) { return type / 256 / 8; } /* of an element */

static inline XLA_FFI_Error* ashlar_jax_error(const XLA_FFI_Api* api, XLA_FFI_Error_Code code, const char* text) {
  XLA_FFI_Error_Create_Args args;
  memset(&args, 0, sizeof args);
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = text, args.errc = code;
  return api->XLA_FFI_Error_Create(&args);
}

/* A buffer as the tensor of an argument, at the first element of the batch. */
static inline void ashlar_jax_describe(ashlar_jax_call* c, int32_t n) {
  const ashlar_kit_argument* a = &c->op->arguments[n];
  const XLA_FFI_Buffer* b = c->buffers[n];
  ashlar_tensor* t = &c->tensors[n];
  const int type = ashlar_jax_type(b->dtype);
  const int64_t batch = b->rank - a->rank;
  memset(t, 0, sizeof *t);
  if (type == 0) {
    snprintf(c->text, sizeof c->text, "%s: %s has a type that no kernel takes", c->op->name, a->name);
  } else if (batch < 0 || batch > ASHLAR_JAX_BATCH || (c->batch_rank >= 0 && batch != c->batch_rank)) {
    snprintf(c->text, sizeof c->text, "%s: %s has rank %lld, expected rank %d", c->op->name, a->name, (long long)b->rank,
             (int)(a->rank + (c->batch_rank > 0 ? c->batch_rank : 0)));
  } else {
    int64_t step = ashlar_jax_bytes(type);
    c->batch_rank = (int32_t)batch;
    for (int64_t d = b->rank - 1; d >= 0; --d) {
      if (d < batch) c->steps[n][d] = b->dims[d] == 1 ? 0 : step;
      step *= b->dims[d];
    }
    t->data = b->data;
    t->device_type = ASHLAR_ON_HOST;
    t->ndim = a->rank;
    t->type_code = (uint8_t)(type & 255), t->type_bits = (uint8_t)(type >> 8), t->type_lanes = 1;
    t->shape = b->dims + batch;
  }
}

/* The extents of the batch: that of any argument, where it is not 1. */
static inline void ashlar_jax_batch(ashlar_jax_call* c) {
  for (int32_t d = 0; d < c->batch_rank; ++d) {
    c->batch[d] = 1;
    for (int32_t n = 0; n < c->op->count; ++n) {
      if (c->buffers[n] == NULL || c->buffers[n]->dims[d] == 1) continue;
      if (c->text[0] == 0 && c->batch[d] != 1 && c->batch[d] != c->buffers[n]->dims[d])
        snprintf(c->text, sizeof c->text, "%s: %s has %lld elements in a batch of %lld", c->op->name, c->op->arguments[n].name,
                 (long long)c->buffers[n]->dims[d], (long long)c->batch[d]);
      c->batch[d] = c->buffers[n]->dims[d];
    }
    for (int32_t n = 0; n < c->op->count; ++n)
      if (c->text[0] == 0 && c->buffers[n] != NULL && c->op->arguments[n].kind == ASHLAR_KIT_OUTPUT &&
          c->buffers[n]->dims[d] != c->batch[d])
        snprintf(c->text, sizeof c->text, "%s: %s has %lld elements in a batch of %lld", c->op->name, c->op->arguments[n].name,
                 (long long)c->buffers[n]->dims[d], (long long)c->batch[d]);
  }
}

static inline void ashlar_jax_number(ashlar_jax_call* c, int32_t n, const void* at) {
  const ashlar_kit_argument* a = &c->op->arguments[n];
  const int type = ashlar_jax_type(c->buffers[n]->dtype);
  int64_t integer = 0;
  double real = 0;
  int known = a->kind == ASHLAR_KIT_REAL ? 0 : 1;
#define ASHLAR_JAX_READ(T, name, result) \
  case name: {                           \
    T value;                             \
    memcpy(&value, at, sizeof value);    \
    result;                              \
    break;                               \
  }
  switch (type) {
    ASHLAR_JAX_READ(int8_t, ASHLAR_I8, integer = value)
    ASHLAR_JAX_READ(int16_t, ASHLAR_I16, integer = value)
    ASHLAR_JAX_READ(int32_t, ASHLAR_I32, integer = value)
    ASHLAR_JAX_READ(int64_t, ASHLAR_I64, integer = value)
    ASHLAR_JAX_READ(uint8_t, ASHLAR_U8, integer = value)
    ASHLAR_JAX_READ(uint16_t, ASHLAR_U16, integer = value)
    ASHLAR_JAX_READ(uint32_t, ASHLAR_U32, integer = value)
    ASHLAR_JAX_READ(uint64_t, ASHLAR_U64, integer = value > INT64_MAX ? INT64_MAX : (int64_t)value)
    ASHLAR_JAX_READ(uint8_t, ASHLAR_BOOL, integer = value != 0)
    ASHLAR_JAX_READ(float, ASHLAR_F32, (real = value, known = !known))
    ASHLAR_JAX_READ(double, ASHLAR_F64, (real = value, known = !known))
    default:
      known = 0;
  }
#undef ASHLAR_JAX_READ
  if (a->kind == ASHLAR_KIT_REAL)
    c->numbers[n].real = real;
  else
    c->numbers[n].integer = integer;
  if (!known)
    snprintf(c->text, sizeof c->text, "%s: %s is a number of another kind than the kernel takes", c->op->name, a->name);
  else if (a->kind == ASHLAR_KIT_INTEGER && (integer < a->min || integer > a->max))
    snprintf(c->text, sizeof c->text, "%s: %s is %lld, expected %lld to %lld", c->op->name, a->name, (long long)integer,
             (long long)a->min, (long long)a->max);
}

static inline void ashlar_jax_element(ashlar_jax_call* c, const int64_t* index, const ashlar_context* context) {
  char* places[ASHLAR_ABI1_MAX_ARGUMENTS];
  for (int32_t n = 0; n < c->op->count && c->text[0] == 0; ++n) {
    if (c->buffers[n] == NULL) continue;
    places[n] = (char*)c->buffers[n]->data;
    for (int32_t d = 0; d < c->batch_rank; ++d) places[n] += index[d] * c->steps[n][d];
    c->tensors[n].data = places[n];
    if (!ashlar_kit_is_tensor(&c->op->arguments[n])) {
      ashlar_jax_number(c, n, places[n]);
    } else if (ashlar_kit_align(&c->op->arguments[n], &c->tensors[n], &c->copies[n]) != 0) {
      c->code = XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
      snprintf(c->text, sizeof c->text, "%s: no memory for an aligned copy of %s", c->op->name, c->op->arguments[n].name);
    }
  }
  if (c->text[0] != 0) return;
  const int code = c->op->run(c->tensors, c->numbers, context);
  if (code == ASHLAR_OK) {
    for (int32_t n = 0; n < c->op->count; ++n)
      if (c->op->arguments[n].kind == ASHLAR_KIT_OUTPUT && c->tensors[n].data != places[n])
        memcpy(places[n], c->tensors[n].data, (size_t)ashlar_kit_bytes(&c->tensors[n]));
    return;
  }
  ashlar_kit_message(c->op, code, context->error, c->text, sizeof c->text);
  if (code == ASHLAR_E_MEMORY) c->code = XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
  if (code <= ASHLAR_E_DEVICE && code >= ASHLAR_E_ABI && code != ASHLAR_E_MEMORY) c->code = XLA_FFI_Error_Code_INTERNAL;
}

/* ---- threads: those of XLA ------------------------------------------------------------------------------------------ */
typedef struct ashlar_jax_threads {
  const XLA_FFI_Api* api;
  XLA_FFI_ExecutionContext* ctx;
} ashlar_jax_threads;

/* A loop whose slots are handed out one by one to the calling thread and to tasks in XLA's pool. The calling thread waits
 * for slots that have begun, never for tasks that have not, so a pool whose threads all wait makes progress. A task that
 * comes too late finds no slot; the last one to finish frees the loop. */
typedef struct ashlar_jax_loop {
  int (*body)(void* closure, int32_t slot);
  void* closure;
  int32_t count, next, holders;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int32_t ended;
  int result;
} ashlar_jax_loop;

static inline void ashlar_jax_let_go(ashlar_jax_loop* loop) {
  if (__atomic_sub_fetch(&loop->holders, 1, __ATOMIC_ACQ_REL) != 0) return;
  pthread_cond_destroy(&loop->changed);
  pthread_mutex_destroy(&loop->lock);
  free(loop);
}

static inline void ashlar_jax_work(ashlar_jax_loop* loop) {
  int32_t slot, done = 0;
  int result = 0;
  while ((slot = __atomic_fetch_add(&loop->next, 1, __ATOMIC_RELAXED)) < loop->count) {
    const int code = loop->body(loop->closure, slot);
    if (result == 0) result = code;
    ++done;
  }
  if (done == 0) return;
  pthread_mutex_lock(&loop->lock);
  loop->ended += done;
  if (loop->result == 0) loop->result = result;
  if (loop->ended == loop->count) pthread_cond_broadcast(&loop->changed);
  pthread_mutex_unlock(&loop->lock);
}

static inline void ashlar_jax_task(void* loop) {
  ashlar_jax_work((ashlar_jax_loop*)loop);
  ashlar_jax_let_go((ashlar_jax_loop*)loop);
}

static inline int ashlar_jax_failed(const XLA_FFI_Api* api, XLA_FFI_Error* error) {
  XLA_FFI_Error_Destroy_Args args;
  if (error == NULL) return 0;
  memset(&args, 0, sizeof args);
  args.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, args.error = error;
  api->XLA_FFI_Error_Destroy(&args);
  return 1;
}

static inline int ashlar_jax_parallel_for(void* user, int32_t count, int (*body)(void* closure, int32_t slot), void* closure) {
  const ashlar_jax_threads* threads = (const ashlar_jax_threads*)user;
  ashlar_jax_loop* loop = (ashlar_jax_loop*)calloc(1, sizeof *loop);
  XLA_FFI_ThreadPool_Schedule_Args args;
  if (loop == NULL) return ASHLAR_E_MEMORY;
  loop->body = body, loop->closure = closure, loop->count = count, loop->holders = 1;
  pthread_mutex_init(&loop->lock, NULL);
  pthread_cond_init(&loop->changed, NULL);
  memset(&args, 0, sizeof args);
  args.struct_size = XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE;
  args.ctx = threads->ctx, args.task = ashlar_jax_task, args.data = loop;
  for (int32_t k = 1; k < count; ++k) {
    __atomic_add_fetch(&loop->holders, 1, __ATOMIC_RELAXED);
    if (!ashlar_jax_failed(threads->api, threads->api->XLA_FFI_ThreadPool_Schedule(&args))) continue;
    ashlar_jax_let_go(loop); /* the threads that are there run the slots */
    break;
  }
  ashlar_jax_work(loop);
  pthread_mutex_lock(&loop->lock);
  while (loop->ended < count) pthread_cond_wait(&loop->changed, &loop->lock);
  const int result = loop->result;
  pthread_mutex_unlock(&loop->lock);
  ashlar_jax_let_go(loop);
  return result;
}

/* The context of the calls: as many threads as XLA has for one operator; one if it has no pool. */
static inline void ashlar_jax_context(const ashlar_jax_threads* threads, ashlar_context* context) {
  int64_t count = 1;
  XLA_FFI_ThreadPool_NumThreads_Args args;
  memset(&args, 0, sizeof args);
  args.struct_size = XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE;
  args.ctx = threads->ctx, args.num_threads = &count;
  if (ashlar_jax_failed(threads->api, threads->api->XLA_FFI_ThreadPool_NumThreads(&args)) || count < 1) count = 1;
  ashlar_default_context(context);
  context->user = (void*)(uintptr_t)threads;
  context->parallelism = count < 1024 ? (int32_t)count : 1024, context->parallel_for = ashlar_jax_parallel_for;
}

static inline void ashlar_jax_elements(ashlar_jax_call* c, const XLA_FFI_CallFrame* frame) { /* of the batch; one without it */
  const ashlar_jax_threads threads = {frame->api, frame->ctx};
  ashlar_error error = {0};
  ashlar_context context;
  int64_t index[ASHLAR_JAX_BATCH] = {0};
  int32_t d;
  for (d = 0; d < c->batch_rank; ++d)
    if (c->batch[d] == 0) return;
  ashlar_jax_context(&threads, &context);
  context.error = &error;
  do {
    ashlar_jax_element(c, index, &context);
    for (d = c->batch_rank - 1; d >= 0 && ++index[d] == c->batch[d]; --d) index[d] = 0;
  } while (d >= 0 && c->text[0] == 0);
}

static inline void ashlar_jax_take(ashlar_jax_call* c, const XLA_FFI_CallFrame* frame) { /* operands and results */
  int64_t operands = 0, results = 0;
  for (int32_t n = 0; n < c->op->count; ++n) {
    const int32_t kind = c->op->arguments[n].kind;
    if (kind == ASHLAR_KIT_EXTENT) continue;
    if (kind == ASHLAR_KIT_OUTPUT ? results >= frame->rets.size : operands >= frame->args.size) {
      snprintf(c->text, sizeof c->text, "%s: %s is missing", c->op->name, c->op->arguments[n].name);
      return;
    }
    c->buffers[n] =
        (const XLA_FFI_Buffer*)(kind == ASHLAR_KIT_OUTPUT ? frame->rets.rets[results++] : frame->args.args[operands++]);
    ashlar_jax_describe(c, n);
    if (c->text[0] != 0) return;
  }
  if (operands != frame->args.size || results != frame->rets.size)
    snprintf(c->text, sizeof c->text, "%s: expected %lld operands and %lld results, found %lld and %lld", c->op->name,
             (long long)operands, (long long)results, (long long)frame->args.size, (long long)frame->rets.size);
  else
    ashlar_jax_batch(c);
}

static inline XLA_FFI_Error* ashlar_jax_operate(const ashlar_kit_op* op, XLA_FFI_CallFrame* frame) {
  ashlar_jax_call c;
  if (frame->extension_start != NULL && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    /* Which version is this? What is used here is the same in all versions from 0.1 on: that of the caller, where it is told.
     */
    XLA_FFI_Metadata* m = ((XLA_FFI_Metadata_Extension*)(void*)frame->extension_start)->metadata;
    const int told = frame->api != NULL && frame->api->api_version.major_version == XLA_FFI_API_MAJOR;
    m->api_version.major_version = XLA_FFI_API_MAJOR;
    m->api_version.minor_version = told ? frame->api->api_version.minor_version : 1;
    m->traits = 0;
    return NULL;
  }
  if (frame->stage != XLA_FFI_ExecutionStage_EXECUTE)
    return ashlar_jax_error(frame->api, XLA_FFI_Error_Code_INTERNAL, "an operator of Ashlar has one stage, that of execution");
  memset(&c, 0, sizeof c);
  c.op = op, c.batch_rank = -1, c.code = XLA_FFI_Error_Code_INVALID_ARGUMENT;
  ashlar_jax_take(&c, frame);
  if (c.text[0] == 0) ashlar_jax_elements(&c, frame);
  for (int32_t n = 0; n < op->count; ++n) free(c.copies[n]);
  return c.text[0] == 0 ? NULL : ashlar_jax_error(frame->api, c.code, c.text);
}
#endif
