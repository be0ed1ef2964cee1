/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the CUDA runtime share.
 *
 *   open.c     libcuda, its functions, what a CUresult means
 *   place.c    what is known of a CUDA context: its device's figures, its pool
 *   module.c   modules, loaded once a CUDA context
 *   storage.c  workspaces: the caller's, of the pool, those that are put aside for graphs
 *   launch.c   calls: begin, run, end
 */
#ifndef ASHLAR_RUNTIME_CUDA_INTERNAL_H
#define ASHLAR_RUNTIME_CUDA_INTERNAL_H
#include <ashlar/runtime/cuda.h>

#include "../internal.h"
#include "../system.h"
#include "driver.h"

typedef struct CudaPlace { /* a CUDA context; kept for the process's life, and never changed but for its pool */
  struct CudaPlace* next;
  uint64_t id; /* of the context, which no later one has; its handle where the driver tells no id */
  CudaDevice device;
  int capability; /* ten times; 103 */
  int most_threads, most_shared, most_blocks[3];
  bool has_pools;
  _Atomic(CudaPool) pool; /* made when it is first needed */
} CudaPlace;

typedef struct CudaLoaded { /* a module in one CUDA context; never changed once it is seen, and kept for the process's life */
  struct CudaLoaded* next;
  CudaPlace* place;
  uint64_t hash;
  CudaModule module;
  uint32_t count;
  CudaFunction functions[]; /* by launch */
} CudaLoaded;

typedef struct CudaCall { /* what an ashlar_abi1_cuda_call holds */
  const CudaDriver* driver;
  const ashlar_abi1_cuda_module* module;
  const CudaLoaded* loaded;
  const ashlar_context* ctx;
  ashlar_error* error;
  CudaStream stream;
  CudaAddress owned; /* workspace that is freed at the end */
  void* lent;        /* workspace of the context's allocator */
  int32_t code;      /* of the first failure */
  int32_t device;
  bool wait, pushed, prepare;
  bool of_pool; /* `owned` is the pool's: freed in the order of the stream; else it is cuMemAlloc's, freed after waiting */
} CudaCall;

/* The driver's functions, found at the first call; ASHLAR_E_DEVICE where there is no driver or no device. A failure is met
 * again by the next call, so a driver that comes later is found. */
int ashlar_cuda_driver(const CudaDriver**, ashlar_error*, const char* who);

const CudaDriver* ashlar_cuda_open_driver(void); /* NULL where ashlar_cuda_driver has not succeeded yet */

/* Records what the driver said and returns the code. */
int ashlar_cuda_failed(const CudaDriver*, ashlar_error*, const char* who, const char* function, CudaResult);
int ashlar_cuda_failed_with(const CudaDriver*, ashlar_error*, const char* who, const char* function, CudaResult,
                            const char* log); /* the same, and what a compiler of the driver's said; "" : nothing */

/* Of the context that is current. */
int ashlar_cuda_place(const CudaDriver*, CudaContext, CudaDevice, ashlar_error*, const char* who, CudaPlace**);
int ashlar_cuda_pool(const CudaDriver*, CudaPlace*, ashlar_error*, const char* who, CudaPool*);
void ashlar_cuda_device_name(const CudaDriver*, CudaDevice, char* name, int room); /* "?": the driver does not tell */

/* The module in the context that is current, loaded where it was not. */
int ashlar_cuda_load(const CudaDriver*, CudaPlace*, const ashlar_abi1_cuda_module*, ashlar_error*, const CudaLoaded**);
/* What belongs to a launch beside the rest; zeros where the module tells nothing. */
ashlar_abi1_cuda_launch_more ashlar_cuda_more(const ashlar_abi1_cuda_module*, uint32_t launch);

int ashlar_cuda_take_workspace(CudaCall*, uint64_t bytes, uint64_t align, uint64_t* address);
int ashlar_cuda_drop_workspace(CudaCall*, int rc);

#endif
