#pragma once
// Tensors in the memory of the driver without a device (tests/ptx/driver.cpp), and what it launched.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/runtime/runtime.h>

#include "tests/support/sentence.h"

namespace tile_objects {

struct Driver {
  int (*alloc)(std::uint64_t*, std::size_t) = nullptr;
  int (*free)(std::uint64_t) = nullptr;
  int (*up)(std::uint64_t, const void*, std::size_t) = nullptr;
  int (*down)(void*, std::uint64_t, std::size_t) = nullptr;
  const char* (*launched)() = nullptr;

  static const Driver& get() {
    static const Driver driver = [] {
      Driver d;
      const char* path = std::getenv("ASHLAR_CUDA_LIBRARY");
      if (path == nullptr) path = ASHLAR_TILE_DRIVER_FILE, setenv("ASHLAR_CUDA_LIBRARY", path, 1);
      void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      REQUIRE_MESSAGE(library != nullptr, dlerror());
      const auto find = [&](auto& function, const char* name) {
        *reinterpret_cast<void**>(&function) = dlsym(library, name);
        REQUIRE((function != nullptr));
      };
      find(d.alloc, "cuMemAlloc_v2"), find(d.free, "cuMemFree_v2"), find(d.up, "cuMemcpyHtoD_v2");
      find(d.down, "cuMemcpyDtoH_v2"), find(d.launched, "ashlar_driver_launched");
      return d;
    }();
    return driver;
  }
};

// Rows of `pitch` elements, from `skipped` bytes behind a multiple of 256 on.
template <class T>
class OnDevice {
 public:
  OnDevice(std::vector<std::int64_t> shape, unsigned char code, std::int64_t pitch = 0, std::size_t skipped = 0)
      : shape_(std::move(shape)), skipped_(skipped) {
    const std::int64_t columns = shape_.back();
    if (pitch == 0) pitch = columns;
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < shape_.size(); ++d) rows *= shape_[d];
    strides_.assign(shape_.size(), 1);
    for (std::size_t d = shape_.size() - 1; d-- > 0;)
      strides_[d] = d + 2 == shape_.size() ? pitch : strides_[d + 1] * shape_[d + 1];
    host.assign(static_cast<std::size_t>(rows * pitch), T());
    REQUIRE(Driver::get().alloc(&address_, bytes() + skipped_ + 1) == 0);
    tensor.data = reinterpret_cast<void*>(address_ + skipped_);
    tensor.device_type = 2, tensor.ndim = static_cast<std::int32_t>(shape_.size());
    tensor.type_code = code, tensor.type_bits = 8 * sizeof(T), tensor.type_lanes = 1;
    tensor.shape = shape_.data(), tensor.strides = strides_.data();
  }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() { Driver::get().free(address_); }
  T& operator()(std::int64_t i, std::int64_t j) { return host[static_cast<std::size_t>(i * strides_[0] + j)]; }
  T& operator()(std::int64_t i) { return host[static_cast<std::size_t>(i)]; }
  void up() { REQUIRE(Driver::get().up(address_ + skipped_, host.data(), bytes()) == 0); }
  void down() { REQUIRE(Driver::get().down(host.data(), address_ + skipped_, bytes()) == 0); }
  std::vector<std::int64_t>& strides() { return strides_; }

  std::vector<T> host;
  ashlar_tensor tensor = {};

 private:
  std::size_t bytes() const { return host.size() * sizeof(T); }
  std::vector<std::int64_t> shape_, strides_;
  std::size_t skipped_;
  std::uint64_t address_ = 0;
};

inline std::string said() { return test::last_error(); }

inline std::string launched() { return Driver::get().launched(); }

}  // namespace tile_objects
