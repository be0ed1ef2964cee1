/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUDA: what callers of compiled kernels must know, and what the kernels call. Needs no CUDA header: handles are void* and
 * uint64_t.
 *
 *   ashlar_tensor tx = {device_pointer, 2, 0, 2, 2, 32, 1, shape, NULL, 0};   memory from cudaMalloc or a framework
 *   ashlar_context context = {sizeof context};  context.stream = stream;      CUstream or cudaStream_t
 *   if (f_with(&tx, …, &context) != ASHLAR_OK) …                              launches, and returns at once
 *
 * The first call of a kernel opens libcuda. A missing library or device is an ordinary error.
 *
 * A call runs in the CUDA context of its stream; without a stream, in the current context of the thread; without one, in the
 * primary context of the tensors' device (f_run: device 0). The thread's current context is unchanged after the call. With a
 * stream in the ashlar_context, a call does not wait. With NULL it runs on the default stream and waits. The streams 1 and 2
 * are the legacy and the per-thread default stream (CU_STREAM_LEGACY, CU_STREAM_PER_THREAD).
 *
 * The workspace is device memory. It comes from the ashlar_context; otherwise from `allocate` with device type 2, which, like
 * `release`, is called in the order of the stream and must not free before it (a framework's caching allocator); otherwise from
 * a pool of the runtime's, in the order of the stream; where the device has no pools and the call waits, from cuMemAlloc.
 *
 * The first call of a kernel in a CUDA context loads it there, which allocates and may wait. To capture calls in a graph, make
 * the same calls with f_prepare before:
 *
 *   if (f_prepare(&tx, …, &context) != ASHLAR_OK) …                          loads; puts a workspace aside for the stream
 *   cuStreamBeginCapture(stream, …);  f_with(&tx, …, &context);  cuStreamEndCapture(stream, &graph);
 *
 * The captured calls of the stream take the workspace that was put aside, and it stays the graph's until the graph and all that
 * was instantiated from it are destroyed.
 *
 * Every failure has a code and a message; the driver's CUresult is in `found`. ASHLAR_CUDA_LIBRARY names another driver
 * library.
 */
#ifndef ASHLAR_RUNTIME_CUDA_H
#define ASHLAR_RUNTIME_CUDA_H
#include <ashlar/runtime/desc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many multiprocessors the device of a call has: that of the stream's context; with NULL that of the current context, else
 * device 0. For grids that are as large as the device. */
ASHLAR_CHECKED ASHLAR_API int ashlar_cuda_multiprocessors(void* stream, int* count, ashlar_error*);

/* ---- the functions that generated code calls ---------------------------------------------------------------------- */

typedef struct ashlar_abi1_cuda_map { /* a tensor map, made at each launch */
  uint32_t type;                      /* CUtensorMapDataType */
  uint32_t rank;                      /* 1 .. 5 */
  uint32_t element_bytes, swizzle;    /* swizzle: 0, 32, 64, 128 bytes */
  uint32_t box[5];                    /* slowest first */
  uint32_t reserved;
} ashlar_abi1_cuda_map;

typedef struct ashlar_abi1_cuda_launch {
  const char* entry;
  const ashlar_abi1_cuda_map* maps; /* parameters after those of 8 bytes; NULL without maps */
  uint32_t threads;                 /* in a block, along x */
  uint32_t shared_bytes;            /* for a block */
  uint32_t parameter_count, map_count;
} ashlar_abi1_cuda_launch;

enum { ASHLAR_ABI1_CUDA_MAX_PARAMETERS = 512, ASHLAR_ABI1_CUDA_MAX_MAPS = 16 };

/* launch_more.flags. FOLDED: the last parameter of the entry, behind the maps, is where the blocks of a launch begin: along y
 * in the low 32 bits, along z in the high ones. So a grid may exceed the device's limits along y and z, by several launches.
 * PROGRAMMATIC: the launch may begin before the one in front of it has ended, and itself waits where that matters. */
enum { ASHLAR_ABI1_CUDA_FOLDED = 1, ASHLAR_ABI1_CUDA_PROGRAMMATIC = 2 };
typedef struct ashlar_abi1_cuda_launch_more {
  uint32_t cluster[3]; /* blocks of a cluster; 1 or 0: no clusters along x, y, z. A grid is a multiple of it */
  uint32_t flags;
} ashlar_abi1_cuda_launch_more;

enum { ASHLAR_ABI1_CUDA_LATER = 0, ASHLAR_ABI1_CUDA_EXACT = 1, ASHLAR_ABI1_CUDA_FAMILY = 2 }; /* module.accepts */
/* module.flags. LINES: the PTX has line tables. TILES: `ptx` is bytecode of CUDA Tile IR, which ends by itself; its launches
 * are of one thread, and the device chooses how many there are. */
enum { ASHLAR_ABI1_CUDA_LINES = 1, ASHLAR_ABI1_CUDA_TILES = 2 };

typedef struct ashlar_abi1_cuda_module {
  uint32_t abi, size;   /* 1, sizeof(ashlar_abi1_cuda_module) */
  const char* name;     /* of the kernel, for messages */
  const char* chip;     /* "sm_90a" */
  uint32_t capability;  /* 80, 90, 100: the compute capability that it needs */
  uint32_t accepts;     /* LATER: or any later one; EXACT: that one alone; FAMILY: or a later one of its family */
  const void* cubin;    /* machine code for the chip; NULL: only PTX */
  uint64_t cubin_bytes; /* its size */
  const char* ptx;      /* ends with a zero byte */
  uint64_t hash;        /* of both */
  const ashlar_abi1_cuda_launch* launches;
  uint32_t launch_count;
  uint32_t flags;                           /* LINES, TILES */
  const ashlar_abi1_cuda_launch_more* more; /* of each launch; NULL: none. A module may end before this field */
} ashlar_abi1_cuda_module;

/* A call consists of begin, any number of launches (run), and end. begin finds the context and the stream, checks the device
 * against the module, loads the module if necessary, and allocates `workspace_bytes` of device memory (0: none), whose address
 * it stores in *workspace. If begin succeeds, end must be called; it returns the first error code of a launch. The caller
 * provides the memory of the call object. `parameters` holds 8 bytes for each parameter, and then for each tensor map its
 * address, its extents, and its strides in bytes without the last, slowest first. */
typedef struct ashlar_abi1_cuda_call {
  uint64_t opaque[16];
} ashlar_abi1_cuda_call;
ASHLAR_API int ashlar_abi1_cuda_begin(const ashlar_abi1_cuda_module*, const ashlar_context*, uint64_t workspace_bytes,
                                      uint64_t workspace_align, ashlar_abi1_cuda_call*, uint64_t* workspace);
ASHLAR_API int ashlar_abi1_cuda_run(ashlar_abi1_cuda_call*, uint32_t launch, const int64_t grid[3], const uint64_t* parameters);
ASHLAR_API int ashlar_abi1_cuda_end(ashlar_abi1_cuda_call*);
/* Waits for the stream (NULL: the default stream of the current context, if there is one). Succeeds if no driver is open. The
 * message names the function `who`. */
ASHLAR_API int ashlar_abi1_cuda_settle(void* stream, ashlar_error*, const char* who);

#ifdef __cplusplus
}
#endif
#endif
