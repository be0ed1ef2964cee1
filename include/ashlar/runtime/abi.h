/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ---- the C ABI of ashlar: the same block in every generated header ---------------------------------------------- */
#ifndef ASHLAR_ABI
#define ASHLAR_ABI 1
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
/* DLPack's DLTensor, field for field, with fixed-width integers: with -fshort-enums (the arm-none-eabi default) the enum
 * in dlpack.h's DLDevice is one byte wide in C, and three bytes of device_type would be garbage. */
typedef struct ashlar_tensor {
  void *data;
  int32_t device_type, device_id; /* 1 host, 2 CUDA, 3 CUDA pinned, 7 Vulkan (data: ashlar_vulkan_buffer*), 13 CUDA managed */
  int32_t ndim;
  uint8_t type_code, type_bits;   /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool; 8-bit floats as in DLPack 1.1 */
  uint16_t type_lanes;            /* 1 */
  int64_t *shape, *strides;       /* strides in elements; NULL: dense, row-major */
  uint64_t byte_offset;
} ashlar_tensor;
typedef struct ashlar_error {     /* what went wrong, as numbers; ashlar_error_text() in the runtime makes a sentence */
  int32_t code, argument, dimension; /* argument and dimension: -1 where there is none */
  int64_t expected, found;
  const char *what;               /* "B.shape[0] is {found}, expected {expected} (K)" */
} ashlar_error;
typedef struct ashlar_context {   /* zeroed: defaults. Borrowed for the call */
  uint32_t size;                  /* sizeof(ashlar_context): fields may be added after the last one */
  uint32_t flags;                 /* ASHLAR_ON_... | ASHLAR_OR_CPU: for libraries of several targets */
  void *stream;                   /* CUstream, or ashlar_vulkan_queue*; host: ignored */
  void *workspace;                /* name_workspace_bytes(), aligned to NAME_WORKSPACE_ALIGN; NULL: ask `allocate` */
  size_t workspace_bytes;
  ashlar_error *error;            /* written on failure; may be NULL */
  void *user;                     /* first argument of the hooks */
  void *(*allocate)(void *user, size_t bytes, size_t align, int32_t device_type, int32_t device_id);
  void (*release)(void *user, void *block, int32_t device_type, int32_t device_id);
  /* Runs body(closure, 0 .. count-1), any order, any threads; returns the first non-zero result. A kernel asks for at most
   * `parallelism` bodies and hands out its own work between them, so per-thread scratch is bounded and no worker id is needed. */
  int32_t parallelism;            /* 0: one */
  int (*parallel_for)(void *user, int32_t count, int (*body)(void *closure, int32_t slot), void *closure);
} ashlar_context;
/* A library of several targets runs the variant for the memory on which the tensors lie; f_run and f_workspace_bytes, which see
 * no tensors, for the device that the context names, else for the host. With OR_CPU, where that device cannot be used and the
 * processor can reach all the memory, the processor's variant runs, and `error` holds why although the call succeeds. */
enum { ASHLAR_ON_HOST = 1, ASHLAR_ON_CUDA = 2, ASHLAR_ON_VULKAN = 7, ASHLAR_OR_CPU = 0x100 };
enum { ASHLAR_OK = 0, ASHLAR_E_NULL = -1, ASHLAR_E_RANK = -2, ASHLAR_E_TYPE = -3, ASHLAR_E_SHAPE = -4, ASHLAR_E_STRIDE = -5,
       ASHLAR_E_ALIGN = -6, ASHLAR_E_ALIAS = -7, ASHLAR_E_DEVICE = -8, ASHLAR_E_MEMORY = -9, ASHLAR_E_LAUNCH = -10,
       ASHLAR_E_TARGET = -11, ASHLAR_E_ABI = -12, ASHLAR_E_FACT = -13, ASHLAR_E_OVERFLOW = -14 };
#if defined(__GNUC__) || defined(__clang__)
#define ASHLAR_CHECKED __attribute__((warn_unused_result))
#else
#define ASHLAR_CHECKED
#endif
#ifdef __cplusplus
}
#endif
#endif /* ASHLAR_ABI */
#if ASHLAR_ABI != 1
#error "this header and another generated header of the translation unit were made by incompatible versions of ashlar"
#endif
