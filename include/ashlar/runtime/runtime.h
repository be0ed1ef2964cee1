/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime, for callers of kernels: error messages, the default thread pool and allocator, contexts.
 *
 *   if (matmul_gelu(&A, &B, &bias, &C) != ASHLAR_OK) {
 *     char text[200];
 *     ashlar_error_text(ashlar_last_error(), text, sizeof text);
 *     fputs(text, stderr);        // matmul_gelu: B.shape[0] is 96, expected 128 (K, from A.shape[1])
 *   }
 *
 * The runtime starts threads at the first parallel loop of a simple entry (or of a context from ashlar_default_context), not
 * before. They are detached and never joined. After fork() the child starts its own when it needs them. A shared library that
 * contains the runtime must stay loaded: link it with -Wl,-z,nodelete.
 */
#ifndef ASHLAR_RUNTIME_H
#define ASHLAR_RUNTIME_H
#include <ashlar/runtime/desc.h>

#ifdef __cplusplus
extern "C" {
#endif

ASHLAR_API const char* ashlar_version(void);       /* "0.1.0" */
ASHLAR_API const char* ashlar_code_name(int code); /* "ASHLAR_E_SHAPE"; "unknown code" for others */

/* Writes the message of an error to `text`, truncated to room - 1 characters and terminated (room 0: writes nothing). Returns
 * the length of the complete message, like snprintf. */
ASHLAR_API size_t ashlar_error_text(const ashlar_error*, char* text, size_t room);

/* The last failure of a simple entry (one without a context) on this thread. Its code is ASHLAR_OK if there was none. */
ASHLAR_API const ashlar_error* ashlar_last_error(void);

/* ---- tensors ------------------------------------------------------------------------------------------------------- */

/* Element types: DLPack's type code plus 256 times the number of bits. */
enum {
  ASHLAR_I8 = 0x0800,
  ASHLAR_I16 = 0x1000,
  ASHLAR_I32 = 0x2000,
  ASHLAR_I64 = 0x4000,
  ASHLAR_U8 = 0x0801,
  ASHLAR_U16 = 0x1001,
  ASHLAR_U32 = 0x2001,
  ASHLAR_U64 = 0x4001,
  ASHLAR_F16 = 0x1002,
  ASHLAR_F32 = 0x2002,
  ASHLAR_F64 = 0x4002,
  ASHLAR_BF16 = 0x1004,
  ASHLAR_BOOL = 0x0806,
  ASHLAR_E4M3 = 0x080a,
  ASHLAR_E5M2 = 0x080c
};

/* A dense row-major tensor in host memory that refers to the caller's data and shape: ashlar_dense(data, ASHLAR_F32, 2, shape).
 * */
static inline ashlar_tensor ashlar_dense(const void* data, int type, int32_t rank, const int64_t* shape) {
  ashlar_tensor t;
  t.data = (void*)(uintptr_t)data;
  t.device_type = 1, t.device_id = 0;
  t.ndim = rank;
  t.type_code = (uint8_t)(type & 255), t.type_bits = (uint8_t)(type >> 8 & 255), t.type_lanes = 1;
  t.shape = (int64_t*)(uintptr_t)shape, t.strides = 0;
  t.byte_offset = 0;
  return t;
}

/* ---- processors ---------------------------------------------------------------------------------------------------- */

/* For tests and measurements: restricts libraries of several targets to the processor variant with this name, as given to the
 * generator ("x86-64-v3"). NULL restores the choice of the best variant. The environment variable ASHLAR_TARGET sets the
 * initial name. A library refuses calls with ASHLAR_E_TARGET if it has no such variant or this processor cannot execute it. */
ASHLAR_API void ashlar_set_target(const char* name);

/* ---- the default pool ---------------------------------------------------------------------------------------------- */

/* How many threads simple entries use, including the caller's: ASHLAR_NUM_THREADS, or the number of CPUs available to this
 * process. */
ASHLAR_API int32_t ashlar_threads(void);
/* Sets that number, from 1 to 1024; 0 restores the initial one. Other numbers are refused with ASHLAR_E_LAUNCH. Do not call it
 * while a kernel runs. */
ASHLAR_CHECKED ASHLAR_API int ashlar_set_threads(int32_t threads);

/* Replaces the default pool of all simple entries. parallel_for is as in ashlar_context; NULL restores the runtime's own. Do
 * not call it while a kernel runs. To share one pool between two libraries, pass the pool of one to the other. */
ASHLAR_API void ashlar_set_pool(int32_t parallelism,
                                int (*parallel_for)(void* user, int32_t count, int (*body)(void* closure, int32_t slot),
                                                    void* closure),
                                void* user);
/* Replaces malloc as the allocator of all simple entries and of contexts without an allocator. NULL for both restores malloc.
 * Do not call it while a kernel runs. */
ASHLAR_API void ashlar_set_allocator(void* (*allocate)(void* user, size_t bytes, size_t align, int32_t device_type,
                                                       int32_t device_id),
                                     void (*release)(void* user, void* block, int32_t device_type, int32_t device_id),
                                     void* user);

/* Fills a context with the default pool and allocator, those that simple entries use. */
ASHLAR_API void ashlar_default_context(ashlar_context*);

#ifdef __cplusplus
}
#endif
#endif
