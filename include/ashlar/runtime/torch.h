/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* PyTorch operators that call the C entries of kernels; the C that a generator writes (-e torch) uses them. Callers do not
 * include it.
 *
 * An operator is a boxed function of PyTorch's stable ABI: it takes its arguments from a stack of 64-bit values and leaves its
 * results there. The functions of that ABI (torch/csrc/inductor/aoti_torch/c/shim.h and torch/csrc/stable/c/shim.h in PyTorch's
 * headers) are declared here and looked up when the library is loaded, so that it is built without PyTorch, serves every
 * release that has them, and can say which one is missing.
 *
 * Invariant: a failure leaves no handle behind, and becomes an exception by PyTorch's own means (aoti_torch_check). The
 * frames here own nothing that unwinding must release. The C is compiled with -fexceptions.
 */
#ifndef ASHLAR_RUNTIME_TORCH_H
#define ASHLAR_RUNTIME_TORCH_H
#include <ashlar/runtime/kit.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- the functions of PyTorch -------------------------------------------------------------------------------------- */
typedef void* ashlar_torch_handle; /* of a tensor, a library or a guard */
typedef void (*ashlar_torch_boxed)(uint64_t* stack, uint64_t inputs, uint64_t outputs);

/* F(result, name, parameters). All but the checks and the types return 0, or 1 after a failure. */
#define ASHLAR_TORCH_NEEDED(F)                                                                                             \
  F(int32_t, aoti_torch_library_init_fragment, (const char* ns, const char* file, uint32_t line, ashlar_torch_handle*))    \
  F(int32_t, aoti_torch_library_init_impl,                                                                                 \
    (const char* ns, const char* key, const char* file, uint32_t line, ashlar_torch_handle*))                              \
  F(int32_t, aoti_torch_library_def, (ashlar_torch_handle library, const char* schema))                                    \
  F(int32_t, aoti_torch_library_impl, (ashlar_torch_handle library, const char* name, ashlar_torch_boxed))                 \
  F(void, aoti_torch_check, (bool holds, const char* function, const char* file, uint32_t line, const char* message))      \
  F(int32_t, aoti_torch_delete_tensor_object, (ashlar_torch_handle))                                                       \
  F(int32_t, aoti_torch_get_data_ptr, (ashlar_torch_handle, void**))                                                       \
  F(int32_t, aoti_torch_get_dim, (ashlar_torch_handle, int64_t*))                                                          \
  F(int32_t, aoti_torch_get_sizes, (ashlar_torch_handle, int64_t**))                                                       \
  F(int32_t, aoti_torch_get_strides, (ashlar_torch_handle, int64_t**))                                                     \
  F(int32_t, aoti_torch_get_dtype, (ashlar_torch_handle, int32_t*))                                                        \
  F(int32_t, aoti_torch_get_device_type, (ashlar_torch_handle, int32_t*))                                                  \
  F(int32_t, aoti_torch_get_device_index, (ashlar_torch_handle, int32_t*))                                                 \
  F(int32_t, aoti_torch_empty_strided,                                                                                     \
    (int64_t rank, const int64_t* sizes, const int64_t* strides, int32_t dtype, int32_t device_type, int32_t device_index, \
     ashlar_torch_handle*))                                                                                                \
  F(int32_t, aoti_torch_device_type_cpu, (void))                                                                           \
  F(int32_t, aoti_torch_device_type_cuda, (void))                                                                          \
  F(int32_t, aoti_torch_dtype_int8, (void))                                                                                \
  F(int32_t, aoti_torch_dtype_int16, (void))                                                                               \
  F(int32_t, aoti_torch_dtype_int32, (void))                                                                               \
  F(int32_t, aoti_torch_dtype_int64, (void))                                                                               \
  F(int32_t, aoti_torch_dtype_uint8, (void))                                                                               \
  F(int32_t, aoti_torch_dtype_uint16, (void))                                                                              \
  F(int32_t, aoti_torch_dtype_uint32, (void))                                                                              \
  F(int32_t, aoti_torch_dtype_uint64, (void))                                                                              \
  F(int32_t, aoti_torch_dtype_float16, (void))                                                                             \
  F(int32_t, aoti_torch_dtype_bfloat16, (void))                                                                            \
  F(int32_t, aoti_torch_dtype_float32, (void))                                                                             \
  F(int32_t, aoti_torch_dtype_float64, (void))                                                                             \
  F(int32_t, aoti_torch_dtype_bool, (void))                                                                                \
  F(int32_t, aoti_torch_dtype_float8_e4m3fn, (void))                                                                       \
  F(int32_t, aoti_torch_dtype_float8_e5m2, (void))
