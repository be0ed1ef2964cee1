#pragma once
// Memory of a CUDA device for a program that links neither CUDA nor needs it: libcuda is opened at run time, as the kernels'
// runtime does (ASHLAR_CUDA_LIBRARY names another one). A program that already uses CUDA passes its own pointers instead.
//
//   CudaDevice device;                              // throws NotHere where there is no driver or no device, KernelError where
//                                                   // one that is there fails
//   std::uint64_t x = device.upload(floats);        // freed with the device
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/support/tensor.h"

namespace apps {

class CudaDevice {
 public:
  CudaDevice() {
    const char* name = std::getenv("ASHLAR_CUDA_LIBRARY");
    library_ = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw NotHere("no CUDA driver (libcuda.so.1)");
    const int rc = function<int(unsigned)>("cuInit")(0);
    if (rc == kNoDevice) throw NotHere("the CUDA driver sees no device");
    ask("cuInit", rc);
    int device = 0;
    ask("cuDeviceGet", function<int(int*, int)>("cuDeviceGet")(&device, 0));
    void* context = nullptr;
    ask("cuDevicePrimaryCtxRetain", function<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device));
    ask("cuCtxSetCurrent", function<int(void*)>("cuCtxSetCurrent")(context));
  }
  ~CudaDevice() {  // the primary context ends with the process
    for (const std::uint64_t address : blocks_) function<int(std::uint64_t)>("cuMemFree_v2")(address);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::uint64_t allocate(std::size_t bytes) {
    std::uint64_t address = 0;
    ask("cuMemAlloc", function<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&address, bytes));
    blocks_.push_back(address);
    return address;
  }
  std::uint64_t upload(const std::vector<float>& from) {
    const std::uint64_t to = allocate(from.size() * sizeof(float));
    ask("cuMemcpyHtoD", function<int(std::uint64_t, const void*, std::size_t)>("cuMemcpyHtoD_v2")(to, from.data(),
                                                                                                  from.size() * sizeof(float)));
    return to;
  }
  void download(std::uint64_t from, std::vector<float>& to) {
    ask("cuMemcpyDtoH",
        function<int(void*, std::uint64_t, std::size_t)>("cuMemcpyDtoH_v2")(to.data(), from, to.size() * sizeof(float)));
  }

 private:
  static constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE

  template <class F>
  F* function(const char* name) {
    void* address = dlsym(library_, name);
    if (!address) throw KernelError(std::string("the CUDA driver lacks ") + name);
    return reinterpret_cast<F*>(address);
  }
  static void ask(const char* what, int code) {
    if (code != 0) throw KernelError(std::string(what) + " failed with CUresult " + std::to_string(code));
  }

  void* library_ = nullptr;
  std::vector<std::uint64_t> blocks_;
};

}  // namespace apps
