/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is known of a CUDA context: the figures of its device, read once, and a pool of the runtime's own, so that the settings
 * of the device's default pool stay the program's. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

static _Atomic(CudaPlace*) places; /* grows at the head and never shrinks: readers need no lock */
static Lock lock = LOCK;

void ashlar_cuda_device_name(const CudaDriver* cu, CudaDevice device, char* name, int room) {
  if (cu->DeviceGetName(name, room, device) != kCudaSuccess) name[0] = '?', name[1] = '\0'; /* of use in sentences alone */
}

static CudaPlace* find(uint64_t id) {
  for (CudaPlace* p = atomic_load_explicit(&places, memory_order_acquire); p != NULL; p = p->next)
    if (p->id == id) return p;
  return NULL;
}

static int read_figures(const CudaDriver* cu, CudaPlace* p, ashlar_error* error, const char* who) {
  int major = 0, minor = 0, pools = 0;
  const struct {
    int attribute, *value;
  } wanted[] = {
      {kCudaCapabilityMajor, &major},         {kCudaCapabilityMinor, &minor},      {kCudaMaxThreadsPerBlock, &p->most_threads},
      {kCudaMaxSharedOptIn, &p->most_shared}, {kCudaMaxGridX, &p->most_blocks[0]}, {kCudaMaxGridY, &p->most_blocks[1]},
      {kCudaMaxGridZ, &p->most_blocks[2]}};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; ++k) {
    const CudaResult r = cu->DeviceGetAttribute(wanted[k].value, wanted[k].attribute, p->device);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, who, "cuDeviceGetAttribute", r);
  }
  p->capability = 10 * major + minor;
  const bool knows = cu->MemPoolCreate != NULL && cu->MemPoolSetAttribute != NULL && cu->MemPoolDestroy != NULL &&
                     cu->MemAllocFromPoolAsync != NULL && cu->MemFreeAsync != NULL;
  if (knows) { /* an attribute that drivers before CUDA 11.2 do not know, and those have no such functions */
    const CudaResult r = cu->DeviceGetAttribute(&pools, kCudaPoolsSupported, p->device);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, who, "cuDeviceGetAttribute", r);
  }
  p->has_pools = pools != 0;
  return ASHLAR_OK;
}

int ashlar_cuda_place(const CudaDriver* cu, CudaContext context, CudaDevice device, ashlar_error* error, const char* who,
                      CudaPlace** result) {
  unsigned long long id = (unsigned long long)(uintptr_t)context;
  if (cu->CtxGetId != NULL) {
    const CudaResult r = cu->CtxGetId(context, &id);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, who, "cuCtxGetId", r);
  }
  *result = find(id);
  if (*result != NULL) return ASHLAR_OK;
  lock_take(&lock);
  int rc = ASHLAR_OK;
  *result = find(id);
  if (*result == NULL) {
    CudaPlace* p = calloc(1, sizeof *p);
    if (p == NULL) {
      rc = ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)sizeof *p, 0, "%s: no host memory for {expected} bytes",
                               who);
    } else {
      p->id = id, p->device = device;
      rc = read_figures(cu, p, error, who);
    }
    if (rc == ASHLAR_OK) {
      p->next = atomic_load_explicit(&places, memory_order_relaxed);
      atomic_store_explicit(&places, p, memory_order_release);
      *result = p;
    } else {
      free(p);
    }
  }
  lock_leave(&lock);
  return rc;
}

int ashlar_cuda_pool(const CudaDriver* cu, CudaPlace* p, ashlar_error* error, const char* who, CudaPool* result) {
  *result = atomic_load_explicit(&p->pool, memory_order_acquire);
  if (*result != NULL) return ASHLAR_OK;
  lock_take(&lock);
  int rc = ASHLAR_OK;
  *result = atomic_load_explicit(&p->pool, memory_order_relaxed);
  if (*result == NULL) {
    CudaPoolProperties properties;
    memset(&properties, 0, sizeof properties);
    properties.type = kCudaPinned, properties.location_type = kCudaOnDevice, properties.location = p->device;
    CudaPool pool = NULL;
    CudaResult r = cu->MemPoolCreate(&pool, &properties);
    if (r != kCudaSuccess) {
      rc = ashlar_cuda_failed(cu, error, who, "cuMemPoolCreate", r);
    } else {
      uint64_t kept = ashlar_kept_bytes(); /* what stays between calls; the rest goes back whenever the device is waited for */
      r = cu->MemPoolSetAttribute(pool, kCudaReleaseThreshold, &kept);
      if (r != kCudaSuccess) {
        rc = ashlar_cuda_failed(cu, error, who, "cuMemPoolSetAttribute", r);
        (void)cu->MemPoolDestroy(pool); /* what went wrong is already told */
      } else {
        *result = pool;
        atomic_store_explicit(&p->pool, pool, memory_order_release);
      }
    }
  }
  lock_leave(&lock);
  return rc;
}
