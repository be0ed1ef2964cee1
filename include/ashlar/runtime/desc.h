/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The descriptor: constant data next to a kernel that says what its hosted entries expect of their arguments. This file also
 * lists all runtime functions that generated code calls.
 *
 * The generated entries are thunks over one descriptor `d`:
 *
 *   int f(const ashlar_tensor *A, float alpha, ashlar_tensor *C)
 *     { const void *arguments[] = {A, &alpha, C}; return ashlar_abi1_call(&d, arguments, NULL); }
 *   int f_with(const ashlar_tensor *A, float alpha, ashlar_tensor *C, const ashlar_context *ctx)
 *     { const void *arguments[] = {A, &alpha, C}; return ashlar_abi1_call(&d, arguments, ctx); }
 *
 * ashlar_abi1_call checks every argument, solves for the symbols from the shapes, fills the kernel's `f_args` (at the byte
 * offsets below), obtains a workspace and calls `run`. Invariant: if it returns an error before `run`, no byte of any argument
 * has been written.
 *
 * Symbols are solved for in the order of the arguments and their dimensions. The first affine dimension with exactly one
 * unknown symbol determines its value; every other dimension is then checked. If some symbols cannot be solved for in this way,
 * the call fails with ASHLAR_E_ABI (the compiler refuses such a program earlier).
 *
 * Everything here is frozen under ABI number 1. `size` allows new fields after the last one.
 */
#ifndef ASHLAR_RUNTIME_DESC_H
#define ASHLAR_RUNTIME_DESC_H
#include <ashlar/runtime/abi.h>

#if defined(__GNUC__) || defined(__clang__)
#define ASHLAR_API __attribute__((visibility("default")))
#else
#define ASHLAR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ASHLAR_ABI1_MAX_ARGUMENTS = 64,
  ASHLAR_ABI1_MAX_SYMBOLS = 64,
  ASHLAR_ABI1_MAX_COMPUTED = 128,
  ASHLAR_ABI1_MAX_RANK = 8,
  ASHLAR_ABI1_MAX_ARGS_BYTES = 8192
};

typedef struct ashlar_abi1_term { /* coefficient * symbols[symbol] */
  int64_t coefficient, symbol;
} ashlar_abi1_term;

typedef struct ashlar_abi1_dim { /* the required extent of one dimension */
  const char* text;              /* as it was written: "N + 4", "K", "3" */
  int64_t constant;              /* affine: constant + the sum of the terms */
  const ashlar_abi1_term* terms; /* each symbol once, no coefficient of 0; NULL if term_count is 0 */
  int32_t term_count;
  int32_t computed; /* -1: affine; otherwise results[computed] of desc.shape (max, division, products) */
} ashlar_abi1_dim;

enum { ASHLAR_ABI1_INPUT = 0, ASHLAR_ABI1_OUTPUT = 1, ASHLAR_ABI1_SCALAR = 2, ASHLAR_ABI1_INOUT = 3 }; /* argument.kind */
enum {
  ASHLAR_ABI1_INNER_UNIT_STRIDE = 0, /* argument.order: the last dimension has stride 1, no stride is negative */
  ASHLAR_ABI1_DENSE = 1,             /* row-major, without gaps */
  ASHLAR_ABI1_ANY = 2,               /* any strides, including zero and negative ones */
};
enum { ASHLAR_ABI1_MAY_ALIAS = 1 }; /* argument.flags of outputs: may be an input, with the same memory, shape and strides */

typedef struct ashlar_abi1_argument { /* a tensor, or a scalar that is passed by value */
  const char* name;
  const ashlar_abi1_dim* dims;  /* of a tensor: `rank` of them */
  const int32_t* stride_fields; /* of a tensor: byte offsets in args of int64_t strides, -1: no such field; NULL: none */
  int64_t align;                /* of a tensor: data + byte_offset is a multiple of it, in bytes; 0: the size of an element */
  int32_t kind, rank, order, flags;
  int32_t field;                /* byte offset in args of the pointer, or of the scalar's value */
  int32_t scalar_bytes;         /* of a scalar: the size of the value (bool and 8-bit floats 1, f16 and bf16 2) */
  uint8_t type_code, type_bits; /* as in ashlar_tensor; one lane; bool is code 6, 8 bits */
  uint8_t reserved[6];
} ashlar_abi1_argument;

typedef struct ashlar_abi1_symbol { /* an extent that each call gives, with its facts */
  const char* name;
  int64_t min, max, multiple_of; /* inclusive; without facts 0, INT64_MAX, 1 */
  int32_t field;                 /* byte offset in args of its int64_t; -1: no such field */
  int32_t reserved;
} ashlar_abi1_symbol;

enum {
  ASHLAR_ABI1_ZERO_STRIDE_IS_DENSE = 1
}; /* desc.flags: `run` takes a stride of 0 as dense, so a tensor that repeats an
    * element by stride 0 is refused; unset: `run` takes strides as they are */

/* context.flags that only the hosted entries set. */
enum {
  ASHLAR_ABI1_WAIT = 1 << 30,         /* `run` waits, even with a stream */
  ASHLAR_ABI1_PREPARE = 1 << 29,      /* `run` loads and allocates what a call needs, and launches nothing; devices only */
  ASHLAR_ABI1_DEVICE_MASK = 0xFF0000, /* CUDA: 1 + the number of the device that holds the tensors; 0: unknown */
  ASHLAR_ABI1_DEVICE_SHIFT = 16
};