/* From PyTorch 2.10 on: its threads, and access to an input without triggering a copy on write. */
#define ASHLAR_TORCH_LATER(F)                                                                                            \
  F(int32_t, torch_get_num_threads, (uint32_t*))                                                                         \
  F(int32_t, torch_parallel_for,                                                                                         \
    (int64_t begin, int64_t end, int64_t grain, void (*body)(int64_t begin, int64_t end, void* closure), void* closure)) \
  F(int32_t, torch_get_const_data_ptr, (ashlar_torch_handle, const void**))
/* Only in a PyTorch with CUDA; the allocator from 2.10 on. */
#define ASHLAR_TORCH_CUDA(F)                                                             \
  F(int32_t, aoti_torch_get_current_cuda_stream, (int32_t device_index, void** stream))  \
  F(int32_t, aoti_torch_create_cuda_guard, (int32_t device_index, ashlar_torch_handle*)) \
  F(int32_t, aoti_torch_delete_cuda_guard, (ashlar_torch_handle))                        \
  F(int32_t, aoti_torch_cuda_caching_allocator_raw_alloc, (uint64_t bytes, void**))      \
  F(int32_t, aoti_torch_cuda_caching_allocator_raw_delete, (void*))

enum { ASHLAR_TORCH_TYPES = 64 }; /* more than PyTorch has numbers for types */
static struct {
#define ASHLAR_TORCH_FIELD(result, name, parameters) result(*name) parameters;
  ASHLAR_TORCH_NEEDED(ASHLAR_TORCH_FIELD)
  ASHLAR_TORCH_LATER(ASHLAR_TORCH_FIELD)
  ASHLAR_TORCH_CUDA(ASHLAR_TORCH_FIELD)
#undef ASHLAR_TORCH_FIELD
  int32_t cpu, cuda;                    /* device types */
  uint16_t type_of[ASHLAR_TORCH_TYPES]; /* by PyTorch's number of a type: ASHLAR_F32, …; 0: no kernel takes it */
  char status[400];                     /* why the operators could not be registered; empty: they were */
} ashlar_torch;

/* ---- what the generator writes ------------------------------------------------------------------------------------- */
typedef struct ashlar_torch_op { /* an operator and its variant that takes the outputs: mine::f and mine::f.out */
  ashlar_kit_op kit;
  const char *ns, *schema, *out_schema;
} ashlar_torch_op;

/* ---- a call -------------------------------------------------------------------------------------------------------- */
typedef struct ashlar_torch_call { /* at most as many arguments as a descriptor has */
  const ashlar_torch_op* op;
  ashlar_tensor tensors[ASHLAR_ABI1_MAX_ARGUMENTS];
  ashlar_kit_number numbers[ASHLAR_ABI1_MAX_ARGUMENTS];
  ashlar_torch_handle handles[ASHLAR_ABI1_MAX_ARGUMENTS]; /* NULL: none */
  ashlar_kit_shape shapes[ASHLAR_ABI1_MAX_ARGUMENTS], strides[ASHLAR_ABI1_MAX_ARGUMENTS];
  char text[600]; /* the error; empty: none */
} ashlar_torch_call;

static inline int32_t ashlar_torch_type_number(int type) { /* of PyTorch */
  for (int32_t k = 0; k < ASHLAR_TORCH_TYPES; ++k)
    if (ashlar_torch.type_of[k] == type) return k;
  return -1;
}

