/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ONNX Runtime operators that call the C entries of kernels; the C that a generator writes (-e onnxruntime) uses them.
 * Callers do not include it. onnxruntime_c_api.h comes from the user's installation; only its functions of version 17 are
 * used, so that a library runs in all releases from 1.17 on.
 *
 * Inputs and outputs are those of the kernel, in its order. Scalars, and extents that no input determines, are attributes.
 */
#ifndef ASHLAR_RUNTIME_ONNXRUNTIME_H
#define ASHLAR_RUNTIME_ONNXRUNTIME_H
#include <ashlar/runtime/kit.h>
#include <onnxruntime_c_api.h>

enum { ASHLAR_ORT_API = 17 }; /* the first version with shape inference of custom operators */
#if ORT_API_VERSION < 17
#error "the header of ONNX Runtime 1.17 or later is needed"
#endif

/* Of the library, which its RegisterCustomOps sets. */
extern const OrtApi* ashlar_ort_api;

typedef struct ashlar_ort_op {
  OrtCustomOp base; /* the first: ONNX Runtime gives its address back */
  ashlar_kit_op kit;
} ashlar_ort_op;

typedef struct ashlar_ort_kernel { /* a node of a model */
  const ashlar_kit_op* op;
  ashlar_kit_number numbers[ASHLAR_ABI1_MAX_ARGUMENTS];
} ashlar_ort_kernel;

typedef struct ashlar_ort_call {
  const ashlar_kit_op* op;
  OrtKernelContext* context;
  ashlar_tensor tensors[ASHLAR_ABI1_MAX_ARGUMENTS];
  ashlar_kit_shape shapes[ASHLAR_ABI1_MAX_ARGUMENTS];
  void* copies[ASHLAR_ABI1_MAX_ARGUMENTS]; /* of memory that is less aligned than the kernel requires */
  void* memory[ASHLAR_ABI1_MAX_ARGUMENTS]; /* of outputs: where they go */
} ashlar_ort_call;

