/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the CUDA runtime share.
 *
 *   open.c     libcuda, its functions, what a CUresult means
 *   module.c   modules, loaded once a CUDA context
 *   launch.c   calls: begin, run, end
 */
#ifndef ASHLAR_RUNTIME_CUDA_INTERNAL_H
#define ASHLAR_RUNTIME_CUDA_INTERNAL_H
#include <ashlar/runtime/cuda.h>

#include "../internal.h"
#include "driver.h"

typedef struct CudaLoaded { /* a module in one CUDA context; never changed once it is seen, and kept for the process's life */
  struct CudaLoaded* next;
  uint64_t context; /* its id, which no later context has; its handle where the driver tells no id */
  uint64_t hash;
  CudaModule module;
  int most_blocks[3]; /* along x, y, z */
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
  CudaAddress owned; /* workspace of the driver's, freed when the call has waited */
  void* lent;        /* workspace of the context's allocator */
  int32_t code;      /* of the first failure */
  int32_t device;
  bool wait, pushed;
} CudaCall;

/* The driver's functions, found at the first call; ASHLAR_E_DEVICE where there is no driver or no device. A failure is met
 * again by the next call, so a driver that comes later is found. */
int ashlar_cuda_driver(const CudaDriver**, ashlar_error*, const char* who);

const CudaDriver* ashlar_cuda_open_driver(void); /* NULL where ashlar_cuda_driver has not succeeded yet */

/* Records what the driver said and returns the code. */
int ashlar_cuda_failed(const CudaDriver*, ashlar_error*, const char* who, const char* function, CudaResult);

/* The module in the context that is current, loaded where it was not. */
int ashlar_cuda_load(const CudaDriver*, CudaContext, CudaDevice, const ashlar_abi1_cuda_module*, ashlar_error*,
                     const CudaLoaded**);

#endif