static inline void ashlar_torch_describe(ashlar_torch_call* c, int32_t n) { /* handles[n] as tensors[n] */
  ashlar_torch_handle h = c->handles[n];
  ashlar_tensor* t = &c->tensors[n];
  const bool written = c->op->kit.arguments[n].kind == ASHLAR_KIT_OUTPUT;
  int64_t rank = 0;
  int32_t type = -1, device = -1;
  int failed = 0;
  memset(t, 0, sizeof *t);
  if (!written && ashlar_torch.torch_get_const_data_ptr != NULL) {
    const void* data = NULL;
    failed |= ashlar_torch.torch_get_const_data_ptr(h, &data);
    t->data = (void*)(uintptr_t)data;
  } else {
    failed |= ashlar_torch.aoti_torch_get_data_ptr(h, &t->data);
  }
  failed |= ashlar_torch.aoti_torch_get_dim(h, &rank) | ashlar_torch.aoti_torch_get_sizes(h, &t->shape) |
            ashlar_torch.aoti_torch_get_strides(h, &t->strides) | ashlar_torch.aoti_torch_get_dtype(h, &type) |
            ashlar_torch.aoti_torch_get_device_type(h, &device) | ashlar_torch.aoti_torch_get_device_index(h, &t->device_id);
  if (failed) {
    snprintf(c->text, sizeof c->text, "%s: %s has no memory with strides", c->op->kit.name, c->op->kit.arguments[n].name);
    return;
  }
  const int known = type >= 0 && type < ASHLAR_TORCH_TYPES ? ashlar_torch.type_of[type] : 0;
  t->ndim = (int32_t)rank;
  t->type_code = (uint8_t)(known & 255), t->type_bits = (uint8_t)(known >> 8), t->type_lanes = 1;
  t->device_type = device == ashlar_torch.cpu ? ASHLAR_ON_HOST : device == ashlar_torch.cuda ? ASHLAR_ON_CUDA : 0;
  if (t->device_type == ASHLAR_ON_HOST) t->device_id = 0;
  if (known == 0)
    snprintf(c->text, sizeof c->text, "%s: %s has a type that no kernel takes", c->op->kit.name, c->op->kit.arguments[n].name);
  else if (t->device_type == 0)
    snprintf(c->text, sizeof c->text, "%s: %s is on a device that is neither the processor nor a CUDA device", c->op->kit.name,
             c->op->kit.arguments[n].name);
  else if (rank != c->op->kit.arguments[n].rank)
    snprintf(c->text, sizeof c->text, "%s: %s has rank %lld, expected rank %d", c->op->kit.name, c->op->kit.arguments[n].name,
             (long long)rank, (int)c->op->kit.arguments[n].rank);
}

static inline void ashlar_torch_take(ashlar_torch_call* c, int32_t n, uint64_t value) { /* an argument from the stack */
  const ashlar_kit_argument* a = &c->op->kit.arguments[n];
  if (ashlar_kit_is_tensor(a)) {
    c->handles[n] = (ashlar_torch_handle)(uintptr_t)value;
    if (c->text[0] == 0) ashlar_torch_describe(c, n);
  } else if (a->kind == ASHLAR_KIT_REAL) {
    memcpy(&c->numbers[n].real, &value, sizeof value);
  } else if (a->kind == ASHLAR_KIT_BOOLEAN) {
    c->numbers[n].integer = (value & 255) != 0;
  } else {
    const int64_t v = (int64_t)value;
    c->numbers[n].integer = v;
    if ((v < a->min || v > a->max) && c->text[0] == 0)
      snprintf(c->text, sizeof c->text, "%s: %s is %lld, expected %lld to %lld", c->op->kit.name, a->name, (long long)v,
               (long long)a->min, (long long)a->max);
  }
}

/* A dense tensor for an output, on the device of the first input. Extents below 0 are those of a call that the kernel refuses.
 */
static inline void ashlar_torch_allocate(ashlar_torch_call* c, int32_t n, const ashlar_tensor* like) {
  const ashlar_kit_argument* a = &c->op->kit.arguments[n];
  int64_t stride = 1;
  for (int d = a->rank - 1; d >= 0; --d) {
    if (c->shapes[n][d] < 0) c->shapes[n][d] = 0;
    c->strides[n][d] = stride;
    if (__builtin_mul_overflow(stride, c->shapes[n][d] > 1 ? c->shapes[n][d] : 1, &stride)) {
      snprintf(c->text, sizeof c->text, "%s: %s would have more elements than memory can hold", c->op->kit.name, a->name);
      return;
    }
  }
  const bool cuda = like->device_type == ASHLAR_ON_CUDA;
  if (ashlar_torch.aoti_torch_empty_strided(a->rank, c->shapes[n], c->strides[n], ashlar_torch_type_number(a->type),
                                            cuda ? ashlar_torch.cuda : ashlar_torch.cpu, cuda ? like->device_id : -1,
                                            &c->handles[n]) != 0) {
    c->handles[n] = NULL;
    snprintf(c->text, sizeof c->text, "%s: no memory for %s", c->op->kit.name, a->name);
    return;
  }
  ashlar_torch_describe(c, n);
}

