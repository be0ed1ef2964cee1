// The same library on buffers of a Vulkan device: the device's variant runs; where it cannot, the processor's may, on buffers
// that are mapped.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <which.h>

#include "tests/library/processor.h"
#include "tests/support/text_parts.h"
#include "tests/vulkan/device.h"

using vulkan::TestDevice;

namespace {

#define NEEDS_DEVICE \
  if (!TestDevice::get()) return

using text_parts::has;

struct Queue {
  ashlar_vulkan_queue* queue = nullptr;
  explicit Queue(const ashlar_vulkan_given* given) {
    ashlar_error error = {};
    REQUIRE_MESSAGE(ashlar_vulkan_open(given, &queue, &error) == ASHLAR_OK, vulkan::sentence(error));
  }
  ~Queue() { ashlar_vulkan_close(queue); }
};

struct Buffer {
  ashlar_vulkan_buffer* buffer = nullptr;
  Buffer(ashlar_vulkan_queue* queue, const std::vector<std::int32_t>& values) {
    ashlar_error error = {};
    REQUIRE(ashlar_vulkan_alloc(queue, values.size() * 4, &buffer, &error) == ASHLAR_OK);
    REQUIRE(ashlar_vulkan_upload(buffer, 0, values.data(), values.size() * 4, &error) == ASHLAR_OK);
  }
  ~Buffer() { ashlar_vulkan_free(buffer); }
};

struct Call {
  Call(ashlar_vulkan_queue* q, std::int64_t rows = 3)
      : shape{rows, 70},
        untouched(static_cast<std::size_t>(rows * 70), -1),
        x(q, std::vector<std::int32_t>(untouched.size(), 5)),
        y(q, untouched) {
    X.data = x.buffer, X.device_type = 7, X.ndim = 2, X.type_bits = 32, X.type_lanes = 1, X.shape = shape;
    Y = X, Y.data = y.buffer;
    ctx.size = sizeof ctx, ctx.error = &error;
  }
  int run(std::uint32_t flags) {
    error = {};
    ctx.flags = flags;
    return which_with(&X, &Y, &ctx);
  }
  std::string sentence() const { return vulkan::sentence(error); }
  bool filled_with(std::int32_t value) const {
    std::vector<std::int32_t> found(untouched.size());
    ashlar_error ignored = {};
    REQUIRE(ashlar_vulkan_download(y.buffer, 0, found.data(), found.size() * 4, &ignored) == ASHLAR_OK);
    return std::all_of(found.begin(), found.end(), [&](std::int32_t v) { return v == value; });
  }
  bool by_processor() const { return filled_with(10 + library::best()); }
  std::int64_t shape[2];
  std::vector<std::int32_t> untouched;
  Buffer x, y;
  ashlar_tensor X{}, Y{};
  ashlar_error error{};
  ashlar_context ctx{};
};

void falls_back(Call& c, int code, const std::string& part) {
  CHECK(c.run(0) == code);
  CHECK_MESSAGE(has(c.sentence(), part), c.sentence());
  CHECK(c.filled_with(-1));
  CHECK_MESSAGE(c.run(ASHLAR_OR_CPU) == ASHLAR_OK, c.sentence());
  CHECK(c.by_processor());
  CHECK(c.error.code == code);
  CHECK(has(c.sentence(), part));
}

PFN_vkGetInstanceProcAddr real_instance = nullptr;
PFN_vkGetDeviceProcAddr real_device = nullptr;

VkResult VKAPI_PTR lost_submit(VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence) { return VK_ERROR_DEVICE_LOST; }
PFN_vkVoidFunction VKAPI_PTR device_proc(VkDevice device, const char* name) {
  return std::strcmp(name, "vkQueueSubmit") == 0 ? reinterpret_cast<PFN_vkVoidFunction>(lost_submit)
                                                 : real_device(device, name);
}
PFN_vkVoidFunction VKAPI_PTR instance_proc(VkInstance instance, const char* name) {
  return std::strcmp(name, "vkGetDeviceProcAddr") == 0 ? reinterpret_cast<PFN_vkVoidFunction>(device_proc)
                                                       : real_instance(instance, name);
}

// Buffers that the caller made around memory of his own, which the runtime's own device would compute on.
struct Foreign {
  std::vector<std::int32_t> x = std::vector<std::int32_t>(210, 5), y = std::vector<std::int32_t>(210, -1);
  ashlar_vulkan_buffer bx = {256, 840, nullptr, 0, 0, x.data()}, by = {4096, 840, nullptr, 0, 0, y.data()};
  std::int64_t shape[2] = {3, 70};
  ashlar_tensor X{}, Y{};
  ashlar_error error{};
  int run(std::uint32_t flags) {
    X.data = &bx, X.device_type = 7, X.ndim = 2, X.type_bits = 32, X.type_lanes = 1, X.shape = shape;
    Y = X, Y.data = &by;
    ashlar_context ctx = {};
    ctx.size = sizeof ctx, ctx.error = &error, ctx.flags = flags;
    return which_with(&X, &Y, &ctx);
  }
  bool filled_with(std::int32_t value) const {
    return std::all_of(y.begin(), y.end(), [&](std::int32_t v) { return v == value; });
  }
};

void without_a_device(const std::string& part) {
  Foreign f;
  CHECK(f.run(0) == ASHLAR_E_DEVICE);
  CHECK_MESSAGE(has(vulkan::sentence(f.error), part), vulkan::sentence(f.error));
  CHECK(f.filled_with(-1));
  CHECK(f.run(ASHLAR_OR_CPU) == ASHLAR_OK);
  CHECK(f.filled_with(10 + library::best()));
  CHECK(has(vulkan::sentence(f.error), part));
  f.by.mapped = nullptr;
  CHECK(f.run(ASHLAR_OR_CPU) == ASHLAR_E_DEVICE);
  CHECK_MESSAGE(has(vulkan::sentence(f.error), part), vulkan::sentence(f.error));
}

}  // namespace

