/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The descriptor: what a kernel's hosted entries expect of their arguments, as constant data that the compiler emits beside
 * the kernel; and the closed list of functions that generated code calls in the runtime.
 *
 * The generated entries are thunks over one descriptor `d`:
 *
 *   int f(const ashlar_tensor *A, float alpha, ashlar_tensor *C)
 *     { const void *arguments[] = {A, &alpha, C}; return ashlar_abi1_call(&d, arguments, NULL); }
 *   int f_with(const ashlar_tensor *A, float alpha, ashlar_tensor *C, const ashlar_context *ctx)
 *     { const void *arguments[] = {A, &alpha, C}; return ashlar_abi1_call(&d, arguments, ctx); }
 *
 * ashlar_abi1_call checks every argument, solves the symbols from the shapes, fills the kernel's `f_args` (by the byte
 * offsets below), finds a workspace and calls `run`. Invariant: where it returns non-zero before `run`, no byte of any
 * argument was written.
 *
 * Symbols are solved in the order of the arguments and their dimensions: the first affine dimension in which exactly one
 * symbol is unknown gives it; every other dimension is then checked. A descriptor whose symbols cannot all be found that
 * way is refused with ASHLAR_E_ABI (the compiler refuses such a program earlier).
 *
 * Everything here is frozen under the ABI number 1; `size` lets fields be added after the last one.
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

typedef struct ashlar_abi1_dim { /* what the extent of one dimension must be */
  const char* text;              /* as the user wrote it: "N + 4", "K", "3" */
  int64_t constant;              /* affine: constant + the sum of the terms */
  const ashlar_abi1_term* terms; /* no symbol twice, no coefficient 0; NULL when term_count is 0 */
  int32_t term_count;
  int32_t computed; /* -1: affine; otherwise results[computed] of desc.shape (max, division, products) */
} ashlar_abi1_dim;

enum { ASHLAR_ABI1_INPUT = 0, ASHLAR_ABI1_OUTPUT = 1, ASHLAR_ABI1_SCALAR = 2, ASHLAR_ABI1_INOUT = 3 }; /* argument.kind */
enum {
  ASHLAR_ABI1_INNER_UNIT_STRIDE = 0, /* argument.order: the last dimension has stride 1, no stride is negative */
  ASHLAR_ABI1_DENSE = 1,             /* row-major without gaps */
  ASHLAR_ABI1_ANY = 2,               /* any strides, zero and negative ones too */
};
enum { ASHLAR_ABI1_MAY_ALIAS = 1 }; /* argument.flags, outputs: may be exactly the memory, shape and strides of an input */

typedef struct ashlar_abi1_argument { /* a tensor, or a scalar that travels by value */
  const char* name;
  const ashlar_abi1_dim* dims;  /* tensors: rank of them */
  const int32_t* stride_fields; /* tensors: rank byte offsets in args of int64_t strides, -1: no such field; NULL: none */
  int64_t align;                /* tensors: bytes that data + byte_offset is a multiple of; 0: the element's own size */
  int32_t kind, rank, order, flags;
  int32_t field;                /* byte offset in args of the pointer, or of the scalar's value */
  int32_t scalar_bytes;         /* scalars: sizeof the value (bool and 8-bit floats 1, f16 and bf16 2) */
  uint8_t type_code, type_bits; /* as in ashlar_tensor; lanes are always 1; bool is code 6, 8 bits */
  uint8_t reserved[6];
} ashlar_abi1_argument;

typedef struct ashlar_abi1_symbol { /* an extent known at the call, with its facts */
  const char* name;
  int64_t min, max, multiple_of; /* inclusive; 0, INT64_MAX, 1 where nothing is said */
  int32_t field;                 /* byte offset in args of its int64_t; -1: the kernel has no such field */
  int32_t reserved;
} ashlar_abi1_symbol;

enum {
  ASHLAR_ABI1_ZERO_STRIDE_IS_DENSE = 1
}; /* desc.flags: `run` takes a stride of 0 as dense, so a tensor that repeats an
    * element by stride 0 is refused; unset: `run` takes strides as they are */

/* context.flags, set by the hosted entries and by nobody else. */
enum {
  ASHLAR_ABI1_WAIT = 1 << 30,         /* `run` waits although there is a stream */
  ASHLAR_ABI1_DEVICE_MASK = 0xFF0000, /* CUDA: 1 + the number of the device on which the tensors lie; 0: not told */
  ASHLAR_ABI1_DEVICE_SHIFT = 16
};

