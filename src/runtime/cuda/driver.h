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
typedef struct CudaPoolObject* CudaPool;   /* CUmemoryPool */
typedef struct CudaGraphObject* CudaGraph; /* CUgraph */
typedef struct CudaUserObject* CudaHeld;   /* CUuserObject */
typedef struct CudaTensorMap {             /* CUtensorMap */
  _Alignas(128) uint64_t opaque[16];       /* CUDA 12 asks for 64 */
} CudaTensorMap;
typedef struct CudaPoolProperties { /* CUmemPoolProps */
  int32_t type, handles, location_type, location;
  void* security;
  size_t most; /* 0: the system's */
  unsigned short usage;
  unsigned char reserved[54];
} CudaPoolProperties;
typedef struct CudaLaunchAttribute { /* CUlaunchAttribute */
  int32_t id, pad;
  union {
    struct {
      uint32_t x, y, z;
    } cluster;
    int32_t allowed;
    char bytes[64];
  } value;
} CudaLaunchAttribute;
typedef struct CudaLaunchConfig { /* CUlaunchConfig */
  uint32_t grid[3], block[3], shared_bytes;
  CudaStream stream;
  CudaLaunchAttribute* attributes;
  uint32_t attribute_count;
} CudaLaunchConfig;

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
       kCudaLaunchFailed = 719,
       kCudaCaptureUnsupported = 900, /* the first of those about a stream that is being captured */
       kCudaCaptureWrongThread = 908  /* the last */
};
enum { /* CUdevice_attribute */
       kCudaMaxThreadsPerBlock = 1,
       kCudaMaxGridX = 5,
       kCudaMaxGridY = 6,
       kCudaMaxGridZ = 7,
       kCudaMultiprocessors = 16,
       kCudaCapabilityMajor = 75,
       kCudaCapabilityMinor = 76,
       kCudaMaxSharedOptIn = 97,
       kCudaPoolsSupported = 115
};
enum { kCudaFuncMaxThreads = 0, kCudaFuncMaxDynamicShared = 8 }; /* CUfunction_attribute */
enum {                                                           /* CUjit_option */
       kCudaJitInfoLog = 3,
       kCudaJitInfoLogBytes = 4,
       kCudaJitErrorLog = 5,
       kCudaJitErrorLogBytes = 6,
       kCudaJitLineInfo = 13
};
enum { kCudaLaunchCluster = 4, kCudaLaunchProgrammatic = 6 };                               /* CUlaunchAttributeID */
enum { kCudaPinned = 1, kCudaOnDevice = 1, kCudaReleaseThreshold = 4 };                     /* CUmemAllocationType, … */
enum { kCudaCaptureActive = 1, kCudaMoveReference = 1, kCudaNoDestructorSync = 1 };         /* CUstreamCaptureStatus, … */
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

/* What a driver library may lack: NULL there. */
#define ASHLAR_CUDA_LATER_FUNCTIONS(X)                                                                                     \
  X(DriverGetVersion, "cuDriverGetVersion", (int*))                                                                        \
  X(ModuleLoadDataEx, "cuModuleLoadDataEx", (CudaModule*, const void* image, unsigned count, int* options, void** values)) \
  X(LaunchKernelEx, "cuLaunchKernelEx", (const CudaLaunchConfig*, CudaFunction, void** parameters, void** extra))          \
  X(MemPoolCreate, "cuMemPoolCreate", (CudaPool*, const CudaPoolProperties*))                                              \
  X(MemPoolSetAttribute, "cuMemPoolSetAttribute", (CudaPool, int attribute, void* value))                                  \
  X(MemPoolDestroy, "cuMemPoolDestroy", (CudaPool))                                                                        \
  X(MemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", (CudaAddress*, size_t bytes, CudaPool, CudaStream))                  \
  X(MemFreeAsync, "cuMemFreeAsync", (CudaAddress, CudaStream))                                                             \
  X(StreamGetCaptureInfo, "cuStreamGetCaptureInfo_v2",                                                                     \
    (CudaStream, int* status, uint64_t* id, CudaGraph*, const void** dependencies, size_t* count))                         \
  X(UserObjectCreate, "cuUserObjectCreate",                                                                                \
    (CudaHeld*, void* value, void (*destroy)(void*), unsigned references, unsigned flags))                                 \
  X(UserObjectRelease, "cuUserObjectRelease", (CudaHeld, unsigned references))                                             \
  X(GraphRetainUserObject, "cuGraphRetainUserObject", (CudaGraph, CudaHeld, unsigned references, unsigned flags))          \
  X(CtxGetId, "cuCtxGetId", (CudaContext, unsigned long long*))                                                            \
  X(TensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                                        \
    (CudaTensorMap*, int type, uint32_t rank, void* address, const uint64_t* extents, const uint64_t* strides,             \
     const uint32_t* box, const uint32_t* element_strides, int interleave, int swizzle, int promotion, int outside))

typedef struct CudaDriver {
/* a declarator takes no parentheses: NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define ASHLAR_CUDA_DECLARE(name, symbol, parameters) CudaResult(*name) parameters;
  ASHLAR_CUDA_FUNCTIONS(ASHLAR_CUDA_DECLARE)
  ASHLAR_CUDA_LATER_FUNCTIONS(ASHLAR_CUDA_DECLARE)
#undef ASHLAR_CUDA_DECLARE
} CudaDriver;

#endif