typedef struct ashlar_torch_loop {
  int (*body)(void* closure, int32_t slot);
  void* closure;
  int result;
} ashlar_torch_loop;
static inline void ashlar_torch_range(int64_t begin, int64_t end, void* loop_) {
  ashlar_torch_loop* loop = (ashlar_torch_loop*)loop_;
  for (; begin < end; ++begin) {
    const int result = loop->body(loop->closure, (int32_t)begin);
    if (result != 0) __atomic_store_n(&loop->result, result, __ATOMIC_RELAXED);
  }
}
/* ashlar_context.parallel_for on PyTorch's threads, as many as torch.set_num_threads says. */
static inline int ashlar_torch_parallel_for(void* user, int32_t count, int (*body)(void* closure, int32_t slot),
                                            void* closure) {
  ashlar_torch_loop loop = {body, closure, 0};
  (void)user;
  if (ashlar_torch.torch_parallel_for(0, count, 1, ashlar_torch_range, &loop) != 0) return ASHLAR_E_LAUNCH;
  return loop.result;
}

static inline void* ashlar_torch_cuda_allocate(void* user, size_t bytes, size_t align, int32_t type, int32_t id) {
  void* block = NULL;
  (void)user, (void)align, (void)type, (void)id; /* the caching allocator gives multiples of 512 bytes */
  return ashlar_torch.aoti_torch_cuda_caching_allocator_raw_alloc(bytes, &block) == 0 ? block : NULL;
}
static inline void ashlar_torch_cuda_release(void* user, void* block, int32_t type, int32_t id) {
  (void)user, (void)type, (void)id;
  (void)ashlar_torch.aoti_torch_cuda_caching_allocator_raw_delete(block);
}

static inline void ashlar_torch_run(ashlar_torch_call* c, bool cuda, int32_t device_index) {
  ashlar_error error = {0};
  ashlar_context context;
  ashlar_torch_handle guard = NULL;
  if (cuda) {
    memset(&context, 0, sizeof context);
    context.size = sizeof context;
    if (ashlar_torch.aoti_torch_cuda_caching_allocator_raw_alloc != NULL) /* else a pool of the runtime's */
      context.allocate = ashlar_torch_cuda_allocate, context.release = ashlar_torch_cuda_release;
    if (ashlar_torch.aoti_torch_get_current_cuda_stream(device_index, &context.stream) != 0 ||
        ashlar_torch.aoti_torch_create_cuda_guard(device_index, &guard) != 0) {
      snprintf(c->text, sizeof c->text, "%s: PyTorch gives no stream for CUDA device %d", c->op->kit.name, (int)device_index);
      return;
    }
    if (context.stream == NULL) context.stream = (void*)1; /* the legacy default stream, without waiting */
  } else {
    ashlar_default_context(&context);
    uint32_t threads = 1;
    if (ashlar_torch.torch_parallel_for != NULL && ashlar_torch.torch_get_num_threads != NULL &&
        ashlar_torch.torch_get_num_threads(&threads) == 0)
      context.parallelism = (int32_t)threads, context.parallel_for = ashlar_torch_parallel_for;
  }
  context.error = &error;
  const int code = c->op->kit.run(c->tensors, c->numbers, &context);
  if (guard != NULL) (void)ashlar_torch.aoti_torch_delete_cuda_guard(guard);
  if (code == ASHLAR_OK) return;
  ashlar_kit_message(&c->op->kit, code, &error, c->text, sizeof c->text);
  if (code == ASHLAR_E_STRIDE && error.argument >= 0 && error.argument < c->op->kit.count &&
      c->op->kit.arguments[error.argument].kind == ASHLAR_KIT_INPUT)
    snprintf(c->text + strlen(c->text), sizeof c->text - strlen(c->text), "; pass %s.contiguous()",
             c->op->kit.arguments[error.argument].name);
}

