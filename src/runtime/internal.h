/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the runtime share. Nothing here is seen outside the library.
 *
 * A call goes through four steps, each one file: inspect.c looks at every tensor alone, symbols.c solves and checks shapes,
 * overlap.c decides whether two tensors share memory, call.c puts them in order and runs the kernel. */
#ifndef ASHLAR_RUNTIME_INTERNAL_H
#define ASHLAR_RUNTIME_INTERNAL_H
#include <stdbool.h>
#include <stdio.h>

#include <ashlar/runtime/runtime.h>

/* A thread-local that needs no call to the dynamic linker, so that the list of undefined symbols stays closed. */
#if defined(_WIN32)
#define ASHLAR_THREAD_LOCAL _Thread_local
#else
#define ASHLAR_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#endif
#if defined(__MINGW_PRINTF_FORMAT) /* there are two kinds of printf there */
#define ASHLAR_PRINTF __MINGW_PRINTF_FORMAT
#else
#define ASHLAR_PRINTF printf
#endif

/* device types; of 7 the data of a tensor is an ashlar_vulkan_buffer */
enum { kHost = 1, kCuda = 2, kPinned = 3, kVulkan = 7, kCudaManaged = 13 };

typedef struct View { /* one tensor argument, as it will be passed on */
  const ashlar_tensor* tensor;
  int64_t extents[ASHLAR_ABI1_MAX_RANK];
  int64_t strides[ASHLAR_ABI1_MAX_RANK]; /* in elements; where the extent is at most 1: the dense value, whatever was given */
  int64_t low, high;                     /* bytes from `address` that are touched: [low, high) */
  uintptr_t address;                     /* of element 0; byte_offset is added */
  int rank, bits;
  bool empty; /* an extent is 0 */
} View;

typedef struct Call {
  const ashlar_abi1_desc* desc;
  ashlar_error* error;                   /* never NULL */
  View views[ASHLAR_ABI1_MAX_ARGUMENTS]; /* by argument; those of scalars are unused */
  int64_t symbols[ASHLAR_ABI1_MAX_SYMBOLS];
  int32_t from_argument[ASHLAR_ABI1_MAX_SYMBOLS], from_dim[ASHLAR_ABI1_MAX_SYMBOLS]; /* where a symbol was solved */
} Call;

static inline bool ashlar_is_tensor(const ashlar_abi1_argument* a) { return a->kind != ASHLAR_ABI1_SCALAR; }
static inline bool ashlar_is_written(const ashlar_abi1_argument* a) {
  return a->kind == ASHLAR_ABI1_OUTPUT || a->kind == ASHLAR_ABI1_INOUT;
}

/* Each fills call->error and returns its code on failure, ASHLAR_OK otherwise. */
int ashlar_inspect_kinds(Call*);  /* null, device, type, rank, extents not negative; sets tensor, extents, rank, bits, empty */
int ashlar_solve_symbols(Call*);  /* symbols, their facts, shapes, assumptions */
int ashlar_inspect_memory(Call*); /* strides, order, overflow, data, alignment; sets strides, low, high, address */
int ashlar_check_overlap(Call*);  /* outputs with themselves, with each other, with inputs */

/* Records an error whose template is formatted as by printf; {found} and {expected} in it are filled in by ashlar_error_text.
 * The formatted template is kept for the life of the process, one copy of each. Returns code. */
int ashlar_error_record(ashlar_error*, int32_t code, int32_t argument, int32_t dimension, int64_t expected, int64_t found,
                        const char* format, ...) __attribute__((format(ASHLAR_PRINTF, 7, 8)));

/* A copy of the text that lives as long as the process, one of each; "" where there is no memory. */
const char* ashlar_keep(const char* text);

ashlar_error* ashlar_last_error_slot(void);

/* Of `features` (runtime/cpu.h), those that this machine is known not to have. */
uint64_t ashlar_cpu_lacks(uint64_t features);
/* On x86-64: what a processor has whose cpuid answers so (leaf 1 ecx and edx, 7.0 ebx, ecx and edx, 7.1 eax, 80000001 ecx)
 * under a system that saves these registers (XCR0); of tiles, whether they could be permitted. */
enum { k1c, k1d, k7b, k7c, k7d, k71a, k81c, kWords };
uint64_t ashlar_x86_features(const uint32_t* words, uint64_t saved);
/* "avx2, fma": their names, as many as there is room for. Returns the length. */
size_t ashlar_cpu_list(uint64_t features, char* text, size_t room);

/* ashlar_abi1_call, its error in *error alone; or ashlar_abi1_prepare. */
int ashlar_call(const ashlar_abi1_desc*, const void* const* arguments, const ashlar_context*, ashlar_error*, bool prepare);
/* Puts the error where the caller of an entry finds it: in its context, or behind ashlar_last_error. */
void ashlar_deliver(const ashlar_context*, const ashlar_error*);

/* Of this thread: whether a device has been given work, or was found lost, since this was last set to false. Memory of that
 * device may then hold something else than it did. */
bool* ashlar_device_touched(void);

/* Host memory from ctx->allocate, else from the runtime's allocator. NULL when there is none. */
void* ashlar_allocate(const ashlar_context* ctx, size_t bytes, size_t align);
void ashlar_release(const ashlar_context* ctx, void* block); /* of ashlar_allocate with the same ctx */

/* How much memory is kept for later calls, in bytes: ASHLAR_WORKSPACE_MB. */
size_t ashlar_kept_bytes(void);

/* Aligned memory whose pages stay for the next one, within bounds (workspace.c). NULL when there is none. */
void* ashlar_block_take(size_t bytes, size_t align);
void ashlar_block_give(void* block);

/* Whether distinct elements of the view share memory; if so, *dimension is the first one at fault, and *least the smallest
 * stride that would do. Exact within a budget of steps; beyond it the answer is yes. */
bool ashlar_overlaps_itself(const View*, int* dimension, int64_t* least);
/* Whether the two views share a byte. Exact within a budget of steps for types of whole bytes; beyond it the answer is yes. */
bool ashlar_overlaps(const View*, const View*);

/* The runtime's own pool, as a parallel_for hook. */
int ashlar_pool_run(void* user, int32_t count, int (*body)(void* closure, int32_t slot), void* closure);

#endif