typedef struct ashlar_abi1_desc {
  uint32_t abi;        /* 1 */
  uint32_t size;       /* sizeof(ashlar_abi1_desc) */
  const char* name;    /* the function, for sentences: "matmul_gelu" */
  int32_t device_type; /* where the tensors must lie: 1 host (pinned host memory, 3, is host memory too), 2 CUDA (managed, 13,
                        * too), 7 Vulkan */
  int32_t flags;
  uint64_t features; /* what the code needs of the processor: bits by the numbers of runtime/cpu.h; 0: nothing is checked */
  int32_t argument_count, symbol_count, computed_count, assumption_count;
  int32_t args_bytes; /* sizeof(f_args); bytes that no field covers are zero */
  const ashlar_abi1_argument* arguments;
  const ashlar_abi1_symbol* symbols;
  const char* const* assumptions;                          /* as the user wrote them: "M <= N" */
  void (*shape)(const int64_t* symbols, int64_t* results); /* fills computed_count results; NULL when there are none */
  int (*assume)(const int64_t* symbols); /* 0, or 1 + the index of the first assumption that is broken; may be NULL */
  size_t (*workspace_bytes)(const void* args, const ashlar_context*); /* NULL: the kernel needs none */
  size_t workspace_align;
  int (*run)(const void* args, const ashlar_context*); /* never with a NULL context, its workspace is set */
  const char* workspace_stages; /* what lies in the workspace, for sentences: "t, u and 4 more"; NULL: not told */
} ashlar_abi1_desc;

/* ---- the closed list: what generated code may call ----------------------------------------------------------------- */

/* The hosted entries. `arguments`, in the order of declaration: an ashlar_tensor for a tensor, the address of the value for a
 * scalar. ctx NULL: the runtime's own pool and allocator, and the error is kept for ashlar_last_error(). Returns ASHLAR_OK, a
 * code, or what `run` returned. */
ASHLAR_API int ashlar_abi1_call(const ashlar_abi1_desc*, const void* const* arguments, const ashlar_context* ctx);

/* ---- one function for several targets ------------------------------------------------------------------------------- */

/* A kernel among those of a library. */
typedef struct ashlar_abi1_variant {
  const char* target; /* "x86-64-v3" */
  const ashlar_abi1_desc* desc;
  int (*run)(const void* args, const ashlar_context*); /* as f_run and f_workspace_bytes of a library for this target alone */
  size_t (*workspace_bytes)(const void* args, const ashlar_context*);
  int (*settle)(void* stream, ashlar_error*,
                const char* who); /* waits for what the device does to the memory; NULL for the host */
} ashlar_abi1_variant;

/* Variants of one device type stand in the order in which they are tried: a processor's before those whose features are among
 * its own, CUDA devices by falling capability. All take the same arguments. */
typedef struct ashlar_abi1_library {
  uint32_t abi, size; /* 1, sizeof(ashlar_abi1_library) */
  const char* name;   /* the function */
  int32_t count, reserved;
  const ashlar_abi1_variant* variants;
} ashlar_abi1_library;

/* f and f_with (ctx NULL: f), f_run, f_workspace_bytes of such a library.
 *
 * Which variant runs: that for the device type in ctx->flags, or where none is named that on which the tensors lie (f_run: the
 * host, or the only device there is). Among processors the first whose features this one has, or the one that ashlar_set_target
 * names; among CUDA devices the first whose capability is the device's. Where no processor's fits the call is refused with
 * ASHLAR_E_TARGET and the features that each lacks; where no device's does, as by the last.
 *
 * With ASHLAR_OR_CPU: after ASHLAR_E_DEVICE, _TARGET or _LAUNCH of a device's variant that has launched nothing, the
 * processor's runs, if all tensors lie in memory that it can read (the host's, pinned, managed, mapped Vulkan buffers; of f_run
 * the caller says so by the flag, and only for CUDA, whose pointers such memory shares), after `settle`. After a lost device it
 * does not: what was computed there is gone, and the call fails. When the processor's variant has run, ctx->error holds the
 * device's code and sentence although the call succeeds. Stream and workspace, which are the device's, are not used then.
 *
 * workspace_bytes: the most of all variants that could run. */
ASHLAR_API int ashlar_abi1_library_call(const ashlar_abi1_library*, const void* const* arguments, const ashlar_context* ctx);
ASHLAR_API int ashlar_abi1_library_run(const ashlar_abi1_library*, const void* args, const ashlar_context* ctx);
ASHLAR_API size_t ashlar_abi1_library_workspace_bytes(const ashlar_abi1_library*, const void* args, const ashlar_context* ctx);

#ifdef __cplusplus
}
#endif
#endif
