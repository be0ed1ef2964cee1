#pragma once
// What the tests of Vulkan share: a device of the test's own with the validation layer on, whose messages are kept; kernels by
// hand with launches; and a runner that needs no host code.
//
//   TestDevice& device = TestDevice::get();              // the test is skipped by name where there is none
//   std::vector<std::vector<std::byte>> memory = …;
//   device.run(kernel, memory, {{n_id, 64}});    // arguments in the order of declaration, variables by id
//   CHECK(device.messages().empty());
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ashlar/codegen/spirv.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/runtime/vulkan.h>

#include "tests/codegen/kernels.h"

namespace vulkan {

using namespace ashlar;
using Bytes = std::vector<unsigned char>;

struct Launching {  // a launch under construction: the numbers of its blocks and threads
  ir::Launch l;
  Expr block[3], thread;
  explicit Launching(kernels::Maker& m, const std::string& name, std::int64_t threads, int warp = 32);
};

ir::KStmt launch(const Launching&, std::vector<Expr> grid, std::vector<ir::KStmt> body);
ir::KStmt barrier();

std::string sentence(const ashlar_error&);

class TestDevice {
 public:
  // Null where there is no driver, no device or no validation layer: the test is skipped, or fails where ASHLAR_REQUIRE_VULKAN
  // is set. A device that is here and cannot be used throws. It is never closed: by the end of the process the layer and the
  // driver, opened after it, have cleaned up behind themselves.
  static TestDevice* get();
  ashlar_vulkan_queue* queue() const { return queue_; }
  const ashlar_vulkan_given& given() const { return given_; }
  const std::vector<std::string>& messages() const { return messages_; }  // of the validation layer
  std::string said() const;                                               // all of them, joined
  void forget() { messages_.clear(); }

  // Runs the launches of a kernel whose body is nothing else, and reads back what it wrote. Returns the sentence of the error.
  std::string run(const ir::Kernel&, std::vector<Bytes>& arguments, const std::map<ir::Id, std::int64_t>& variables = {},
                  const codegen::spirv::Options& = {}, ashlar_vulkan_queue* other = nullptr);

 private:
  TestDevice() = default;
  std::string open(bool& absent);  // why not; empty: it is open
  ashlar_vulkan_queue* queue_ = nullptr;
  ashlar_vulkan_given given_ = {};
  void *library_ = nullptr, *instance_ = nullptr, *device_ = nullptr, *messenger_ = nullptr;
  std::vector<std::string> messages_;
};

// A tensor of the device with the bytes of an array; elements of 4 bits are two to a byte already.
struct OnDevice {
  explicit OnDevice(const interp::Array&, ashlar_vulkan_queue* = TestDevice::get()->queue());
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { ashlar_vulkan_free(buffer); }
  void read(interp::Array&) const;
  std::vector<std::int64_t> shape;
  ashlar_vulkan_buffer* buffer = nullptr;
  ashlar_tensor tensor = {};
};

}  // namespace vulkan
