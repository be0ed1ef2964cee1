// What can go wrong between a kernel and a device: a code and a sentence each time, and nothing written.
#include <cstdlib>
#include <cstring>

#include <doctest/doctest.h>

#include <ashlar/ir/refusal.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "tests/support/text_parts.h"
#include "tests/vulkan/device.h"
#include "tests/vulkan/programs.h"

using namespace launches;
using vulkan::Bytes;
using vulkan::TestDevice;

namespace {

#define NEEDS_DEVICE \
  if (!TestDevice::get()) return

std::string refusal(const ir::Kernel& k) {
  try {
    (void)codegen::spirv::translate(k);
  } catch (const RefusalError& e) { return e.what(); }
  return "";
}

using text_parts::has;

// y[i] = 7 for i < N
Builder fill(std::int64_t threads = 64, std::int64_t shared = 0) {
  Builder b("fill");
  const Expr N = b.symbol("N");
  const Id y = b.output("y", i32, {N});
  const Id tile = shared ? b.shared("tile", i32, shared, 0) : 0;
  b.launch(ir::ceil_div(N, num(threads)), threads, shared * 4, [&](const Expr& block, const Expr& thread) {
    const Expr at = b.let("at", block * threads + thread);
    if (shared) {
      b.store(tile, thread, ir::int_const(i32, 7));
      b.block_barrier({});
    }
    const Expr seven = shared ? b.at(tile, thread) : ir::int_const(i32, 7);
    b.when(ir::lt(at, N), [&] { b.store(y, at, seven); });
  });
  return b;
}

std::string run_fill(const Builder& b, std::int64_t n, Bytes* result = nullptr, ashlar_vulkan_queue* queue = nullptr) {
  std::vector<Bytes> memory = {Bytes(static_cast<std::size_t>(n) * 4, 0xAB)};
  const std::string error = TestDevice::get()->run(b.k, memory, {{b.k.symbols.begin()->first, n}}, {}, queue);
  if (result) *result = memory[0];
  return error;
}

}  // namespace

TEST_CASE("what SPIR-V cannot say is refused by name") {
  Builder named("named");
  const Id y = named.output("y", i32, {num(64)});
  named.launch(num(1), 64, 0, [&](const Expr&, const Expr& thread) {
    named.named({}, num(1), 64);
    named.store(y, thread, ir::int_const(i32, 1));
  });
  CHECK(has(refusal(named.k), "a named barrier in kernel `named`"));

  Builder ring("ring");
  const Id full = ring.barriers("full", 2, 0);
  ring.launch(num(1), 64, 16, [&](const Expr&, const Expr&) { ring.init(full, num(0), 1); });
  CHECK(has(refusal(ring.k), "an mbarrier in kernel `ring`"));

  Builder product("product");
  const Id d = product.registers("d", f32, 4), a = product.registers("a", f16, 8), w = product.registers("w", f16, 4);
  const ir::Intrinsic& mma = product.intrinsic(ir::mma_m16n8k16(f16));
  product.launch(num(1), 32, 0, [&](const Expr&, const Expr&) { product.call(mma, {{d, num(0)}, {a, num(0)}, {w, num(0)}}); });
  CHECK(has(refusal(product.k), "`mma_m16n8k16_f16` in kernel `product`"));

  CHECK(has(refusal(fill(2048).k), "a block of 1 to 1024 threads, found 2048"));
}

TEST_CASE("a VUID would be seen") {
  NEEDS_DEVICE;
  // a buffer without any usage: VUID-VkBufferCreateInfo-usage-requiredbitmask
  const ashlar_vulkan_given& g = TestDevice::get()->given();
  const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(g.get_instance_proc_addr);
  const auto of_device =
      reinterpret_cast<PFN_vkGetDeviceProcAddr>(get(static_cast<VkInstance>(g.instance), "vkGetDeviceProcAddr"));
  const auto device = static_cast<VkDevice>(g.device);
  const auto create = reinterpret_cast<PFN_vkCreateBuffer>(of_device(device, "vkCreateBuffer"));
  const auto destroy = reinterpret_cast<PFN_vkDestroyBuffer>(of_device(device, "vkDestroyBuffer"));
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = 16;
  VkBuffer buffer = {};
  TestDevice::get()->forget();
  (void)create(device, &info, nullptr, &buffer);
  REQUIRE(!TestDevice::get()->messages().empty());
  CHECK(has(TestDevice::get()->messages()[0], "VUID-VkBufferCreateInfo-usage"));
  if (buffer) destroy(device, buffer, nullptr);
  TestDevice::get()->forget();
}

