/* What the runtime states of the driver's interface is what the toolkit's cuda.h states. Compiling is the test. */
#include <cuda.h>
#include <stdio.h>

#include "runtime/cuda/driver.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is " #theirs)
SAME(kCudaSuccess, CUDA_SUCCESS);
SAME(kCudaOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(kCudaDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(kCudaDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME(kCudaNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(kCudaInvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME(kCudaInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(kCudaNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(kCudaEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(kCudaIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(kCudaLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(kCudaContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(kCudaAssert, CUDA_ERROR_ASSERT);
SAME(kCudaHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(kCudaIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(kCudaMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(kCudaInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(kCudaInvalidPc, CUDA_ERROR_INVALID_PC);
SAME(kCudaLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(kCudaCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(kCudaCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
SAME(kCudaMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(kCudaPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME(kCudaJitInfoLog, CU_JIT_INFO_LOG_BUFFER);
SAME(kCudaJitInfoLogBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(kCudaJitErrorLog, CU_JIT_ERROR_LOG_BUFFER);
SAME(kCudaJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(kCudaJitLineInfo, CU_JIT_GENERATE_LINE_INFO);
SAME(kCudaLaunchCluster, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(kCudaLaunchProgrammatic, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(kCudaPinned, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(kCudaOnDevice, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(kCudaReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(kCudaCaptureActive, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME(kCudaMoveReference, CU_GRAPH_USER_OBJECT_MOVE);
SAME(kCudaNoDestructorSync, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
SAME(kCudaMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(kCudaMaxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(kCudaMaxGridY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(kCudaMaxGridZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(kCudaCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(kCudaCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(kCudaMaxSharedOptIn, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(kCudaFuncMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(kCudaFuncMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(kCudaInterleaveNone, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME(kCudaL2Promotion128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME(kCudaOutOfBoundsZero, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME(kCudaSwizzleNone, CU_TENSOR_MAP_SWIZZLE_NONE);
SAME(kCudaSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B);
SAME(kCudaSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B);
SAME(kCudaSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
/* the types of elements in codegen/llvm/nvptx/cuda.cpp */
SAME(0, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(1, CU_TENSOR_MAP_DATA_TYPE_UINT16);
SAME(2, CU_TENSOR_MAP_DATA_TYPE_UINT32);
SAME(3, CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME(4, CU_TENSOR_MAP_DATA_TYPE_UINT64);
SAME(5, CU_TENSOR_MAP_DATA_TYPE_INT64);
SAME(6, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(7, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(8, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
SAME(9, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
_Static_assert(sizeof(CudaTensorMap) == sizeof(CUtensorMap) && _Alignof(CudaTensorMap) == _Alignof(CUtensorMap),
               "a tensor map");
_Static_assert(sizeof(CudaAddress) == sizeof(CUdeviceptr) && sizeof(CudaDevice) == sizeof(CUdevice), "addresses and devices");
#define AT(ours, a, theirs, b) _Static_assert(offsetof(ours, a) == offsetof(theirs, b), "where " #b " lies in a " #theirs)
AT(CudaPoolProperties, location, CUmemPoolProps, location.id);
AT(CudaPoolProperties, most, CUmemPoolProps, maxSize);
_Static_assert(sizeof(CudaPoolProperties) == sizeof(CUmemPoolProps), "the properties of a pool");
AT(CudaLaunchAttribute, value, CUlaunchAttribute, value);
_Static_assert(sizeof(CudaLaunchAttribute) == sizeof(CUlaunchAttribute), "an attribute of a launch");
AT(CudaLaunchConfig, block, CUlaunchConfig, blockDimX);
AT(CudaLaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
AT(CudaLaunchConfig, stream, CUlaunchConfig, hStream);
AT(CudaLaunchConfig, attributes, CUlaunchConfig, attrs);
AT(CudaLaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
_Static_assert(sizeof(CudaLaunchConfig) == sizeof(CUlaunchConfig), "the configuration of a launch");

int main(void) {
  printf("as cuda.h of CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
  return 0;
}