typedef struct ashlar_abi1_desc {
  uint32_t abi;        /* 1 */
  uint32_t size;       /* sizeof(ashlar_abi1_desc) */
  const char* name;    /* the function, for messages: "matmul_gelu" */
  int32_t device_type; /* where the tensors must lie: 1 host (pinned host memory, 3, is host memory too), 2 CUDA (managed, 13,
                        * too), 7 Vulkan */
  int32_t flags;
  uint64_t features; /* the processor features that the code needs, by the numbers of runtime/cpu.h; 0: not checked */
  int32_t argument_count, symbol_count, computed_count, assumption_count;
  int32_t args_bytes; /* sizeof(f_args); bytes outside the fields are zero */
  const ashlar_abi1_argument* arguments;
  const ashlar_abi1_symbol* symbols;
  const char* const* assumptions;                          /* as they were written: "M <= N" */
  void (*shape)(const int64_t* symbols, int64_t* results); /* fills computed_count results; NULL if there are none */
  int (*assume)(const int64_t* symbols); /* returns 0, or 1 + the index of the first violated assumption; may be NULL */
  size_t (*workspace_bytes)(const void* args, const ashlar_context*); /* NULL: no workspace */
  size_t workspace_align;
  int (*run)(const void* args, const ashlar_context*); /* is called with a context that has a workspace */
  const char* workspace_stages; /* the contents of the workspace, for messages: "t, u and 4 more"; NULL: unknown */
} ashlar_abi1_desc;

/* ---- the functions that generated code calls ----------------------------------------------------------------------- */

/* Implements the hosted entries. `arguments`, in the order of declaration, holds an ashlar_tensor* for each tensor and the
 * address of the value for each scalar. Without a ctx it uses the runtime's pool and allocator, and keeps the error for
 * ashlar_last_error(). Returns ASHLAR_OK, an error code, or the result of `run`. */
ASHLAR_API int ashlar_abi1_call(const ashlar_abi1_desc*, const void* const* arguments, const ashlar_context* ctx);

/* Implements f_prepare of kernels for devices: does everything that ashlar_abi1_call does except the launches. Afterwards
 * everything that a call needs is loaded, in the CUDA context or on the queue of `ctx`. On a processor there is nothing to do.
 * */
ASHLAR_API int ashlar_abi1_prepare(const ashlar_abi1_desc*, const void* const* arguments, const ashlar_context* ctx);

/* ---- one function for several targets ------------------------------------------------------------------------------- */

/* One kernel of a library. */
typedef struct ashlar_abi1_variant {
  const char* target; /* "x86-64-v3" */
  const ashlar_abi1_desc* desc;
  int (*run)(const void* args, const ashlar_context*); /* f_run and f_workspace_bytes, as in a library for this target alone */
  size_t (*workspace_bytes)(const void* args, const ashlar_context*);
  int (*settle)(void* stream, ashlar_error*,
                const char* who); /* waits for what the device does to the memory; NULL for the host */
} ashlar_abi1_variant;

/* Variants of one device type are tried in this order. A processor precedes those whose features are a subset of its own; CUDA
 * devices are in descending order of capability. All variants have the same arguments. */
typedef struct ashlar_abi1_library {
  uint32_t abi, size; /* 1, sizeof(ashlar_abi1_library) */
  const char* name;   /* the function */
  int32_t count, reserved;
  const ashlar_abi1_variant* variants;
} ashlar_abi1_library;

/* Implement f_with (f without a ctx), f_prepare, f_run and f_workspace_bytes of such a library.
 *
 * ctx->flags names the device type; if it names none, the memory of the tensors decides (f_run: the host, or the library's only
 * device type). Among processors, the first variant runs whose features this machine has, or the one that ashlar_set_target
 * names. Among CUDA devices, the first variant runs whose capability the device has. If no processor variant fits, the call
 * fails with ASHLAR_E_TARGET and the features that each lacks; if no device variant fits, with the error of the last one.
 *
 * With ASHLAR_OR_CPU, the processor variant runs after a device variant has failed with ASHLAR_E_DEVICE, _TARGET or _LAUNCH
 * without launching anything. All tensors must lie in memory that the processor can read (host, pinned, managed, mapped Vulkan
 * buffers; for f_run the flag asserts this, and only for CUDA, which shares pointers to such memory). `settle` is called first.
 * If the device was lost, the call fails instead, because results of earlier work are gone. After a run of the processor
 * variant, ctx->error holds the device's code and message although the call succeeds. Stream and workspace belong to the device
 * and are not used in that case.
 *
 * workspace_bytes returns the maximum over all variants that could run. */
ASHLAR_API int ashlar_abi1_library_call(const ashlar_abi1_library*, const void* const* arguments, const ashlar_context* ctx);
ASHLAR_API int ashlar_abi1_library_prepare(const ashlar_abi1_library*, const void* const* arguments, const ashlar_context* ctx);
ASHLAR_API int ashlar_abi1_library_run(const ashlar_abi1_library*, const void* args, const ashlar_context* ctx);
ASHLAR_API size_t ashlar_abi1_library_workspace_bytes(const ashlar_abi1_library*, const void* args, const ashlar_context* ctx);

#ifdef __cplusplus
}
#endif
#endif
