/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The CUDA driver's interface, as far as it is used: types, numbers and functions of cuda.h, stated here so that the runtime
 * builds without a toolkit. tests/cuda/driver_header.c compares them with the toolkit's own header where there is one. */
#ifndef ASHLAR_RUNTIME_CUDA_DRIVER_H
#define ASHLAR_RUNTIME_CUDA_DRIVER_H
#include <stddef.h>
#include <stdint.h>

typedef int32_t CudaResult;   /* CUresult */
typedef int32_t CudaDevice;   /* CUdevice */
typedef uint64_t CudaAddress; /* CUdeviceptr */
typedef struct CudaContextObject* CudaContext;
typedef struct CudaModuleObject* CudaModule;
typedef struct CudaFunctionObject* CudaFunction;
typedef struct CudaStreamObject* CudaStream;
typedef struct CudaTensorMap {       /* CUtensorMap */
  _Alignas(128) uint64_t opaque[16]; /* CUDA 12 asks for 64 */
} CudaTensorMap;

enum { /* CUresult */
       kCudaSuccess = 0,
       kCudaOutOfMemory = 2,
       kCudaDeinitialized = 4,
       kCudaDeviceUnavailable = 46,
       kCudaNoDevice = 100,
       kCudaInvalidImage = 200,
       kCudaInvalidContext = 201,
       kCudaNoBinaryForGpu = 209,
       kCudaEccUncorrectable = 214,
       kCudaIllegalAddress = 700,
       kCudaLaunchTimeout = 702,
       kCudaContextIsDestroyed = 709,
       kCudaAssert = 710,
       kCudaHardwareStackError = 714,
       kCudaIllegalInstruction = 715,
       kCudaMisalignedAddress = 716,
       kCudaInvalidAddressSpace = 717,
       kCudaInvalidPc = 718,
       kCudaLaunchFailed = 719
};
enum { /* CUdevice_attribute */
       kCudaMaxThreadsPerBlock = 1,
       kCudaMaxGridX = 5,
       kCudaMaxGridY = 6,
       kCudaMaxGridZ = 7,
       kCudaCapabilityMajor = 75,
       kCudaCapabilityMinor = 76,
       kCudaMaxSharedOptIn = 97
};
enum { kCudaFuncMaxThreads = 0, kCudaFuncMaxDynamicShared = 8 };                            /* CUfunction_attribute */
enum { kCudaInterleaveNone = 0, kCudaL2Promotion128 = 2, kCudaOutOfBoundsZero = 0 };        /* CUtensorMap… */
enum { kCudaSwizzleNone = 0, kCudaSwizzle32 = 1, kCudaSwizzle64 = 2, kCudaSwizzle128 = 3 }; /* CUtensorMapSwizzle */

/* X(name here, symbol in the library, result, parameters): what every driver since CUDA 11 has. */
#define ASHLAR_CUDA_FUNCTIONS(X)                                                                                            \
  X(Init, "cuInit", (unsigned flags))                                                                                       \
  X(GetErrorName, "cuGetErrorName", (CudaResult, const char**))                                                             \
  X(DeviceGetCount, "cuDeviceGetCount", (int*))                                                                             \
  X(DeviceGet, "cuDeviceGet", (CudaDevice*, int number))                                                                    \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int*, int attribute, CudaDevice))                                          \
  X(DeviceGetName, "cuDeviceGetName", (char*, int room, CudaDevice))                                                        \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CudaContext*, CudaDevice))                                         \
  X(CtxGetCurrent, "cuCtxGetCurrent", (CudaContext*))                                                                       \
  X(CtxPushCurrent, "cuCtxPushCurrent_v2", (CudaContext))                                                                   \
  X(CtxPopCurrent, "cuCtxPopCurrent_v2", (CudaContext*))                                                                    \
  X(CtxGetDevice, "cuCtxGetDevice", (CudaDevice*))                                                                          \
  X(StreamGetCtx, "cuStreamGetCtx", (CudaStream, CudaContext*))                                                             \
  X(StreamSynchronize, "cuStreamSynchronize", (CudaStream))                                                                 \
  X(MemAlloc, "cuMemAlloc_v2", (CudaAddress*, size_t bytes))                                                                \
  X(MemFree, "cuMemFree_v2", (CudaAddress))                                                                                 \
  X(ModuleLoadData, "cuModuleLoadData", (CudaModule*, const void* image))                                                   \
  X(ModuleUnload, "cuModuleUnload", (CudaModule))                                                                           \
  X(ModuleGetFunction, "cuModuleGetFunction", (CudaFunction*, CudaModule, const char* name))                                \
  X(FuncGetAttribute, "cuFuncGetAttribute", (int*, int attribute, CudaFunction))                                            \
  X(FuncSetAttribute, "cuFuncSetAttribute", (CudaFunction, int attribute, int value))                                       \
  X(LaunchKernel, "cuLaunchKernel",                                                                                         \
    (CudaFunction, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, \
     unsigned shared_bytes, CudaStream, void** parameters, void** extra))

/* What later drivers have: NULL where they do not. */
#define ASHLAR_CUDA_LATER_FUNCTIONS(X)                                                                         \
  X(CtxGetId, "cuCtxGetId", (CudaContext, unsigned long long*))                                                \
  X(TensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                            \
    (CudaTensorMap*, int type, uint32_t rank, void* address, const uint64_t* extents, const uint64_t* strides, \
     const uint32_t* box, const uint32_t* element_strides, int interleave, int swizzle, int promotion, int outside))

typedef struct CudaDriver {
/* a declarator takes no parentheses: NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define ASHLAR_CUDA_DECLARE(name, symbol, parameters) CudaResult(*name) parameters;
  ASHLAR_CUDA_FUNCTIONS(ASHLAR_CUDA_DECLARE)
  ASHLAR_CUDA_LATER_FUNCTIONS(ASHLAR_CUDA_DECLARE)
#undef ASHLAR_CUDA_DECLARE
} CudaDriver;

#endif
