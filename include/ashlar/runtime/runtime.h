/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime as a caller sees it: sentences for errors, the default pool and allocator, contexts.
 *
 *   if (matmul_gelu(&A, &B, &bias, &C) != ASHLAR_OK) {
 *     char text[200];
 *     ashlar_error_text(ashlar_last_error(), text, sizeof text);
 *     fputs(text, stderr);        // matmul_gelu: B.shape[0] is 96, expected 128 (K, from A.shape[1])
 *   }
 *
 * Invariant: nothing starts a thread but the first parallel loop of a simple entry (or of a context made by
 * ashlar_default_context). Threads are detached and never joined; after fork() the child makes its own when it needs them. A
 * shared library that holds the runtime must stay loaded: link it with -Wl,-z,nodelete.
 */
#ifndef ASHLAR_RUNTIME_H
#define ASHLAR_RUNTIME_H
#include <ashlar/runtime/desc.h>

#ifdef __cplusplus
extern "C" {
#endif

ASHLAR_API const char* ashlar_version(void);       /* "0.1.0" */
ASHLAR_API const char* ashlar_code_name(int code); /* "ASHLAR_E_SHAPE"; "unknown code" for others */

/* Writes the sentence for an error into text, cut to room - 1 characters and terminated (room 0: nothing is written). Returns
 * the length of the whole sentence, as snprintf does. */
ASHLAR_API size_t ashlar_error_text(const ashlar_error*, char* text, size_t room);

/* The latest failure of a simple entry (one without a context) on this thread; code ASHLAR_OK where there was none. */
ASHLAR_API const ashlar_error* ashlar_last_error(void);

/* ---- tensors ------------------------------------------------------------------------------------------------------- */

/* Types of elements: DLPack's code, and 256 times the bits. */
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

/* A dense row-major tensor in the host's memory, around what is the caller's: ashlar_dense(data, ASHLAR_F32, 2, shape). */
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

/* From now on libraries of several targets run the processor's variant of this name and no other ("x86-64-v3", as given to the
 * generator: for tests and measurements); NULL: the best one again. What ASHLAR_TARGET in the environment says at the start. A
 * library without such a variant, and one whose variant this processor cannot execute, refuse calls with ASHLAR_E_TARGET. */
ASHLAR_API void ashlar_set_target(const char* name);

/* ---- the default pool ---------------------------------------------------------------------------------------------- */

/* Threads that the simple entries use, the caller's included: ASHLAR_NUM_THREADS, else the CPUs this process may run on. */
ASHLAR_API int32_t ashlar_threads(void);
/* From now on; at least 1, at most 1024 (others are refused with ASHLAR_E_LAUNCH). 0: as at the start. Not while a kernel runs.
 */
ASHLAR_CHECKED ASHLAR_API int ashlar_set_threads(int32_t threads);

/* Puts the caller's pool in place of the default one for all simple entries. parallel_for as in ashlar_context; NULL brings the
 * runtime's own back. Not while a kernel runs. Two libraries share one pool when one is given the other's. */
ASHLAR_API void ashlar_set_pool(int32_t parallelism,
                                int (*parallel_for)(void* user, int32_t count, int (*body)(void* closure, int32_t slot),
                                                    void* closure),
                                void* user);
/* Puts the caller's allocator in place of malloc's for all simple entries, and for contexts without one; both NULL: malloc's
 * again. Not while a kernel runs. */
ASHLAR_API void ashlar_set_allocator(void* (*allocate)(void* user, size_t bytes, size_t align, int32_t device_type,
                                                       int32_t device_id),
                                     void (*release)(void* user, void* block, int32_t device_type, int32_t device_id),
                                     void* user);

/* Fills a context with the default pool and allocator: what the simple entries use. */
ASHLAR_API void ashlar_default_context(ashlar_context*);

#ifdef __cplusplus
}
#endif
#endif
