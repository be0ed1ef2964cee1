/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUDA: what compiled kernels call, and what their callers must know. Needs no CUDA header: handles travel as void* and
 * uint64_t.
 *
 *   ashlar_tensor tx = {device_pointer, 2, 0, 2, 2, 32, 1, shape, NULL, 0};   memory of the caller's: cudaMalloc, a framework's
 *   ashlar_context context = {sizeof context};  context.stream = stream;      CUstream or cudaStream_t
 *   if (f_with(&tx, …, &context) != ASHLAR_OK) …                              launched; returns at once
 *
 * libcuda is opened when the first kernel is called; where it is missing, or there is no device, that is an error like others.
 *
 * A call runs in the CUDA context of its stream; without one, in the context that is current on the thread; where none is, in
 * the primary context of the tensors' device (of f_run: device 0). The thread's current context is the same after the call.
 * With a stream in the context nothing is waited for; with NULL the call runs on the default stream and waits. 1 and 2 stand
 * for the legacy and the per-thread default stream (CU_STREAM_LEGACY, CU_STREAM_PER_THREAD).
 *
 * The workspace is device memory: the context's, else from `allocate` with device type 2 (it and `release` are called in the
 * order of the stream and must not free before it: a framework's caching allocator), else, where the call waits, of the driver.
 * The first call of a kernel in a CUDA context loads it there, which allocates and may wait; make it before capturing a graph.
 *
 * Every failure is a code and a sentence; what the driver said (a CUresult) is in `found`. ASHLAR_CUDA_LIBRARY names another
 * driver library.
 */
#ifndef ASHLAR_RUNTIME_CUDA_H
#define ASHLAR_RUNTIME_CUDA_H
#include <ashlar/runtime/desc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the closed list: what generated code calls ------------------------------------------------------------------- */

typedef struct ashlar_abi1_cuda_map { /* a tensor map, made at each launch */
  uint32_t type;                      /* CUtensorMapDataType */
  uint32_t rank;                      /* 1 .. 5 */
  uint32_t element_bytes, swizzle;    /* swizzle: 0, 32, 64, 128 bytes */
  uint32_t box[5];                    /* slowest first */
  uint32_t reserved;
} ashlar_abi1_cuda_map;

typedef struct ashlar_abi1_cuda_launch {
  const char* entry;
  const ashlar_abi1_cuda_map* maps; /* parameters after those of 8 bytes; NULL where there are none */
  uint32_t threads;                 /* of a block, along x */
  uint32_t shared_bytes;            /* of a block */
  uint32_t parameter_count, map_count;
} ashlar_abi1_cuda_launch;

enum { ASHLAR_ABI1_CUDA_MAX_PARAMETERS = 512, ASHLAR_ABI1_CUDA_MAX_MAPS = 16 };

typedef struct ashlar_abi1_cuda_module {
  uint32_t abi, size;   /* 1, sizeof(ashlar_abi1_cuda_module) */
  const char* name;     /* of the kernel, for sentences */
  const char* chip;     /* "sm_90a" */
  uint32_t capability;  /* 80, 90, 100: the compute capability that is needed */
  uint32_t exact;       /* not 0: that one and no later one */
  const void* cubin;    /* machine code for the chip; NULL: none */
  uint64_t cubin_bytes; /* */
  const char* ptx;      /* ends with a zero byte */
  uint64_t hash;        /* of both */
  const ashlar_abi1_cuda_launch* launches;
  uint32_t launch_count, reserved;
} ashlar_abi1_cuda_module;

/* A call: begin, any number of launches, end. begin finds the context and the stream, checks the device against the module,
 * loads it where it has not been, and gives `workspace_bytes` of device memory (0: none), whose address is stored in
 * *workspace. Where begin has succeeded end must be called; it returns the first code of a launch. The call lies where the
 * caller put it, and nothing is allocated for it. `parameters` holds 8 bytes for each parameter; then for each tensor map its
 * address, its extents, and its strides in bytes without the last, slowest first. */
typedef struct ashlar_abi1_cuda_call {
  uint64_t opaque[16];
} ashlar_abi1_cuda_call;
ASHLAR_API int ashlar_abi1_cuda_begin(const ashlar_abi1_cuda_module*, const ashlar_context*, uint64_t workspace_bytes,
                                      uint64_t workspace_align, ashlar_abi1_cuda_call*, uint64_t* workspace);
ASHLAR_API int ashlar_abi1_cuda_run(ashlar_abi1_cuda_call*, uint32_t launch, const int64_t grid[3], const uint64_t* parameters);
ASHLAR_API int ashlar_abi1_cuda_end(ashlar_abi1_cuda_call*);
/* Waits for the stream (NULL: the current context's default stream, if there is one). Succeeds where no driver is open.
 * The sentence is about the function `who`. */
ASHLAR_API int ashlar_abi1_cuda_settle(void* stream, ashlar_error*, const char* who);

#ifdef __cplusplus
}
#endif
#endif