static inline void ashlar_torch_operate(const ashlar_torch_op* op, uint64_t* stack, bool cuda, bool given) {
  ashlar_torch_call c;
  const ashlar_tensor* first = NULL; /* input */
  int32_t at = 0;
  c.op = op, c.text[0] = 0;
  for (int32_t n = 0; n < op->kit.count; ++n) {
    c.handles[n] = NULL;
    if (op->kit.arguments[n].kind == ASHLAR_KIT_OUTPUT || (given && op->kit.arguments[n].kind == ASHLAR_KIT_EXTENT)) continue;
    ashlar_torch_take(&c, n, stack[at++]);
    if (first == NULL && op->kit.arguments[n].kind == ASHLAR_KIT_INPUT) first = &c.tensors[n];
  }
  if (!given && c.text[0] == 0) op->kit.shapes(c.tensors, c.numbers, c.shapes);
  for (int32_t n = 0; n < op->kit.count; ++n) {
    if (op->kit.arguments[n].kind != ASHLAR_KIT_OUTPUT) continue;
    if (given)
      ashlar_torch_take(&c, n, stack[at++]);
    else if (c.text[0] == 0)
      ashlar_torch_allocate(&c, n, first);
  }
  if (cuda && c.text[0] == 0 && ashlar_torch.aoti_torch_get_current_cuda_stream == NULL)
    snprintf(c.text, sizeof c.text, "%s: this PyTorch has no CUDA", op->kit.name);
  if (c.text[0] == 0) ashlar_torch_run(&c, cuda, first->device_id);
  at = 0;
  for (int32_t n = 0; n < op->kit.count; ++n) {
    if (c.handles[n] == NULL) continue;
    if (op->kit.arguments[n].kind == ASHLAR_KIT_OUTPUT && !given && c.text[0] == 0)
      stack[at++] = (uint64_t)(uintptr_t)c.handles[n];
    else
      (void)ashlar_torch.aoti_torch_delete_tensor_object(c.handles[n]);
  }
  if (c.text[0] != 0) ashlar_torch.aoti_torch_check(false, op->kit.name, "ashlar", 0, c.text);
}

/* ---- registration -------------------------------------------------------------------------------------------------- */
static inline bool ashlar_torch_open(void) {
  void* torch = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD); /* what `import torch` has loaded, under its name */
  void* cuda = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  const char* missing = NULL;
  void* found;
#define ASHLAR_TORCH_LOOK_UP(library, name)                                         \
  found = (library) != NULL ? dlsym((library), #name) : dlsym(RTLD_DEFAULT, #name); \
  memcpy(&ashlar_torch.name, &found, sizeof found);
#define ASHLAR_TORCH_NEED(result, name, parameters) \
  ASHLAR_TORCH_LOOK_UP(torch, name)                 \
  if (found == NULL && missing == NULL) missing = #name;
  ASHLAR_TORCH_NEEDED(ASHLAR_TORCH_NEED)
#define ASHLAR_TORCH_TRY(result, name, parameters) ASHLAR_TORCH_LOOK_UP(torch, name)
  ASHLAR_TORCH_LATER(ASHLAR_TORCH_TRY)
#define ASHLAR_TORCH_TRY_CUDA(result, name, parameters) ASHLAR_TORCH_LOOK_UP(cuda, name)
  ASHLAR_TORCH_CUDA(ASHLAR_TORCH_TRY_CUDA)
#undef ASHLAR_TORCH_LOOK_UP
#undef ASHLAR_TORCH_NEED
#undef ASHLAR_TORCH_TRY
#undef ASHLAR_TORCH_TRY_CUDA
  if (missing == NULL) return true;
  snprintf(ashlar_torch.status, sizeof ashlar_torch.status,
           torch == NULL ? "no PyTorch is loaded in this process (import torch comes first): %s is missing"
                         : "this PyTorch is older than 2.9, whose stable ABI is needed: %s is missing",
           missing);
  return false;
}