static inline ONNXTensorElementDataType ashlar_ort_type(int type) { /* of ASHLAR_F32 */
  const struct {
    int ours;
    ONNXTensorElementDataType theirs;
  } types[] = {
      {ASHLAR_I8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},        {ASHLAR_I16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
      {ASHLAR_I32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},      {ASHLAR_I64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
      {ASHLAR_U8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},       {ASHLAR_U16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
      {ASHLAR_U32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},     {ASHLAR_U64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
      {ASHLAR_F16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},    {ASHLAR_F32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
      {ASHLAR_F64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},     {ASHLAR_BF16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
      {ASHLAR_BOOL, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},      {ASHLAR_E4M3, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN},
      {ASHLAR_E5M2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2}};
  for (size_t k = 0; k < sizeof types / sizeof *types; ++k)
    if (types[k].ours == type) return types[k].theirs;
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

/* ---- what an operator is ------------------------------------------------------------------------------------------- */
static inline size_t ashlar_ort_count(const ashlar_kit_op* op, int32_t kind) {
  size_t count = 0;
  for (int32_t n = 0; n < op->count; ++n) count += op->arguments[n].kind == kind;
  return count;
}
static inline const ashlar_kit_argument* ashlar_ort_argument(const OrtCustomOp* base, int32_t kind, size_t index) {
  const ashlar_kit_op* op = &((const ashlar_ort_op*)base)->kit;
  for (int32_t n = 0; n < op->count; ++n)
    if (op->arguments[n].kind == kind && index-- == 0) return &op->arguments[n];
  return NULL;
}
static const char* ORT_API_CALL ashlar_ort_name(const OrtCustomOp* base) { return ((const ashlar_ort_op*)base)->kit.name; }
static const char* ORT_API_CALL ashlar_ort_provider(const OrtCustomOp* base) { return (void)base, NULL; } /* the processor */
static ONNXTensorElementDataType ORT_API_CALL ashlar_ort_input_type(const OrtCustomOp* base, size_t index) {
  return ashlar_ort_type(ashlar_ort_argument(base, ASHLAR_KIT_INPUT, index)->type);
}
static size_t ORT_API_CALL ashlar_ort_inputs(const OrtCustomOp* base) {
  return ashlar_ort_count(&((const ashlar_ort_op*)base)->kit, ASHLAR_KIT_INPUT);
}
static ONNXTensorElementDataType ORT_API_CALL ashlar_ort_output_type(const OrtCustomOp* base, size_t index) {
  return ashlar_ort_type(ashlar_ort_argument(base, ASHLAR_KIT_OUTPUT, index)->type);
}
static size_t ORT_API_CALL ashlar_ort_outputs(const OrtCustomOp* base) {
  return ashlar_ort_count(&((const ashlar_ort_op*)base)->kit, ASHLAR_KIT_OUTPUT);
}
static OrtCustomOpInputOutputCharacteristic ORT_API_CALL ashlar_ort_required(const OrtCustomOp* base, size_t index) {
  return (void)base, (void)index, INPUT_OUTPUT_REQUIRED;
}
static OrtMemType ORT_API_CALL ashlar_ort_memory(const OrtCustomOp* base, size_t index) {
  return (void)base, (void)index, OrtMemTypeDefault;
}

static inline OrtStatusPtr ashlar_ort_fail(OrtErrorCode code, const ashlar_kit_op* op, const ashlar_kit_argument* a,
                                           const char* what) {
  char text[600];
  snprintf(text, sizeof text, "%s: %s %s", op->name, a->name, what);
  return ashlar_ort_api->CreateStatus(code, text);
}

static inline OrtStatusPtr ashlar_ort_in_range(const ashlar_kit_op* op, const ashlar_kit_argument* a, int64_t value) {
  char text[200];
  const int64_t least = a->kind == ASHLAR_KIT_BOOLEAN ? 0 : a->min, most = a->kind == ASHLAR_KIT_BOOLEAN ? 1 : a->max;
  if (value >= least && value <= most) return NULL;
  snprintf(text, sizeof text, "is %lld, expected %lld to %lld", (long long)value, (long long)least, (long long)most);
  return ashlar_ort_fail(ORT_INVALID_ARGUMENT, op, a, text);
}

/* ---- a node of a model --------------------------------------------------------------------------------------------- */
static inline OrtStatusPtr ashlar_ort_attribute(ashlar_ort_kernel* k, int32_t n, const OrtKernelInfo* info) {
  const ashlar_kit_argument* a = &k->op->arguments[n];
  OrtStatusPtr missing;
  float real = 0;
  if (a->kind == ASHLAR_KIT_REAL) {
    missing = ashlar_ort_api->KernelInfoGetAttribute_float(info, a->name, &real);
    k->numbers[n].real = real;
  } else {
    missing = ashlar_ort_api->KernelInfoGetAttribute_int64(info, a->name, &k->numbers[n].integer);
  }
  if (missing == NULL) return a->kind == ASHLAR_KIT_REAL ? NULL : ashlar_ort_in_range(k->op, a, k->numbers[n].integer);
  ashlar_ort_api->ReleaseStatus(missing);
  return ashlar_ort_fail(
      ORT_INVALID_ARGUMENT, k->op, a,
      a->kind == ASHLAR_KIT_REAL ? "is missing, an attribute of type FLOAT" : "is missing, an attribute of type INT");
}

static OrtStatusPtr ORT_API_CALL ashlar_ort_create(const OrtCustomOp* base, const OrtApi* api, const OrtKernelInfo* info,
                                                   void** kernel) {
  (void)api;
  ashlar_ort_kernel* k = (ashlar_ort_kernel*)calloc(1, sizeof *k);
  OrtStatusPtr failed = NULL;
  if (k == NULL) return ashlar_ort_api->CreateStatus(ORT_FAIL, "no memory");
  k->op = &((const ashlar_ort_op*)base)->kit;
  for (int32_t n = 0; n < k->op->count && failed == NULL; ++n)
    if (!ashlar_kit_is_tensor(&k->op->arguments[n])) failed = ashlar_ort_attribute(k, n, info);
  if (failed == NULL)
    *kernel = k;
  else
    free(k);
  return failed;
}
static void ORT_API_CALL ashlar_ort_destroy(void* kernel) { free(kernel); }

/* ---- a call -------------------------------------------------------------------------------------------------------- */
#define ASHLAR_ORT_TRY(call)                         \
  do {                                               \
    OrtStatusPtr ashlar_status = (call);             \
    if (ashlar_status != NULL) return ashlar_status; \
  } while (0)

static inline void ashlar_ort_describe(ashlar_ort_call* c, int32_t n, void* data) {
  const int type = c->op->arguments[n].type;
  ashlar_tensor* t = &c->tensors[n];
  t->data = data;
  t->device_type = ASHLAR_ON_HOST;
  t->ndim = c->op->arguments[n].rank;
  t->type_code = (uint8_t)(type & 255), t->type_bits = (uint8_t)(type >> 8), t->type_lanes = 1;
  t->shape = c->shapes[n];
}

static inline OrtStatusPtr ashlar_ort_shape(ashlar_ort_call* c, int32_t n, const OrtTensorTypeAndShapeInfo* info) {
  const ashlar_kit_argument* a = &c->op->arguments[n];
  char text[100];
  size_t rank = 0;
  ASHLAR_ORT_TRY(ashlar_ort_api->GetDimensionsCount(info, &rank));
  if (rank == (size_t)a->rank) return ashlar_ort_api->GetDimensions(info, c->shapes[n], rank);
  snprintf(text, sizeof text, "has rank %d, expected rank %d", (int)rank, (int)a->rank);
  return ashlar_ort_fail(ORT_INVALID_ARGUMENT, c->op, a, text);
}

static inline OrtStatusPtr ashlar_ort_input(ashlar_ort_call* c, int32_t n, size_t index) {
  const OrtValue* value = NULL;
  OrtTensorTypeAndShapeInfo* info = NULL;
  void* data = NULL;
  ASHLAR_ORT_TRY(ashlar_ort_api->KernelContext_GetInput(c->context, index, &value));
  if (value == NULL) return ashlar_ort_fail(ORT_INVALID_ARGUMENT, c->op, &c->op->arguments[n], "is missing");
  ASHLAR_ORT_TRY(
      ashlar_ort_api->GetTensorTypeAndShape(value, &info)); /* its elements have the type that the model was checked for */
  OrtStatusPtr failed = ashlar_ort_shape(c, n, info);
  ashlar_ort_api->ReleaseTensorTypeAndShapeInfo(info);
  if (failed == NULL) failed = ashlar_ort_api->GetTensorMutableData((OrtValue*)(uintptr_t)value, &data); /* is only read */
  ashlar_ort_describe(c, n, data);
  return failed;
}

static inline OrtStatusPtr ashlar_ort_output(ashlar_ort_call* c, int32_t n, size_t index) {
  const ashlar_kit_argument* a = &c->op->arguments[n];
  int64_t bytes = a->type / 256 / 8;
  OrtValue* value = NULL;
  for (int32_t d = 0; d < a->rank; ++d) {
    if (c->shapes[n][d] < 0) c->shapes[n][d] = 0; /* of a call that the kernel refuses */
    if (__builtin_mul_overflow(bytes, c->shapes[n][d] > 1 ? c->shapes[n][d] : 1, &bytes))
      return ashlar_ort_fail(ORT_INVALID_ARGUMENT, c->op, a, "would have more elements than memory can hold");
  }
  ASHLAR_ORT_TRY(ashlar_ort_api->KernelContext_GetOutput(c->context, index, c->shapes[n], (size_t)a->rank, &value));
  if (value == NULL) return ashlar_ort_fail(ORT_INVALID_ARGUMENT, c->op, a, "is missing, and a result");
  OrtStatusPtr failed = ashlar_ort_api->GetTensorMutableData(value, &c->memory[n]);
  ashlar_ort_describe(c, n, c->memory[n]);
  return failed;
}

typedef struct ashlar_ort_loop {
  int (*body)(void* closure, int32_t slot);
  void* closure;
  int result;
} ashlar_ort_loop;
static inline void ashlar_ort_slot(void* loop_, size_t slot) {
  ashlar_ort_loop* loop = (ashlar_ort_loop*)loop_;
  const int result = loop->body(loop->closure, (int32_t)slot);
  if (result != 0) __atomic_store_n(&loop->result, result, __ATOMIC_RELAXED);
}
/* ashlar_context.parallel_for on the session's threads, of which there may be fewer. */
static inline int ashlar_ort_parallel_for(void* user, int32_t count, int (*body)(void* closure, int32_t slot), void* closure) {
  ashlar_ort_loop loop = {body, closure, 0};
  OrtStatusPtr failed =
      ashlar_ort_api->KernelContext_ParallelFor((const OrtKernelContext*)user, ashlar_ort_slot, (size_t)count, 0, &loop);
  if (failed == NULL) return loop.result;
  ashlar_ort_api->ReleaseStatus(failed);
  return ASHLAR_E_LAUNCH;
}

static inline OrtStatusPtr ashlar_ort_run(ashlar_ort_call* c, const ashlar_kit_number* numbers) {
  ashlar_error error = {0};
  ashlar_context context;
  char text[600] = "";
  ashlar_default_context(&context);
  context.error = &error, context.user = c->context, context.parallel_for = ashlar_ort_parallel_for;
  const int code = c->op->run(c->tensors, numbers, &context);
  if (code == ASHLAR_OK) {
    for (int32_t n = 0; n < c->op->count; ++n)
      if (c->memory[n] != NULL && c->tensors[n].data != c->memory[n])
        memcpy(c->memory[n], c->tensors[n].data, (size_t)ashlar_kit_bytes(&c->tensors[n]));
    return NULL;
  }
  ashlar_kit_message(c->op, code, &error, text, sizeof text);
  return ashlar_ort_api->CreateStatus(
      code <= ASHLAR_E_DEVICE && code >= ASHLAR_E_ABI ? ORT_RUNTIME_EXCEPTION : ORT_INVALID_ARGUMENT, text);
}

static inline OrtStatusPtr ashlar_ort_operate(ashlar_ort_call* c, const ashlar_kit_number* numbers) {
  size_t inputs = 0, outputs = 0;
  for (int32_t n = 0; n < c->op->count; ++n)
    if (c->op->arguments[n].kind == ASHLAR_KIT_INPUT) ASHLAR_ORT_TRY(ashlar_ort_input(c, n, inputs++));
  c->op->shapes(c->tensors, numbers, c->shapes);
  for (int32_t n = 0; n < c->op->count; ++n)
    if (c->op->arguments[n].kind == ASHLAR_KIT_OUTPUT) ASHLAR_ORT_TRY(ashlar_ort_output(c, n, outputs++));
  for (int32_t n = 0; n < c->op->count; ++n)
    if (ashlar_kit_is_tensor(&c->op->arguments[n]) &&
        ashlar_kit_align(&c->op->arguments[n], &c->tensors[n], &c->copies[n]) != 0)
      return ashlar_ort_fail(ORT_FAIL, c->op, &c->op->arguments[n], "has no memory for an aligned copy");
  return ashlar_ort_run(c, numbers);
}

static OrtStatusPtr ORT_API_CALL ashlar_ort_compute(void* kernel, OrtKernelContext* context) {
  const ashlar_ort_kernel* k = (const ashlar_ort_kernel*)kernel;
  ashlar_ort_call c;
  memset(&c, 0, sizeof c);
  c.op = k->op, c.context = context;
  OrtStatusPtr failed = ashlar_ort_operate(&c, k->numbers);
  for (int32_t n = 0; n < c.op->count; ++n) free(c.copies[n]);
  return failed;
}

/* ---- shapes, when a model is loaded -------------------------------------------------------------------------------- */
/* An extent that the model only names is -2 minus the place of its name here (runtime/kit.h); one without a name is -1. */
typedef struct ashlar_ort_names {
  const char* names[ASHLAR_ABI1_MAX_ARGUMENTS * ASHLAR_ABI1_MAX_RANK];
  int32_t count;
} ashlar_ort_names;

static inline OrtStatusPtr ashlar_ort_infer_input(ashlar_ort_call* c, ashlar_ort_names* known, int32_t n, size_t index,
                                                  const OrtShapeInferContext* context) {
  const int32_t rank = c->op->arguments[n].rank;
  const char* names[ASHLAR_ABI1_MAX_RANK] = {0};
  OrtTensorTypeAndShapeInfo* info = NULL; /* is borrowed */
  size_t found = 0;
  ASHLAR_ORT_TRY(ashlar_ort_api->ShapeInferContext_GetInputTypeShape(context, index, &info));
  ASHLAR_ORT_TRY(ashlar_ort_api->GetDimensionsCount(info, &found));
  ashlar_ort_describe(c, n, NULL);
  if (found == 0 && rank != 0) { /* no shape is known; each call's is checked */
    for (int32_t d = 0; d < rank; ++d) c->shapes[n][d] = -1;
    return NULL;
  }
  ASHLAR_ORT_TRY(ashlar_ort_shape(c, n, info));
  ASHLAR_ORT_TRY(ashlar_ort_api->GetSymbolicDimensions(info, names, (size_t)rank));
  for (int32_t d = 0; d < rank; ++d) {
    if (c->shapes[n][d] >= 0) continue;
    c->shapes[n][d] = -1;
    if (names[d] == NULL || names[d][0] == 0) continue;
    known->names[known->count] = names[d];
    c->shapes[n][d] = -2 - known->count++;
  }
  return NULL;
}

static inline OrtStatusPtr ashlar_ort_infer_output(const ashlar_ort_call* c, const ashlar_ort_names* known, int32_t n,
                                                   size_t index, OrtShapeInferContext* context) {
  const ashlar_kit_argument* a = &c->op->arguments[n];
  const char* names[ASHLAR_ABI1_MAX_RANK];
  int64_t shape[ASHLAR_ABI1_MAX_RANK];
  char unique[ASHLAR_ABI1_MAX_RANK][40]; /* an extent without a name would become -1, a number */
  static uint64_t unknown;
  OrtTensorTypeAndShapeInfo* info = NULL;
  for (int32_t d = 0; d < a->rank; ++d) {
    const int64_t e = c->shapes[n][d];
    shape[d] = e < 0 ? -1 : e;
    names[d] = e >= 0 ? "" : e == -1 ? unique[d] : known->names[-2 - e];
    snprintf(unique[d], sizeof unique[d], "ashlar_unknown_%llu",
             (unsigned long long)__atomic_fetch_add(&unknown, e == -1, __ATOMIC_RELAXED));
  }
  ASHLAR_ORT_TRY(ashlar_ort_api->CreateTensorTypeAndShapeInfo(&info));
  OrtStatusPtr failed = ashlar_ort_api->SetTensorElementType(info, ashlar_ort_type(a->type));
  if (failed == NULL) failed = ashlar_ort_api->SetDimensions(info, shape, (size_t)a->rank);
  if (failed == NULL) failed = ashlar_ort_api->SetSymbolicDimensions(info, names, (size_t)a->rank);
  if (failed == NULL) failed = ashlar_ort_api->ShapeInferContext_SetOutputTypeShape(context, index, info);
  ashlar_ort_api->ReleaseTensorTypeAndShapeInfo(info);
  return failed;
}

static inline OrtStatusPtr ashlar_ort_infer_extent(const ashlar_kit_op* op, int32_t n, const OrtShapeInferContext* context,
                                                   ashlar_kit_number* number) {
  const ashlar_kit_argument* a = &op->arguments[n];
  const OrtOpAttr* attribute = NULL;
  size_t written = 0;
  OrtStatusPtr missing = ashlar_ort_api->ShapeInferContext_GetAttribute(context, a->name, &attribute);
  if (missing == NULL)
    missing = ashlar_ort_api->ReadOpAttr(attribute, ORT_OP_ATTR_INT, &number->integer, sizeof number->integer, &written);
  if (missing == NULL) return ashlar_ort_in_range(op, a, number->integer);
  ashlar_ort_api->ReleaseStatus(missing);
  return ashlar_ort_fail(ORT_INVALID_ARGUMENT, op, a, "is missing, an attribute of type INT");
}

static OrtStatusPtr ORT_API_CALL ashlar_ort_infer(const OrtCustomOp* base, OrtShapeInferContext* context) {
  ashlar_ort_call c;
  ashlar_ort_names known;
  ashlar_kit_number numbers[ASHLAR_ABI1_MAX_ARGUMENTS];
  size_t inputs = 0, outputs = 0;
  memset(&c, 0, sizeof c);
  c.op = &((const ashlar_ort_op*)base)->kit, known.count = 0;
  for (int32_t n = 0; n < c.op->count; ++n) {
    if (c.op->arguments[n].kind == ASHLAR_KIT_INPUT)
      ASHLAR_ORT_TRY(ashlar_ort_infer_input(&c, &known, n, inputs++, context));
    else if (c.op->arguments[n].kind == ASHLAR_KIT_EXTENT)
      ASHLAR_ORT_TRY(ashlar_ort_infer_extent(c.op, n, context, &numbers[n]));
  }
  c.op->shapes(c.tensors, numbers, c.shapes);
  for (int32_t n = 0; n < c.op->count; ++n)
    if (c.op->arguments[n].kind == ASHLAR_KIT_OUTPUT)
      ASHLAR_ORT_TRY(ashlar_ort_infer_output(&c, &known, n, outputs++, context));
  return NULL;
}

/* The functions of an ashlar_ort_op. */
#define ASHLAR_ORT_BASE                             \
  {.version = ASHLAR_ORT_API,                       \
   .GetName = ashlar_ort_name,                      \
   .GetExecutionProviderType = ashlar_ort_provider, \
   .GetInputType = ashlar_ort_input_type,           \
   .GetInputTypeCount = ashlar_ort_inputs,          \
   .GetOutputType = ashlar_ort_output_type,         \
   .GetOutputTypeCount = ashlar_ort_outputs,        \
   .KernelDestroy = ashlar_ort_destroy,             \
   .GetInputCharacteristic = ashlar_ort_required,   \
   .GetOutputCharacteristic = ashlar_ort_required,  \
   .GetInputMemoryType = ashlar_ort_memory,         \
   .CreateKernelV2 = ashlar_ort_create,             \
   .KernelComputeV2 = ashlar_ort_compute,           \
   .InferOutputShapeFn = ashlar_ort_infer}

/* ---- a library of operators ---------------------------------------------------------------------------------------- */
/* What RegisterCustomOps of a library does. The domain is made once for each ONNX Runtime of the process, and stays. */
static inline OrtStatus* ashlar_ort_register(const char* library, const char* ns, const ashlar_ort_op* const* ops,
                                             OrtSessionOptions* options, const OrtApiBase* base) {
  static struct {
    const OrtApi* api;
    OrtCustomOpDomain* domain;
  } made;
  static int lock;
  const OrtApi* api = base->GetApi(ASHLAR_ORT_API);
  OrtStatus* failed = NULL;
  if (api == NULL) {
    char text[300];
    const OrtApi* oldest = base->GetApi(1);
    snprintf(text, sizeof text, "%s needs ONNX Runtime 1.%d or later, found %s", library, ASHLAR_ORT_API,
             base->GetVersionString());
    return oldest == NULL ? NULL : oldest->CreateStatus(ORT_NOT_IMPLEMENTED, text);
  }
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {}
  if (made.api != api) {
    OrtCustomOpDomain* domain = NULL;
    failed = api->CreateCustomOpDomain(ns, &domain);
    for (size_t k = 0; failed == NULL && ops[k] != NULL; ++k) failed = api->CustomOpDomain_Add(domain, &ops[k]->base);
    if (failed == NULL) made.api = api, made.domain = domain, ashlar_ort_api = api;
  }
  __atomic_clear(&lock, __ATOMIC_RELEASE);
  return failed == NULL ? api->AddCustomOpDomain(options, made.domain) : failed;
}
#endif
