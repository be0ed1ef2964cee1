// The families of schedules for devices on one: compiled for Vulkan, equal to the interpreter's run of the same launches.
#include <cstdio>

#include <doctest/doctest.h>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/jit.h>

#include "tests/schedules/gpu_programs.h"
#include "tests/skip.h"
#include "tests/vulkan/device.h"

using namespace ashlar;
using vulkan::TestDevice;

namespace {

class Uploaded {  // a tensor of the device with the contents of an array
 public:
  explicit Uploaded(const interp::Array& a) : shape_(a.shape) {
    ashlar_error error = {};
    REQUIRE(ashlar_vulkan_alloc(TestDevice::get()->queue(), a.bytes.size(), &buffer_, &error) == ASHLAR_OK);
    REQUIRE(ashlar_vulkan_upload(buffer_, 0, a.bytes.data(), a.bytes.size(), &error) == ASHLAR_OK);
    const codegen::TensorType t = codegen::tensor_type(a.type);
    tensor.data = buffer_, tensor.device_type = 7, tensor.ndim = static_cast<std::int32_t>(shape_.size());
    tensor.type_code = t.code, tensor.type_bits = t.bits, tensor.type_lanes = 1, tensor.shape = shape_.data();
  }
  Uploaded(const Uploaded&) = delete;
  Uploaded& operator=(const Uploaded&) = delete;
  ~Uploaded() { ashlar_vulkan_free(buffer_); }
  void read(interp::Array& a) const {
    ashlar_error error = {};
    REQUIRE(ashlar_vulkan_download(buffer_, 0, a.bytes.data(), a.bytes.size(), &error) == ASHLAR_OK);
  }
  ashlar_tensor tensor = {};

 private:
  std::vector<std::int64_t> shape_;
  ashlar_vulkan_buffer* buffer_ = nullptr;
};

void check_all(const Target& target) {
  CAPTURE(std::string(target.text()));
  for (const schedules_test::DeviceProgram& p : schedules_test::device_programs()) {
    CAPTURE(p.name);
    const schedules_test::DeviceRuns r = runs_of(p, target);
    const codegen::Compiled f = codegen::compile(r.kernel, target);
    for (std::size_t k = 0; k < r.given.size(); ++k) {
      CAPTURE(k);
      std::vector<std::unique_ptr<Uploaded>> tensors;
      std::vector<const void*> arguments;
      for (const interp::Actual& a : r.given[k]) {
        tensors.push_back(std::make_unique<Uploaded>(a.array));
        arguments.push_back(&tensors.back()->tensor);
      }
      const int rc = f.call(arguments);
      const std::string said = rc == ASHLAR_OK ? "" : vulkan::sentence(*ashlar_last_error());
      if (said.find(" lacks a fused multiply-add of f64") != std::string::npos) {
        std::printf("skipped: %s, %s\n", p.name.c_str(), said.c_str());
        break;
      }
      REQUIRE_MESSAGE(rc == ASHLAR_OK, said);
      interp::Arguments expected = r.given[k];
      interp::run(r.kernel, expected);
      for (std::size_t n = 0; n < expected.size(); ++n) {
        interp::Array found = expected[n].array;
        tensors[n]->read(found);
        CHECK(interp::difference(found, expected[n].array) == "");
      }
    }
    CHECK(TestDevice::get()->said() == "");
    TestDevice::get()->forget();
  }
}

}  // namespace

TEST_CASE("families for devices, and programs by default") {
  if (TestDevice::get()) check_all(Target::parse("vulkan"));
}

TEST_CASE("the same in blocks of 128 threads, by subgroups, and with arithmetic on f16") {
  if (!TestDevice::get()) return;
  const ashlar_vulkan_queue* queue = TestDevice::get()->queue();
  std::string target = "vulkan-128+subgroup" + std::to_string(ashlar_vulkan_subgroup(queue));
  if ((ashlar_vulkan_features(queue) & ASHLAR_VULKAN_FLOAT16) != 0)
    target += "+float16";
  else
    skip::because("families with arithmetic on f16", std::string(ashlar_vulkan_device_name(queue)) + " lacks shaderFloat16");
  check_all(Target::parse(target));
}
