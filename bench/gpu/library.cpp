// The kernels for a program in another language: bench/gpu/beside_torch.py calls them on PyTorch's memory and stream, in
// PyTorch's process.
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <vector>

#include "bench/gpu/device.h"
#include "bench/gpu/library.h"

namespace {

std::string failure;

// The process's own context is the device's primary one, which PyTorch uses too.
gpu_bench::Workspace& workspace() {
  static std::string why;
  static const std::unique_ptr<gpu_bench::Device> device = gpu_bench::Device::open(&why);
  if (!device) throw std::runtime_error(why);
  static gpu_bench::Workspace shared(*device);
  return shared;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* ashlar_gpu_failure() { return failure.c_str(); }

// Makes the kernel, which the first call would do. 0, or not; then ashlar_gpu_failure() says why.
extern "C" __attribute__((visibility("default"))) int ashlar_gpu_prepare(const char* name, const char* target) {
  try {
    gpu_bench::kernel_of(name, target);
    return 0;
  } catch (const std::exception& e) {
    failure = e.what();
    return 1;
  }
}

// 0, or not; then ashlar_gpu_failure() says why.
extern "C" __attribute__((visibility("default"))) int ashlar_gpu_call(const char* name, const char* target,
                                                                      const ashlar_tensor* tensors, int count, void* stream) {
  try {
    std::vector<const void*> list;
    for (int n = 0; n < count; ++n) list.push_back(tensors + n);
    ashlar_error error = {};
    ashlar_context c = {};
    c.size = sizeof c;
    c.stream = stream;
    c.error = &error;
    workspace().lend_to(c);
    const int code = ashlar_abi1_call(&gpu_bench::kernel_of(name, target), list.data(), &c);
    if (code == ASHLAR_OK) return 0;
    char text[400];
    ashlar_error_text(&error, text, sizeof text);
    failure = std::string(name) + ": " + text;
    return 1;
  } catch (const std::exception& e) {
    failure = e.what();
    return 1;
  }
}
