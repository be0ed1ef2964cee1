/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Modules, loaded once a CUDA context: machine code where it is for this device, else the PTX, which the driver assembles. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cuda.h"

static _Atomic(CudaLoaded*) modules; /* grows at the head and never shrinks: readers need no lock */

static const CudaLoaded* find(uint64_t context, const ashlar_abi1_cuda_module* m) {
  for (const CudaLoaded* l = atomic_load_explicit(&modules, memory_order_acquire); l != NULL; l = l->next)
    if (l->context == context && l->hash == m->hash && l->count == m->launch_count) return l;
  return NULL;
}

static int attribute(const CudaDriver* cu, CudaDevice device, int which, int* value, ashlar_error* error, const char* who) {
  const CudaResult r = cu->DeviceGetAttribute(value, which, device);
  return r == kCudaSuccess ? ASHLAR_OK : ashlar_cuda_failed(cu, error, who, "cuDeviceGetAttribute", r);
}

static void name_of(const CudaDriver* cu, CudaDevice device, char* name, int room) {
  if (cu->DeviceGetName(name, room, device) != kCudaSuccess) name[0] = '?', name[1] = '\0'; /* of use in sentences alone */
}

static int check_device(const CudaDriver* cu, CudaDevice device, const ashlar_abi1_cuda_module* m, ashlar_error* error,
                        int most_blocks[3]) {
  int major = 0, minor = 0, threads = 0, shared = 0;
  int rc = attribute(cu, device, kCudaCapabilityMajor, &major, error, m->name);
  if (rc == ASHLAR_OK) rc = attribute(cu, device, kCudaCapabilityMinor, &minor, error, m->name);
  if (rc == ASHLAR_OK) rc = attribute(cu, device, kCudaMaxThreadsPerBlock, &threads, error, m->name);
  if (rc == ASHLAR_OK) rc = attribute(cu, device, kCudaMaxSharedOptIn, &shared, error, m->name);
  for (int d = 0; d < 3 && rc == ASHLAR_OK; ++d) rc = attribute(cu, device, kCudaMaxGridX + d, &most_blocks[d], error, m->name);
  if (rc != ASHLAR_OK) return rc;
  char name[128];
  const uint32_t capability = (uint32_t)(10 * major + minor);
  if (m->exact != 0 ? capability != m->capability : capability < m->capability) {
    name_of(cu, device, name, sizeof name);
    return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, m->capability, capability,
                               m->exact != 0
                                   ? "%s: made for %s, which is compute capability {expected} alone (times ten); %s has {found}"
                                   : "%s: made for %s, compute capability {expected} or later (times ten); %s has {found}",
                               m->name, m->chip, name);
  }
  for (uint32_t k = 0; k < m->launch_count; ++k) {
    const ashlar_abi1_cuda_launch* what = &m->launches[k];
    const struct {
      uint32_t wanted, most;
      const char* what;
    } limits[] = {{what->threads, (uint32_t)threads, "threads"},
                  {what->shared_bytes, (uint32_t)shared, "bytes of shared memory"}};
    for (size_t n = 0; n < 2; ++n)
      if (limits[n].wanted > limits[n].most) {
        name_of(cu, device, name, sizeof name);
        return ashlar_error_record(error, ASHLAR_E_LAUNCH, -1, -1, limits[n].most, limits[n].wanted,
                                   "%s: a block of launch `%s` takes {found} %s, %s has {expected}", m->name, what->entry,
                                   limits[n].what, name);
      }
  }
  return ASHLAR_OK;
}

static int load_image(const CudaDriver* cu, const ashlar_abi1_cuda_module* m, ashlar_error* error, CudaModule* module) {
  if (m->cubin != NULL) {
    const CudaResult r = cu->ModuleLoadData(module, m->cubin);
    if (r == kCudaSuccess) return ASHLAR_OK;
    if (r != kCudaNoBinaryForGpu && r != kCudaInvalidImage)
      return ashlar_cuda_failed(cu, error, m->name, "cuModuleLoadData", r);
  }
  const CudaResult r = cu->ModuleLoadData(module, m->ptx);
  return r == kCudaSuccess ? ASHLAR_OK : ashlar_cuda_failed(cu, error, m->name, "cuModuleLoadData of PTX", r);
}

static int take_functions(const CudaDriver* cu, const ashlar_abi1_cuda_module* m, ashlar_error* error, CudaLoaded* l) {
  for (uint32_t k = 0; k < m->launch_count; ++k) {
    const ashlar_abi1_cuda_launch* what = &m->launches[k];
    CudaResult r = cu->ModuleGetFunction(&l->functions[k], l->module, what->entry);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, m->name, "cuModuleGetFunction", r);
    int threads = 0;
    r = cu->FuncGetAttribute(&threads, kCudaFuncMaxThreads, l->functions[k]);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, m->name, "cuFuncGetAttribute", r);
    if (what->threads > (uint32_t)threads)
      return ashlar_error_record(error, ASHLAR_E_LAUNCH, -1, -1, threads, what->threads,
                                 "%s: a block of launch `%s` takes {found} threads, whose registers leave room for {expected}",
                                 m->name, what->entry);
    if (what->shared_bytes == 0) continue;
    r = cu->FuncSetAttribute(l->functions[k], kCudaFuncMaxDynamicShared, (int)what->shared_bytes);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, m->name, "cuFuncSetAttribute", r);
  }
  return ASHLAR_OK;
}

int ashlar_cuda_load(const CudaDriver* cu, CudaContext context, CudaDevice device, const ashlar_abi1_cuda_module* m,
                     ashlar_error* error, const CudaLoaded** result) {
  unsigned long long id = (unsigned long long)(uintptr_t)context;
  if (cu->CtxGetId != NULL) {
    const CudaResult r = cu->CtxGetId(context, &id);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, m->name, "cuCtxGetId", r);
  }
  *result = find(id, m);
  if (*result != NULL) return ASHLAR_OK;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one thread loads, the others then find */
  pthread_mutex_lock(&lock);
  int rc = ASHLAR_OK;
  CudaLoaded* l = NULL;
  *result = find(id, m);
  if (*result == NULL) {
    int most_blocks[3] = {0, 0, 0};
    rc = check_device(cu, device, m, error, most_blocks);
    const size_t bytes = sizeof *l + m->launch_count * sizeof l->functions[0];
    if (rc == ASHLAR_OK && (l = calloc(1, bytes)) == NULL)
      rc = ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, 0, "%s: no host memory for {expected} bytes",
                               m->name);
    if (rc == ASHLAR_OK) rc = load_image(cu, m, error, &l->module);
    if (rc == ASHLAR_OK && (rc = take_functions(cu, m, error, l)) != ASHLAR_OK)
      (void)cu->ModuleUnload(l->module); /* what went wrong is already told */
    if (rc == ASHLAR_OK) {
      for (int d = 0; d < 3; ++d) l->most_blocks[d] = most_blocks[d];
      l->context = id, l->hash = m->hash, l->count = m->launch_count;
      l->next = atomic_load_explicit(&modules, memory_order_relaxed);
      atomic_store_explicit(&modules, l, memory_order_release);
      *result = l;
    } else {
      free(l);
    }
  }
  pthread_mutex_unlock(&lock);
  return rc;
}
