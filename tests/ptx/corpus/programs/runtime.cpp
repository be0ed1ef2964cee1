// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs that nvcc compiled call of the CUDA runtime, over the executor of PTX. So CUB, Thrust and CUTLASS launch their
// kernels by their own host code, with the grids, shared memory and parameters that it chooses. The objects hold PTX alone; it
// is read from the files that nvcc left beside them, and a kernel is found in them by its name.
//
// A launch has run when its call returns. What it does wrong is printed, and the call returns cudaErrorLaunchFailure.
#include "tests/ptx/corpus/programs/runtime.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/ptx/corpus/corpus.h"

namespace ashlar::ptx_corpus {
namespace {

struct Entry {
  std::string file, name;
  const ptx::Kernel* kernel = nullptr;
  int most_shared = 48 << 10;
};

struct Call {
  dim3 grid, block;
  std::size_t shared;
};

struct Runtime {
  Runtime() {
    before_totals([] { count_coverage(runtime_device().coverage()); });
  }
  static ptx::Device& runtime_device();
  ptx::Device device;
  std::map<const void*, std::string> names;  // what the host calls a kernel or a variable: its name in PTX
  std::map<const void*, Entry> entries;      // of kernels that were asked for
  std::vector<Call> calls;                   // configurations: <<<...>>> pushes one, the kernel's stub takes it
  cudaError_t last = cudaSuccess;
  int capability = 80;
};
Runtime& runtime() {
  static Runtime r;
  return r;
}
ptx::Device& Runtime::runtime_device() { return runtime().device; }

cudaError_t said(cudaError_t e) {
  if (e != cudaSuccess) runtime().last = e;
  return e;
}

Entry* entry_of(const void* function) {
  Runtime& r = runtime();
  const auto known = r.entries.find(function);
  if (known != r.entries.end()) return &known->second;
  const auto name = r.names.find(function);
  if (name == r.names.end()) return nullptr;
  for (const char* file : program_files())
    for (const ptx::Kernel& k : module_of(file).kernels())
      if (k.name == name->second) return &(r.entries[function] = Entry{file, k.name, &k, 48 << 10});
  std::fprintf(stderr, "no PTX of a program has the kernel %s\n", name->second.c_str());
  return nullptr;
}

std::size_t all_threads(const std::array<std::uint32_t, 3>& v) {
  return std::size_t(v[0]) * std::max(v[1], 1u) * std::max(v[2], 1u);
}

cudaError_t launch(const void* function, const dim3& grid, const dim3& block, std::size_t shared,
                   const std::array<std::uint32_t, 3>& cluster, void** arguments) {
  Entry* e = entry_of(function);
  if (e == nullptr) return said(cudaErrorInvalidDeviceFunction);
  if (e->kernel->shared_bytes + shared > static_cast<std::size_t>(std::max(e->most_shared, 48 << 10))) {
    std::fprintf(stderr, "%s: %zu bytes of shared memory, of which cudaFuncSetAttribute allowed %d\n", e->name.c_str(),
                 e->kernel->shared_bytes + shared, e->most_shared);
    return said(cudaErrorInvalidValue);
  }
  std::vector<ptx::Piece> pieces;
  for (std::size_t n = 0; n < e->kernel->parameters.size(); ++n) {
    const auto* from = static_cast<const std::byte*>(arguments[n]);
    pieces.emplace_back(from, from + e->kernel->parameters[n].bytes);
  }
  ptx::Grid g;
  g.grid = {grid.x, grid.y, grid.z}, g.block = {block.x, block.y, block.z};
  g.dynamic_shared = static_cast<std::uint32_t>(shared), g.cluster = cluster;
  try {
    const ptx::Report report = counted_launch(runtime().device, e->file, e->name, g, pieces);
    std::fputs(report.printed.c_str(), stdout);
    return cudaSuccess;
  } catch (const ptx::Fault& f) { std::fprintf(stderr, "%s\n", f.what()); } catch (const ptx::Error& f) {
    std::fprintf(stderr, "%s: line %d: %s\n", e->file.c_str(), f.line, f.what());
  }
  return said(cudaErrorLaunchFailure);
}

template <class F>
cudaError_t guarded(F f) {
  try {
    f(runtime().device);
    return cudaSuccess;
  } catch (const ptx::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return said(cudaErrorInvalidValue);
  }
}

std::uint64_t number(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

cudaError_t copied(void* to, const void* from, std::size_t bytes) {  // an address of the device is one of the host too
  return guarded([&](ashlar::ptx::Device& d) {
    const bool of_device = d.holds(number(from), bytes);
    if (!d.holds(number(to), bytes)) {
      if (of_device)
        d.read(to, number(from), bytes);
      else
        std::memmove(to, from, bytes);
      return;
    }
    std::vector<std::byte> between(bytes);
    if (of_device)
      d.read(between.data(), number(from), bytes);
    else
      std::memcpy(between.data(), from, bytes);
    d.write(number(to), between.data(), bytes);
  });
}

}  // namespace

void set_capability(int capability) { runtime().capability = capability; }

}  // namespace ashlar::ptx_corpus

using namespace ashlar::ptx_corpus;

extern "C" {

// ---- what nvcc's code registers
void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  runtime().names[host] = name;
}
void __cudaRegisterVar(void**, char* host, char*, const char* name, int, std::size_t, int, int) {
  runtime().names[host] = name;
}

// ---- launches
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void*) {
  runtime().calls.push_back({grid, block, shared});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (runtime().calls.empty()) return said(cudaErrorMissingConfiguration);
  const Call c = runtime().calls.back();
  runtime().calls.pop_back();
  *grid = c.grid, *block = c.block, *shared = c.shared, *static_cast<void**>(stream) = nullptr;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t) {
  return launch(kernel, grid, block, shared, {0, 0, 0}, arguments);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t) {
  return launch(function, grid, block, shared, {0, 0, 0}, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  std::array<std::uint32_t, 3> cluster = {0, 0, 0};
  for (unsigned n = 0; n < config->numAttrs; ++n)
    if (config->attrs[n].id == cudaLaunchAttributeClusterDimension) {
      const auto& dim = config->attrs[n].val.clusterDim;
      cluster = {dim.x, dim.y, dim.z};
    }
  return launch(function, config->gridDim, config->blockDim, config->dynamicSmemBytes, cluster, arguments);
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  Entry* e = entry_of(function);
  if (e == nullptr) return said(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
    e->most_shared = value + static_cast<int>(e->kernel->shared_bytes);
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  const Entry* e = entry_of(function);
  if (e == nullptr) return said(cudaErrorInvalidDeviceFunction);
  *attributes = cudaFuncAttributes();
  attributes->sharedSizeBytes = e->kernel->shared_bytes, attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = runtime().capability;
  const std::size_t most = all_threads(e->kernel->most_threads);
  attributes->maxThreadsPerBlock = most == 0 ? 1024 : static_cast<int>(most);
  attributes->maxDynamicSharedSizeBytes = e->most_shared;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads, std::size_t,
                                                                   unsigned) {
  *blocks = threads > 0 && threads <= 1024 ? std::min(2048 / threads, 32) : 0;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* f, int threads, std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, 0);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*, const cudaLaunchConfig_t*) {
  *clusters = 2;
  return cudaSuccess;
}

// ---- the driver's functions that a program asks for by name
int cuTensorMapEncodeTiled(std::uint64_t*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                           const std::uint32_t*, const std::uint32_t*, int, int, int, int);  // of tests/ptx/driver.cpp
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  const bool known = std::strcmp(name, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (found != nullptr) *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  if (!known) std::fprintf(stderr, "%s is not known here\n", name);
  return known ? cudaSuccess : said(cudaErrorSymbolNotFound);
}

// ---- the device
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : said(cudaErrorInvalidDevice); }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = runtime().capability / 10;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = runtime().capability % 10;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = 4;
      return cudaSuccess;  // few, so that blocks have more than one tile
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = 2048;
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = 48 << 10;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = (runtime().capability >= 90 ? 227 : 163) << 10;
      return cudaSuccess;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = 1 << 10;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = (runtime().capability >= 90 ? 228 : 164) << 10;
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = 32;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimX:
      *value = 0x7fffffff;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = 65535;
      return cudaSuccess;
    case cudaDevAttrMemoryPoolsSupported:
      *value = 0;
      return cudaSuccess;
    default:
      std::fprintf(stderr, "cudaDeviceGetAttribute: %d is not known here\n", static_cast<int>(attribute));
      return said(cudaErrorInvalidValue);
  }
}
cudaError_t cudaGetLastError() { return std::exchange(runtime().last, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return runtime().last; }
const char* cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess ? "no error" : "an error of the runtime over the executor";
}
const char* cudaGetErrorName(cudaError_t e) { return cudaGetErrorString(e); }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

// ---- memory
cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return guarded([&](ashlar::ptx::Device& d) { *address = reinterpret_cast<void*>(d.alloc(bytes)); });
}
cudaError_t cudaFree(void* address) {
  if (address == nullptr) return cudaSuccess;
  return guarded([&](ashlar::ptx::Device& d) { d.free(number(address)); });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) { return copied(to, from, bytes); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return copied(to, from, bytes);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return guarded([&](ashlar::ptx::Device& d) { d.fill(number(to), static_cast<std::uint8_t>(value), bytes); });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) { return cudaMemset(to, value, bytes); }

}  // extern "C"
