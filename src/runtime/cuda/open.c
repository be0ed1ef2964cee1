/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libcuda, its functions, what a CUresult means. */
#include <stdlib.h>

#include "cuda.h"

/* After these nothing works in the context any more: the CUDA driver says them again at every call. */
static bool is_lost(CudaResult r) {
  switch (r) {
    case kCudaDeinitialized:
    case kCudaDeviceUnavailable:
    case kCudaEccUncorrectable:
    case kCudaIllegalAddress:
    case kCudaLaunchTimeout:
    case kCudaContextIsDestroyed:
    case kCudaAssert:
    case kCudaHardwareStackError:
    case kCudaIllegalInstruction:
    case kCudaMisalignedAddress:
    case kCudaInvalidAddressSpace:
    case kCudaInvalidPc:
    case kCudaLaunchFailed:
      return true;
    default:
      return false;
  }
}

int ashlar_cuda_failed_with(const CudaDriver* cu, ashlar_error* error, const char* who, const char* function, CudaResult r,
                            const char* log) {
  const char *name = NULL, *hint = "";
  if (is_lost(r)) *ashlar_device_touched() = true;
  if (cu->GetErrorName(r, &name) != kCudaSuccess || name == NULL) name = "a CUresult that the driver has no name for";
  if (is_lost(r)) hint = ": the CUDA context is lost, by this call or an earlier one";
  if (r >= kCudaCaptureUnsupported && r <= kCudaCaptureWrongThread)
    hint = ": the stream is being captured, where nothing can be loaded, allocated or waited for (f_prepare does before)";
  return ashlar_error_record(error, r == kCudaOutOfMemory ? ASHLAR_E_MEMORY : ASHLAR_E_LAUNCH, -1, -1, kCudaSuccess, r,
                             "%s: %s returned {found}, %s%s%s%s", who, function, name, hint, *log != '\0' ? ": " : "", log);
}

int ashlar_cuda_failed(const CudaDriver* cu, ashlar_error* error, const char* who, const char* function, CudaResult r) {
  return ashlar_cuda_failed_with(cu, error, who, function, r, "");
}

#if defined(_WIN32)
static const char kDriver[] = "nvcuda.dll";
#else
static const char kDriver[] = "libcuda.so.1";
#endif

static int open_driver(CudaDriver* cu, ashlar_error* error, const char* who) {
  const char* wanted = getenv("ASHLAR_CUDA_LIBRARY");
  const char* name = wanted != NULL ? wanted : kDriver;
  void* library = library_open(name); /* stays open: the driver starts threads of its own */
  if (library == NULL)
    return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, 0, 0, "%s: %s cannot be opened: no NVIDIA driver is here", who,
                               name);
#define ASHLAR_CUDA_GET(function, symbol, parameters) *(void**)&cu->function = library_function(library, symbol);
  ASHLAR_CUDA_LATER_FUNCTIONS(ASHLAR_CUDA_GET)
#undef ASHLAR_CUDA_GET
#define ASHLAR_CUDA_GET(function, symbol, parameters)                                                                      \
  *(void**)&cu->function = library_function(library, symbol);                                                              \
  if (cu->function == NULL)                                                                                                \
    return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, 0, 0, "%s: the driver %s has no %s, which CUDA 11 demands", \
                               who, name, symbol);
  ASHLAR_CUDA_FUNCTIONS(ASHLAR_CUDA_GET)
#undef ASHLAR_CUDA_GET
  const CudaResult r = cu->Init(0);
  if (r == kCudaNoDevice)
    return ashlar_error_record(error, ASHLAR_E_DEVICE, -1, -1, 0, 0,
                               "%s: cuInit returned CUDA_ERROR_NO_DEVICE: the driver sees no device", who);
  if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, who, "cuInit", r);
  return ASHLAR_OK;
}

static Lock lock = LOCK;
static CudaDriver driver;
static bool open;

int ashlar_cuda_driver(const CudaDriver** result, ashlar_error* error, const char* who) {
  int rc = ASHLAR_OK;
  lock_take(&lock);
  if (!open) {
    rc = open_driver(&driver, error, who);
    open = rc == ASHLAR_OK;
  }
  lock_leave(&lock);
  *result = &driver;
  return rc;
}

const CudaDriver* ashlar_cuda_open_driver(void) {
  lock_take(&lock);
  const bool is_open = open;
  lock_leave(&lock);
  return is_open ? &driver : NULL;
}