TEST_CASE("limits of the device are checked before anything runs") {
  NEEDS_DEVICE;
  Bytes result;
  const std::string error = run_fill(fill(64, 1 << 20), 8, &result);
  CHECK(has(error, "fill: a block of launch `fill` takes 4194304 bytes of shared memory"));
  CHECK(result == Bytes(32, 0xAB));
  CHECK(TestDevice::get()->messages().empty());
}

TEST_CASE("a grid past the limit along x is dispatched in parts") {
  NEEDS_DEVICE;
  Bytes result;
  const std::int64_t n = 70001;  // one thread a block; Mesa's driver has 65535 blocks
  CHECK(run_fill(fill(1), n, &result) == "");
  Bytes wanted(static_cast<std::size_t>(n) * 4, 0);
  for (std::size_t k = 0; k < wanted.size(); k += 4) wanted[k] = 7;
  CHECK(result == wanted);
  CHECK(run_fill(fill(1), 0) == "");
  CHECK(TestDevice::get()->messages().empty());
}

TEST_CASE("parameters that do not fit the push constants lie in memory") {
  NEEDS_DEVICE;
  Builder b("many");
  std::vector<Id> ids;
  for (int k = 0; k < 20; ++k) ids.push_back(b.input("in" + std::to_string(k), i32, {num(4)}));
  const Id out = b.output("out", i32, {num(4)});
  b.launch(num(1), 4, 0, [&](const Expr&, const Expr& thread) {
    Expr sum = b.at(ids[0], thread);
    for (std::size_t k = 1; k < ids.size(); ++k) sum = ir::add(sum, b.at(ids[k], thread));
    b.store(out, thread, sum);
  });
  CHECK(codegen::spirv::translate(b.k).entries[0].parameters_in_memory);
  std::vector<Bytes> memory;
  for (int k = 0; k < 20; ++k) {
    memory.emplace_back(16, 0);
    memory.back()[4] = static_cast<unsigned char>(k);
  }
  memory.emplace_back(16, 0xAB);
  CHECK(TestDevice::get()->run(b.k, memory) == "");
  CHECK(memory.back() == Bytes{0, 0, 0, 0, 190, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(TestDevice::get()->messages().empty());
}

// ---- a driver that is watched, and that gives its device up -------------------------------------------------------------
namespace {

// The device's own functions, and what is said in their place: results other than success, after the real one where there is
// one.
struct Watched {
  PFN_vkGetInstanceProcAddr instance = nullptr;
  PFN_vkGetDeviceProcAddr device = nullptr;
  PFN_vkQueueSubmit submit = nullptr;
  PFN_vkWaitForFences wait = nullptr;
  PFN_vkGetFenceStatus status = nullptr;
  PFN_vkCreateComputePipelines pipelines = nullptr;
  PFN_vkCreatePipelineCache cache = nullptr;
  PFN_vkMergePipelineCaches merge = nullptr;
  VkResult submitted = VK_SUCCESS, waited = VK_SUCCESS, found = VK_SUCCESS;
  int submissions = 0, merged_into_own = 0;
  VkPipelineCache own = VK_NULL_HANDLE;       // the first that was made
  std::vector<VkPipelineCache> of_pipelines;  // with which each was made
  Bytes loaded;                               // what a cache was made of
} watched;

VkResult VKAPI_PTR watched_submit(VkQueue queue, std::uint32_t n, const VkSubmitInfo* info, VkFence fence) {
  ++watched.submissions;
  return watched.submitted == VK_SUCCESS ? watched.submit(queue, n, info, fence) : watched.submitted;
}
VkResult VKAPI_PTR watched_wait(VkDevice d, std::uint32_t n, const VkFence* fences, VkBool32 all, std::uint64_t nanoseconds) {
  const VkResult r = watched.wait(d, n, fences, all, nanoseconds);
  return watched.waited == VK_SUCCESS ? r : watched.waited;
}
VkResult VKAPI_PTR watched_status(VkDevice d, VkFence fence) {
  const VkResult r = watched.status(d, fence);
  return watched.found == VK_SUCCESS ? r : watched.found;
}
VkResult VKAPI_PTR watched_pipelines(VkDevice d, VkPipelineCache cache, std::uint32_t n,
                                     const VkComputePipelineCreateInfo* info, const VkAllocationCallbacks* a,
                                     VkPipeline* made) {
  watched.of_pipelines.push_back(cache);
  return watched.pipelines(d, cache, n, info, a, made);
}
VkResult VKAPI_PTR watched_cache(VkDevice d, const VkPipelineCacheCreateInfo* info, const VkAllocationCallbacks* a,
                                 VkPipelineCache* made) {
  const auto* data = static_cast<const unsigned char*>(info->pInitialData);
  if (info->initialDataSize) watched.loaded.assign(data, data + info->initialDataSize);
  const VkResult r = watched.cache(d, info, a, made);
  if (watched.own == VK_NULL_HANDLE) watched.own = *made;
  return r;
}
VkResult VKAPI_PTR watched_merge(VkDevice d, VkPipelineCache into, std::uint32_t n, const VkPipelineCache* from) {
  watched.merged_into_own += into == watched.own;
  return watched.merge(d, into, n, from);
}

PFN_vkVoidFunction VKAPI_PTR device_proc(VkDevice device, const char* name) {
  const PFN_vkVoidFunction real = watched.device(device, name);
  const auto instead = [&]<class F>(const char* known, F& kept, F ours) {
    if (std::strcmp(name, known) != 0) return false;
    kept = reinterpret_cast<F>(real);
    return ours != nullptr;
  };
#define WATCH(function, kept, ours) \
  if (instead(function, watched.kept, &ours)) return reinterpret_cast<PFN_vkVoidFunction>(ours)
  WATCH("vkQueueSubmit", submit, watched_submit);
  WATCH("vkWaitForFences", wait, watched_wait);
  WATCH("vkGetFenceStatus", status, watched_status);
  WATCH("vkCreateComputePipelines", pipelines, watched_pipelines);
  WATCH("vkCreatePipelineCache", cache, watched_cache);
  WATCH("vkMergePipelineCaches", merge, watched_merge);
#undef WATCH
  return real;
}

PFN_vkVoidFunction VKAPI_PTR instance_proc(VkInstance instance, const char* name) {
  return std::strcmp(name, "vkGetDeviceProcAddr") == 0 ? reinterpret_cast<PFN_vkVoidFunction>(device_proc)
                                                       : watched.instance(instance, name);
}

ashlar_vulkan_queue* watched_queue() {
  ashlar_vulkan_given given = TestDevice::get()->given();
  watched = {};
  watched.instance = reinterpret_cast<PFN_vkGetInstanceProcAddr>(given.get_instance_proc_addr);
  watched.device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
      watched.instance(static_cast<VkInstance>(given.instance), "vkGetDeviceProcAddr"));
  given.get_instance_proc_addr = reinterpret_cast<void*>(instance_proc);
  ashlar_vulkan_queue* queue = nullptr;
  ashlar_error error = {};
  REQUIRE_MESSAGE(ashlar_vulkan_open(&given, &queue, &error) == ASHLAR_OK, vulkan::sentence(error));
  watched.submissions = 0, watched.of_pipelines.clear();  // the runtime's probe
  return queue;
}

}  // namespace

TEST_CASE("a lost device is a code with the driver's, now and in later calls") {
  NEEDS_DEVICE;
  ashlar_vulkan_queue* queue = watched_queue();
  ashlar_error error = {};
  watched.submitted = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  CHECK(has(run_fill(fill(), 8, nullptr, queue), "fill: vkQueueSubmit returned -2, VK_ERROR_OUT_OF_DEVICE_MEMORY"));
  watched.submitted = VK_ERROR_DEVICE_LOST;
  CHECK(has(run_fill(fill(), 8, nullptr, queue), "fill: vkQueueSubmit returned -4, VK_ERROR_DEVICE_LOST"));
  CHECK(has(run_fill(fill(), 8, nullptr, queue), "the device is lost: an earlier call returned -4, VK_ERROR_DEVICE_LOST"));
  CHECK(ashlar_vulkan_wait(queue, &error) == ASHLAR_E_LAUNCH);
  CHECK(vulkan::sentence(error) == "vulkan: the device is lost: an earlier call returned -4, VK_ERROR_DEVICE_LOST");
  CHECK(error.found == VK_ERROR_DEVICE_LOST);
  ashlar_vulkan_close(queue);
  TestDevice::get()->forget();
}

TEST_CASE("a device that is lost while the host waits, or when a later call asks") {
  NEEDS_DEVICE;
  ashlar_error error = {};
  ashlar_vulkan_queue* queue = watched_queue();
  watched.waited = VK_ERROR_DEVICE_LOST;
  CHECK(has(run_fill(fill(), 8, nullptr, queue), "vkWaitForFences returned -4, VK_ERROR_DEVICE_LOST"));
  watched.waited = VK_SUCCESS;
  CHECK(has(run_fill(fill(), 8, nullptr, queue), "the device is lost: an earlier call returned -4, VK_ERROR_DEVICE_LOST"));
  CHECK(ashlar_vulkan_wait(queue, &error) == ASHLAR_E_LAUNCH);
  CHECK(vulkan::sentence(error) == "vulkan: the device is lost: an earlier call returned -4, VK_ERROR_DEVICE_LOST");
  ashlar_vulkan_close(queue);

  queue = watched_queue();
  watched.waited = VK_ERROR_OUT_OF_HOST_MEMORY;  // the call before stays unfinished, so the next one asks after it
  CHECK(has(run_fill(fill(), 8, nullptr, queue), "vkWaitForFences returned -1, VK_ERROR_OUT_OF_HOST_MEMORY"));
  watched.waited = VK_SUCCESS, watched.found = VK_ERROR_DEVICE_LOST;  // nothing is copied below, which would wait
  CHECK(has(run_fill(fill(), 0, nullptr, queue), "fill: vkGetFenceStatus returned -4, VK_ERROR_DEVICE_LOST"));
  watched.found = VK_SUCCESS;
  CHECK(has(run_fill(fill(), 0, nullptr, queue), "the device is lost: an earlier call returned -4, VK_ERROR_DEVICE_LOST"));
  ashlar_vulkan_close(queue);
  TestDevice::get()->forget();
}

TEST_CASE("a call is one submission, however many launches it has") {
  NEEDS_DEVICE;
  ashlar_vulkan_queue* queue = watched_queue();
  Builder b("thrice");
  const Id y = b.output("y", i32, {num(64)});
  for (int n = 1; n <= 3; ++n)
    b.launch(num(1), 64, 0, [&](const Expr&, const Expr& thread) { b.store(y, thread, ir::int_const(i32, n)); });
  std::vector<Bytes> memory = {Bytes(256)};
  ashlar_error error = {};
  ashlar_vulkan_buffer* probe = nullptr;
  REQUIRE(ashlar_vulkan_alloc(queue, 4, &probe, &error) == ASHLAR_OK);
  const int copies = probe->mapped ? 0 : 2;  // what is written by the host directly needs no submission
  ashlar_vulkan_free(probe);
  for (int call = 0; call < 2; ++call) {
    watched.submissions = 0;
    REQUIRE(TestDevice::get()->run(b.k, memory, {}, {}, queue) == "");
    CHECK(watched.submissions == 1 + copies);
  }
  CHECK(memory[0][0] == 3);
  ashlar_vulkan_close(queue);
  CHECK_MESSAGE(TestDevice::get()->messages().empty(), TestDevice::get()->said());
}

TEST_CASE("pipelines are made with the queue's cache, which what is loaded is merged into") {
  NEEDS_DEVICE;
  ashlar_error error = {};
  Bytes saved;
  for (const bool load : {false, true}) {
    ashlar_vulkan_queue* queue = watched_queue();
    REQUIRE(watched.own != VK_NULL_HANDLE);
    if (load) {
      CHECK(ashlar_vulkan_cache_load(queue, saved.data(), saved.size(), &error) == ASHLAR_OK);
      CHECK(watched.loaded == saved);
      CHECK(watched.merged_into_own == 1);
    }
    CHECK(run_fill(fill(), 8, nullptr, queue) == "");
    CHECK(watched.of_pipelines == std::vector<VkPipelineCache>{watched.own});
    CHECK(run_fill(fill(), 8, nullptr, queue) == "");
    std::size_t bytes = 0;
    REQUIRE(ashlar_vulkan_cache_save(queue, nullptr, &bytes, &error) == ASHLAR_OK);
    saved.resize(bytes);
    REQUIRE(ashlar_vulkan_cache_save(queue, saved.data(), &bytes, &error) == ASHLAR_OK);
    ashlar_vulkan_close(queue);
  }
  CHECK_MESSAGE(TestDevice::get()->messages().empty(), TestDevice::get()->said());
}

TEST_CASE("a device without a feature is told by its name and the feature's") {
  NEEDS_DEVICE;
  ashlar_vulkan_given given = TestDevice::get()->given();
  given.features &= ~static_cast<std::uint32_t>(ASHLAR_VULKAN_FLOAT64);
  ashlar_vulkan_queue* queue = nullptr;
  ashlar_error error = {};
  REQUIRE(ashlar_vulkan_open(&given, &queue, &error) == ASHLAR_OK);
  Builder b("doubles");
  const Id y = b.output("y", f64, {num(4)});
  b.launch(num(1), 4, 0, [&](const Expr&, const Expr& thread) { b.store(y, thread, ir::float_const(f64, 1)); });
  std::vector<Bytes> memory = {Bytes(32)};
  CHECK(has(TestDevice::get()->run(b.k, memory, {}, {}, queue), "lacks f64 (shaderFloat64)"));
  ashlar_vulkan_close(queue);
  given.features &= ~static_cast<std::uint32_t>(ASHLAR_VULKAN_FLOAT16);
  REQUIRE(ashlar_vulkan_open(&given, &queue, &error) == ASHLAR_OK);
  Builder h("halves");
  const Id z = h.output("z", f16, {num(4)});
  h.launch(num(1), 4, 0, [&](const Expr&, const Expr& thread) { h.store(z, thread, h.at(z, thread) + h.at(z, thread)); });
  memory = {Bytes(8)};
  CHECK(has(TestDevice::get()->run(h.k, memory, {}, {.float16 = true}, queue), "lacks arithmetic on f16"));
  CHECK(TestDevice::get()->run(h.k, memory, {}, {}, queue) == "");
  ashlar_vulkan_close(queue);
  given.features = 0;
  CHECK(ashlar_vulkan_open(&given, &queue, &error) == ASHLAR_E_TARGET);
  CHECK(has(vulkan::sentence(error), "lacks bufferDeviceAddress"));
  given.device = nullptr;
  CHECK(ashlar_vulkan_open(&given, &queue, &error) == ASHLAR_E_NULL);
  CHECK(vulkan::sentence(error) == "vulkan: the device that was given is NULL");
  given.size = 4;
  CHECK(ashlar_vulkan_open(&given, &queue, &error) == ASHLAR_E_ABI);
  CHECK(vulkan::sentence(error) == "vulkan: the size of the ashlar_vulkan_given is 4, expected at least 56");
}

TEST_CASE("no loader and no driver are errors, not aborts") {
  ashlar_vulkan_queue* queue = nullptr;
  ashlar_error error = {};
  setenv("ASHLAR_VULKAN_LIBRARY", "libvulkan-that-is-not-here.so", 1);
  CHECK(ashlar_vulkan_open(nullptr, &queue, &error) == ASHLAR_E_DEVICE);
  CHECK(queue == nullptr);
  CHECK(has(vulkan::sentence(error), "libvulkan-that-is-not-here.so cannot be opened"));
  unsetenv("ASHLAR_VULKAN_LIBRARY");
  NEEDS_DEVICE;
  setenv("ASHLAR_VULKAN_DEVICE", "15", 1);
  CHECK(ashlar_vulkan_open(nullptr, &queue, &error) == ASHLAR_E_DEVICE);
  CHECK(has(vulkan::sentence(error), "ASHLAR_VULKAN_DEVICE names a device that is not among"));
  unsetenv("ASHLAR_VULKAN_DEVICE");
}

TEST_CASE("buffers: copies inside them, through a stage too; a pipeline cache that travels") {
  NEEDS_DEVICE;
  for (const bool staged : {false, true}) {
    if (staged) setenv("ASHLAR_VULKAN_STAGING", "1", 1);
    ashlar_vulkan_queue* queue = nullptr;
    ashlar_error error = {};
    REQUIRE(ashlar_vulkan_open(nullptr, &queue, &error) == ASHLAR_OK);  // one of the runtime's own
    unsetenv("ASHLAR_VULKAN_STAGING");
    ashlar_vulkan_buffer* b = nullptr;
    REQUIRE(ashlar_vulkan_alloc(queue, 100, &b, &error) == ASHLAR_OK);
    CHECK((b->mapped == nullptr) == staged);
    Bytes out(100, 3), in(100, 0);
    out[99] = 9;
    CHECK(ashlar_vulkan_upload(b, 0, out.data(), 100, &error) == ASHLAR_OK);
    CHECK(ashlar_vulkan_download(b, 40, in.data(), 60, &error) == ASHLAR_OK);
    CHECK(in[59] == 9);
    CHECK(ashlar_vulkan_download(b, 41, in.data(), 60, &error) == ASHLAR_E_MEMORY);
    CHECK(vulkan::sentence(error) == "vulkan: a copy of 60 bytes where the buffer has 59");
    CHECK(error.found == 59);
    ashlar_vulkan_free(b);
    Bytes result;
    CHECK(run_fill(fill(), 8, &result, queue) == "");
    CHECK(result[28] == 7);
    std::size_t bytes = 0;
    REQUIRE(ashlar_vulkan_cache_save(queue, nullptr, &bytes, &error) == ASHLAR_OK);
    Bytes cache(bytes);
    REQUIRE(ashlar_vulkan_cache_save(queue, cache.data(), &bytes, &error) == ASHLAR_OK);
    CHECK(ashlar_vulkan_cache_load(queue, cache.data(), bytes, &error) == ASHLAR_OK);
    ashlar_vulkan_close(queue);
  }
}