TEST_CASE("no loader, and a loader without a driver") {
  REQUIRE(setenv("ASHLAR_VULKAN_LIBRARY", "none.so", 1) == 0);
  without_a_device("none.so cannot be opened: no Vulkan loader is here");
  unsetenv("ASHLAR_VULKAN_LIBRARY");
  NEEDS_DEVICE;  // a loader is here
  REQUIRE(setenv("ASHLAR_VULKAN_DEVICE", "15", 1) == 0);
  without_a_device("ASHLAR_VULKAN_DEVICE names a device that is not among");
  unsetenv("ASHLAR_VULKAN_DEVICE");
}

TEST_CASE("buffers of a device call its variant, on tensors and on addresses") {
  NEEDS_DEVICE;
  const Queue q(&TestDevice::get()->given());
  for (const std::uint32_t flags : {0, static_cast<int>(ASHLAR_OR_CPU)}) {
    Call c(q.queue);
    REQUIRE_MESSAGE(c.run(flags) == ASHLAR_OK, c.sentence());
    CHECK(c.filled_with(17));
    CHECK(c.error.code == 0);
  }
  Call p(q.queue);
  p.ctx.flags = ASHLAR_ON_VULKAN, p.ctx.stream = q.queue;
  const which_args args = {reinterpret_cast<const std::int32_t*>(p.x.buffer->address),
                           reinterpret_cast<std::int32_t*>(p.y.buffer->address),
                           3,
                           70,
                           0,
                           0};
  REQUIRE_MESSAGE(which_run(&args, &p.ctx) == ASHLAR_OK, p.sentence());
  REQUIRE(ashlar_vulkan_wait(q.queue, &p.error) == ASHLAR_OK);
  CHECK(p.filled_with(17));
  CHECK_MESSAGE(TestDevice::get()->messages().empty(), TestDevice::get()->said());
}

TEST_CASE("a device that lacks a feature, on buffers that the processor can reach and on others") {
  NEEDS_DEVICE;
  ashlar_vulkan_given given = TestDevice::get()->given();
  given.features &= ~static_cast<std::uint32_t>(ASHLAR_VULKAN_INT64);
  {
    const Queue q(&given);
    Call c(q.queue);
    falls_back(c, ASHLAR_E_TARGET, "lacks 64-bit integers (shaderInt64)");
  }
  setenv("ASHLAR_VULKAN_STAGING", "1", 1);
  {
    const Queue q(&given);
    unsetenv("ASHLAR_VULKAN_STAGING");
    Call c(q.queue);
    CHECK(c.run(ASHLAR_OR_CPU) == ASHLAR_E_TARGET);
    CHECK(c.filled_with(-1));
  }
  CHECK_MESSAGE(TestDevice::get()->messages().empty(), TestDevice::get()->said());
}

TEST_CASE("a grid past the device's limit along y is dispatched in parts") {
  NEEDS_DEVICE;
  const Queue q(&TestDevice::get()->given());
  Call c(q.queue, 70000);
  REQUIRE_MESSAGE(c.run(0) == ASHLAR_OK, c.sentence());
  CHECK(c.filled_with(17));
}

TEST_CASE("a lost device loses its memory: a code and a sentence, with the permission too") {
  NEEDS_DEVICE;
  ashlar_vulkan_given given = TestDevice::get()->given();
  real_instance = reinterpret_cast<PFN_vkGetInstanceProcAddr>(given.get_instance_proc_addr);
  real_device =
      reinterpret_cast<PFN_vkGetDeviceProcAddr>(real_instance(static_cast<VkInstance>(given.instance), "vkGetDeviceProcAddr"));
  given.get_instance_proc_addr = reinterpret_cast<void*>(instance_proc);
  const Queue q(&given);
  Call c(q.queue);
  for (const std::uint32_t flags : {0, static_cast<int>(ASHLAR_OR_CPU), static_cast<int>(ASHLAR_OR_CPU)}) {
    CAPTURE(flags);
    CHECK(c.run(flags) == ASHLAR_E_LAUNCH);
    CHECK(c.error.found == VK_ERROR_DEVICE_LOST);
    CHECK_MESSAGE(has(c.sentence(), "VK_ERROR_DEVICE_LOST"), c.sentence());
    const auto* y = static_cast<const std::int32_t*>(c.y.buffer->mapped);
    if (y) CHECK(std::all_of(y, y + 210, [](std::int32_t v) { return v == -1; }));
  }
  TestDevice::get()->forget();
}
