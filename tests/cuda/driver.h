#pragma once
// The stand-in driver as a test sees it; the runtime finds it by ASHLAR_CUDA_LIBRARY, which open() sets.
//
//   const cuda::Standin& driver = cuda::Standin::open(ASHLAR_STANDIN);
//   driver.reset();  …  CHECK(driver.complaints() == std::string());
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/runtime/cuda.h>
#include <ashlar/runtime/runtime.h>

#include "tests/cuda/standin.h"
#include "tests/support/sentence.h"

namespace cuda {

struct Standin {
#define ASHLAR_DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  STANDIN_FUNCTIONS(ASHLAR_DECLARE)
#undef ASHLAR_DECLARE

  static const Standin& open(const char* path) {
    static const Standin driver = [path] {
      Standin d;
      REQUIRE(setenv("ASHLAR_CUDA_LIBRARY", path, 1) == 0);
      void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      REQUIRE((library != nullptr));
#define ASHLAR_FIND(name, result, parameters)                 \
  *reinterpret_cast<void**>(&d.name) = dlsym(library, #name); \
  REQUIRE((d.name != nullptr));
      STANDIN_FUNCTIONS(ASHLAR_FIND)
#undef ASHLAR_FIND
      return d;
    }();
    return driver;
  }
};

// A driver as new, with a context of its own current: every test loads its modules again.
struct Fresh {
  explicit Fresh(const Standin& of) : driver(of) {
    driver.standin_reset();
    context = driver.standin_new_context(0);
    driver.standin_set_current(context);
  }
  ~Fresh() {
    CHECK(std::string(driver.standin_complaints()) == "");
    CHECK(driver.standin_blocks_in_use() == 0);
    driver.standin_set_current(nullptr);
  }
  const Standin& driver;
  void* context;
};

using test::sentence;

// A tensor whose memory is taken to be a device's.
struct OnDevice {
  OnDevice(ashlar::Type t, std::vector<std::int64_t> extents, std::int32_t device = 0) : shape(std::move(extents)) {
    std::int64_t n = 1;
    for (std::int64_t e : shape) n *= e;
    memory.resize(static_cast<std::size_t>(n * t.bytes()) / 8 + 10);
    const ashlar::codegen::TensorType type = ashlar::codegen::tensor_type(t);
    tensor.data = memory.data(), tensor.device_type = 2, tensor.device_id = device;
    tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.type_code = type.code, tensor.type_bits = type.bits, tensor.type_lanes = 1, tensor.shape = shape.data();
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(tensor.data); }
  std::vector<std::int64_t> shape;
  std::vector<std::uint64_t> memory;
  ashlar_tensor tensor = {};
};

}  // namespace cuda