static inline void ashlar_torch_types(void) {
#define ASHLAR_TORCH_TYPE(name, type)                                                    \
  {                                                                                      \
    const int32_t number = ashlar_torch.aoti_torch_dtype_##name();                       \
    if (number >= 0 && number < ASHLAR_TORCH_TYPES) ashlar_torch.type_of[number] = type; \
  }
  ASHLAR_TORCH_TYPE(int8, ASHLAR_I8)
  ASHLAR_TORCH_TYPE(int16, ASHLAR_I16)
  ASHLAR_TORCH_TYPE(int32, ASHLAR_I32)
  ASHLAR_TORCH_TYPE(int64, ASHLAR_I64)
  ASHLAR_TORCH_TYPE(uint8, ASHLAR_U8)
  ASHLAR_TORCH_TYPE(uint16, ASHLAR_U16)
  ASHLAR_TORCH_TYPE(uint32, ASHLAR_U32)
  ASHLAR_TORCH_TYPE(uint64, ASHLAR_U64)
  ASHLAR_TORCH_TYPE(float16, ASHLAR_F16)
  ASHLAR_TORCH_TYPE(bfloat16, ASHLAR_BF16)
  ASHLAR_TORCH_TYPE(float32, ASHLAR_F32)
  ASHLAR_TORCH_TYPE(float64, ASHLAR_F64)
  ASHLAR_TORCH_TYPE(bool, ASHLAR_BOOL)
  ASHLAR_TORCH_TYPE(float8_e4m3fn, ASHLAR_E4M3)
  ASHLAR_TORCH_TYPE(float8_e5m2, ASHLAR_E5M2)
#undef ASHLAR_TORCH_TYPE
  ashlar_torch.cpu = ashlar_torch.aoti_torch_device_type_cpu();
  ashlar_torch.cuda = ashlar_torch.aoti_torch_device_type_cuda();
}

/* Defines the operator, and its functions for a device; NULL where it has none. */
static inline void ashlar_torch_define(const ashlar_torch_op* op) {
  ashlar_torch_handle library = NULL;
  if (!ashlar_torch_open()) return;
  ashlar_torch_types();
  if (ashlar_torch.aoti_torch_library_init_fragment(op->ns, op->kit.name, 0, &library) != 0 ||
      ashlar_torch.aoti_torch_library_def(library, op->schema) != 0 ||
      ashlar_torch.aoti_torch_library_def(library, op->out_schema) != 0)
    snprintf(ashlar_torch.status, sizeof ashlar_torch.status,
             "PyTorch refuses the operator %s::%s; another library of this process may have defined it", op->ns, op->kit.name);
}
static inline void ashlar_torch_implement(const ashlar_torch_op* op, const char* key, ashlar_torch_boxed f,
                                          ashlar_torch_boxed out) {
  ashlar_torch_handle library = NULL;
  char name[200];
  if (ashlar_torch.status[0] != 0) return;
  snprintf(name, sizeof name, "%s.out", op->kit.name);
  if (ashlar_torch.aoti_torch_library_init_impl(op->ns, key, op->kit.name, 0, &library) != 0 ||
      ashlar_torch.aoti_torch_library_impl(library, op->kit.name, f) != 0 ||
      ashlar_torch.aoti_torch_library_impl(library, name, out) != 0)
    snprintf(ashlar_torch.status, sizeof ashlar_torch.status, "PyTorch refuses the function of %s::%s for %s", op->ns,
             op->kit.name, key);
}
/* Another overload of an operator, without a derivative, that calls its function for the processor or for CUDA. */
static inline void ashlar_torch_add_plain(const char* ns, const char* name, const char* schema, const char* key,
                                          ashlar_torch_boxed f) {
  ashlar_torch_handle library = NULL;
  if (ashlar_torch.status[0] != 0) return;
  if ((schema != NULL && (ashlar_torch.aoti_torch_library_init_fragment(ns, name, 0, &library) != 0 ||
                          ashlar_torch.aoti_torch_library_def(library, schema) != 0)) ||
      ashlar_torch.aoti_torch_library_init_impl(ns, key, name, 0, &library) != 0 ||
      ashlar_torch.aoti_torch_library_impl(library, name, f) != 0)
    snprintf(ashlar_torch.status, sizeof ashlar_torch.status, "PyTorch refuses the operator %s::%s", ns, name);
}
/* For the Python module of the operator: is it registered, and is it the one that the module was made for? */
static inline const char* ashlar_torch_status(const ashlar_torch_op* op, const char* schema) {
  if (ashlar_torch.status[0] == 0 && strcmp(schema, op->schema) != 0)
    snprintf(ashlar_torch.status, sizeof ashlar_torch.status, "the module was made for %s, and the library has %s", schema,
             op->schema);
  return ashlar_torch.status;
}

#endif
