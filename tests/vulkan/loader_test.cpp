// The runtime's own device, opened through a loader that fails on command and shows other devices: which memory is chosen, what
// comes from another heap, what is shared by the calls of a queue, copies in pieces, what a failure leaves behind.
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include <doctest/doctest.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "tests/skip.h"
#include "tests/vulkan/device.h"
#include "tests/vulkan/failing_loader.h"
#include "tests/vulkan/programs.h"

using namespace launches;
using vulkan::Bytes;
using vulkan::TestDevice;

namespace {

struct Loader {
#define DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  LOADER_FUNCTIONS(DECLARE)
#undef DECLARE
};

const Loader& loader() {
  static const Loader all = [] {
    Loader l;
    REQUIRE(setenv("ASHLAR_VULKAN_LIBRARY", ASHLAR_LOADER, 1) == 0);
    void* library = dlopen(ASHLAR_LOADER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE((library != nullptr));
#define FIND(name, result, parameters)                        \
  *reinterpret_cast<void**>(&l.name) = dlsym(library, #name); \
  REQUIRE((l.name != nullptr));
    LOADER_FUNCTIONS(FIND)
#undef FIND
    return l;
  }();
  return all;
}

#define NEEDS_DEVICE \
  if (!TestDevice::get()) return

struct Queue {  // on a device of the runtime's own
  Queue() { REQUIRE_MESSAGE(ashlar_vulkan_open(nullptr, &queue, &error) == ASHLAR_OK, vulkan::sentence(error)); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { ashlar_vulkan_close(queue); }
  ashlar_vulkan_buffer* buffer(std::uint64_t bytes) {
    ashlar_vulkan_buffer* b = nullptr;
    REQUIRE_MESSAGE(ashlar_vulkan_alloc(queue, bytes, &b, &error) == ASHLAR_OK, vulkan::sentence(error));
    return b;
  }
  ashlar_vulkan_queue* queue = nullptr;
  ashlar_error error = {};
};

constexpr std::uint32_t local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                        seen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                        cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT, lazy = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT,
                        uncached_amd = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;

struct Types {
  std::vector<std::uint32_t> flags, heaps;
  void show() const { loader().loader_memory(flags.data(), heaps.data(), static_cast<int>(flags.size())); }
};

// y[i] = f(i) for i < N
Builder filled(std::int64_t threads = 64) {
  Builder b("fill");
  const Expr N = b.symbol("N");
  const Id y = b.output("y", i32, {N});
  b.launch(ir::ceil_div(N, num(threads)), threads, 0, [&](const Expr& block, const Expr& thread) {
    const Expr at = b.let("at", block * threads + thread);
    b.when(ir::lt(at, N), [&] { b.store(y, at, ir::int_const(i32, 7)); });
  });
  return b;
}

std::string run(const Builder& b, ashlar_vulkan_queue* q, std::int64_t n = 8) {
  std::vector<Bytes> memory = {Bytes(static_cast<std::size_t>(n) * 4, 0xAB)};
  const std::string error = TestDevice::get()->run(b.k, memory, {{b.k.symbols.begin()->first, n}}, {}, q);
  if (error.empty()) CHECK(memory[0][static_cast<std::size_t>(n) * 4 - 4] == 7);
  return error;
}

// A module whose launches a test makes by hand: y[thread] = 7, y being the only parameter.
struct ByHand {
  ByHand() {
    Builder b("fill");
    const Id y = b.output("y", i32, {num(64)});
    b.launch(num(1), 64, 0, [&](const Expr&, const Expr& thread) { b.store(y, thread, ir::int_const(i32, 7)); });
    code = codegen::spirv::translate(b.k);
    launch.entry = code.entries[0].name.c_str(), launch.threads = 64, launch.parameter_bytes = 8;
    module.abi = 1, module.size = sizeof module, module.name = "fill";
    module.words[0] = code.words.data(), module.word_count[0] = code.words.size(), module.hash[0] = 12345;
    module.features[0] = code.features, module.launch_count = 1, module.launches = &launch;
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;
  // Fills the workspace, and says where it lay.
  std::uint64_t fill_workspace(Queue& q, std::uint64_t bytes, bool prepare = false) {
    ashlar_context context = {};
    context.size = sizeof context, context.stream = q.queue, context.error = &q.error;
    if (prepare) context.flags = ASHLAR_ABI1_PREPARE;
    ashlar_abi1_vulkan_call* call = nullptr;
    std::uint64_t workspace = 0;
    REQUIRE_MESSAGE(ashlar_abi1_vulkan_begin(&module, &context, bytes, 64, &call, &workspace) == ASHLAR_OK,
                    vulkan::sentence(q.error));
    const std::int64_t grid[3] = {1, 1, 1};
    (void)ashlar_abi1_vulkan_run(call, 0, grid, &workspace);
    REQUIRE_MESSAGE(ashlar_abi1_vulkan_end(call) == ASHLAR_OK, vulkan::sentence(q.error));
    return workspace;
  }
  codegen::spirv::Code code;
  ashlar_abi1_vulkan_launch launch = {};
  ashlar_abi1_vulkan_module module = {};
};

}  // namespace

TEST_CASE("memory is of the type that its use asks for") {
  NEEDS_DEVICE;
  struct Row {
    const char* what;
    int device;
    Types types;
    std::uint32_t of_kernels, of_uploads, of_downloads;
  };
  const Row rows[] = {
      // a discrete device: its own memory, a window on it, system memory written through and cached
      {"discrete", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, {{local | seen, seen, seen | cached, local}, {1, 0, 0, 2}}, 3, 1, 2},
      // an integrated one that lists what is not cached first: kernels get what both sides reach fast
      {"integrated",
       VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
       {{local, local | seen, local | seen | cached}, {0, 0, 0}},
       2,
       0,
       0},
      {"types with strings attached",
       VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
       {{local | lazy, local | uncached_amd, local, seen | cached | uncached_amd, seen}, {0, 0, 0, 1, 1}},
       2,
       4,
       4}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    loader().loader_reset();
    loader().loader_device_type(row.device);
    row.types.show();
    Queue q;
    ashlar_vulkan_buffer* b = q.buffer(1 << 20);
    REQUIRE(loader().loader_allocations() == 1);
    CHECK(loader().loader_allocation(0) == row.of_kernels);
    CHECK((b->mapped != nullptr) == ((row.types.flags[row.of_kernels] & seen) == seen));
    if (!b->mapped) {
      Bytes bytes(1 << 20, 5), back(1 << 20, 0);
      CHECK(ashlar_vulkan_upload(b, 0, bytes.data(), bytes.size(), &q.error) == ASHLAR_OK);
      CHECK(ashlar_vulkan_download(b, 0, back.data(), back.size(), &q.error) == ASHLAR_OK);
      CHECK(back == bytes);
      REQUIRE(loader().loader_allocations() == 3);
      CHECK(loader().loader_allocation(1) == row.of_uploads);
      CHECK(loader().loader_allocation(2) == row.of_downloads);
    }
    ashlar_vulkan_free(b);
  }
  loader().loader_reset();
}

TEST_CASE("memory that the host sees and does not cache is written directly and read through a stage") {
  NEEDS_DEVICE;
  loader().loader_reset();
  loader().loader_device_type(VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU);
  Types{{local | seen, seen | cached}, {0, 0}}.show();
  {
    Queue q;
    ashlar_vulkan_buffer* b = q.buffer(1 << 16);
    REQUIRE((b->mapped != nullptr));
    Bytes bytes(1 << 16, 5), back(1 << 16, 0);
    CHECK(ashlar_vulkan_upload(b, 0, bytes.data(), bytes.size(), &q.error) == ASHLAR_OK);
    CHECK(loader().loader_calls("vkQueueSubmit") == 0);
    CHECK(ashlar_vulkan_download(b, 0, back.data(), 100, &q.error) == ASHLAR_OK);  // not worth a submission
    CHECK(loader().loader_calls("vkQueueSubmit") == 0);
    CHECK(ashlar_vulkan_download(b, 0, back.data(), back.size(), &q.error) == ASHLAR_OK);
    CHECK(loader().loader_calls("vkQueueSubmit") == 1);
    CHECK(loader().loader_allocation(1) == 1);
    CHECK(back == bytes);
    ashlar_vulkan_free(b);
  }
  loader().loader_reset();
}

TEST_CASE("what a heap has no room for comes from another, and where none has any that is an error") {
  NEEDS_DEVICE;
  loader().loader_reset();
  loader().loader_device_type(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
  Types{{local, local | seen, seen | cached}, {0, 1, 2}}.show();
  {
    Queue q;
    loader().loader_heap_is_full(0);
    ashlar_vulkan_buffer* b = q.buffer(64);
    CHECK(loader().loader_allocation(0) == 1);
    ashlar_vulkan_free(b);
    loader().loader_heap_is_full(1);
    b = q.buffer(64);
    CHECK(loader().loader_allocation(1) == 2);
    const std::string said = run(filled(), q.queue);  // kernels run there, too
    CHECK_MESSAGE(said == "", said);
    ashlar_vulkan_free(b);
    loader().loader_heap_is_full(2);
    ashlar_vulkan_buffer* none = nullptr;
    CHECK(ashlar_vulkan_alloc(q.queue, 64, &none, &q.error) == ASHLAR_E_MEMORY);
    CHECK(vulkan::sentence(q.error) == "vulkan: vkAllocateMemory returned -2, VK_ERROR_OUT_OF_DEVICE_MEMORY");
    CHECK(none == nullptr);
  }
  CHECK(loader().loader_blocks_in_use() == 0);
  loader().loader_reset();
}

TEST_CASE("an error of vkAllocateMemory other than a full heap is told at once") {
  NEEDS_DEVICE;
  loader().loader_reset();
  {
    Queue q;
    loader().loader_fail("vkAllocateMemory", 1, VK_ERROR_TOO_MANY_OBJECTS);
    ashlar_vulkan_buffer* none = nullptr;
    CHECK(ashlar_vulkan_alloc(q.queue, 64, &none, &q.error) == ASHLAR_E_LAUNCH);
    CHECK(vulkan::sentence(q.error) == "vulkan: vkAllocateMemory returned -10, VK_ERROR_TOO_MANY_OBJECTS");
    CHECK(loader().loader_calls("vkAllocateMemory") == 1);
  }
  loader().loader_reset();
}

TEST_CASE("the calls of a queue share one workspace, which grows, and goes where it is too large to be kept") {
  NEEDS_DEVICE;
  loader().loader_reset();
  ByHand f;
  {
    Queue q;
    const std::uint64_t first = f.fill_workspace(q, 4096);
    for (int n = 0; n < 20; ++n) CHECK(f.fill_workspace(q, 4096) == first);  // more than there are command buffers
    CHECK(f.fill_workspace(q, 256) == first);
    REQUIRE(ashlar_vulkan_wait(q.queue, &q.error) == ASHLAR_OK);
    CHECK(loader().loader_blocks_in_use() == 1);
    (void)f.fill_workspace(q, 1 << 20);  // the old one stays until the calls that use it have ended
    REQUIRE(ashlar_vulkan_wait(q.queue, &q.error) == ASHLAR_OK);
    CHECK(loader().loader_blocks_in_use() == 1);
    REQUIRE(setenv("ASHLAR_WORKSPACE_MB", "2", 1) == 0);
    (void)f.fill_workspace(q, 1 << 20);
    REQUIRE(ashlar_vulkan_wait(q.queue, &q.error) == ASHLAR_OK);
    CHECK(loader().loader_blocks_in_use() == 1);
    (void)f.fill_workspace(q, 3 << 20);
    REQUIRE(ashlar_vulkan_wait(q.queue, &q.error) == ASHLAR_OK);
    CHECK(loader().loader_blocks_in_use() == 0);
    unsetenv("ASHLAR_WORKSPACE_MB");
  }
  CHECK(loader().loader_blocks_in_use() == 0);
  loader().loader_reset();
}

TEST_CASE("a workspace that has no room beside the old one takes its place") {
  NEEDS_DEVICE;
  loader().loader_reset();
  ByHand f;
  {
    Queue q;
    (void)f.fill_workspace(q, 4096);
    const int before = loader().loader_calls("vkAllocateMemory");
    loader().loader_room(1);  // for the new one, once the first call has ended
    (void)f.fill_workspace(q, 8192);
    CHECK(loader().loader_calls("vkAllocateMemory") <= before + 2);
    CHECK(loader().loader_blocks_in_use() == 1);
  }
  loader().loader_reset();
}

TEST_CASE("f_prepare makes pipelines and the workspace, and submits nothing") {
  NEEDS_DEVICE;
  loader().loader_reset();
  ByHand f;
  {
    Queue q;
    const std::uint64_t at = f.fill_workspace(q, 4096, true);
    CHECK(loader().loader_calls("vkCreateComputePipelines") == 1);
    CHECK(loader().loader_calls("vkQueueSubmit") == 0);
    CHECK(loader().loader_recordings() == 0);
    CHECK(f.fill_workspace(q, 4096) == at);
    CHECK(loader().loader_calls("vkCreateComputePipelines") == 1);
    CHECK(loader().loader_calls("vkAllocateMemory") == 1);
    CHECK(loader().loader_calls("vkQueueSubmit") == 1);
  }
  loader().loader_reset();
}

TEST_CASE("copies in pieces: uploads are not waited for and come before what follows; any size and offset arrives whole") {
  NEEDS_DEVICE;
  loader().loader_reset();
  loader().loader_device_type(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
  Types{{local, seen, seen | cached}, {0, 1, 1}}.show();
  {
    Queue q;
    constexpr std::size_t piece = 4 << 20;
    for (const std::size_t bytes : {std::size_t{1}, piece - 1, piece, piece + 1, 6 * piece + 12345}) {
      CAPTURE(bytes);
      ashlar_vulkan_buffer* b = q.buffer(bytes + 8);
      Bytes sent(bytes), back(bytes + 8, 0);
      for (std::size_t k = 0; k < bytes; ++k) sent[k] = static_cast<unsigned char>(k * 2654435761u >> 13);
      const Bytes ends(bytes + 8, 0xEE);
      CHECK(ashlar_vulkan_upload(b, 0, ends.data(), ends.size(), &q.error) == ASHLAR_OK);
      const int before = loader().loader_calls("vkQueueSubmit");
      CHECK(ashlar_vulkan_upload(b, 3, sent.data(), bytes, &q.error) == ASHLAR_OK);
      CHECK(loader().loader_calls("vkQueueSubmit") == before + static_cast<int>((bytes + piece - 1) / piece));
      Bytes expected = ends;
      std::copy(sent.begin(), sent.end(), expected.begin() + 3);
      std::fill(sent.begin(), sent.end(), 0);  // the caller's again
      CHECK(ashlar_vulkan_download(b, 0, back.data(), back.size(), &q.error) == ASHLAR_OK);
      CHECK(back == expected);
      ashlar_vulkan_free(b);
    }
    ashlar_vulkan_buffer* b = q.buffer(5 * piece);
    Bytes sent(5 * piece, 1);
    loader().loader_fail("vkQueueSubmit", 3, VK_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(ashlar_vulkan_upload(b, 0, sent.data(), sent.size(), &q.error) == ASHLAR_E_MEMORY);
    loader().loader_fail("vkQueueSubmit", 3, VK_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(ashlar_vulkan_download(b, 0, sent.data(), sent.size(), &q.error) == ASHLAR_E_MEMORY);
    CHECK(ashlar_vulkan_wait(q.queue, &q.error) == ASHLAR_OK);
    ashlar_vulkan_free(b);
  }
  CHECK(loader().loader_blocks_in_use() == 0);
  loader().loader_reset();
}

TEST_CASE("a probe that fails leaves no command buffer recording, and is tried again") {
  NEEDS_DEVICE;
  for (const char* function : {"vkCreateComputePipelines", "vkQueueSubmit", "vkAllocateMemory", "vkCreateShaderModule"}) {
    CAPTURE(function);
    loader().loader_reset();
    Queue q;
    loader().loader_fail(function, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    CHECK((ashlar_vulkan_features(q.queue) & ASHLAR_VULKAN_FMA32) == 0);
    CHECK(loader().loader_recordings() == 0);
    (void)ashlar_vulkan_features(q.queue);
    CHECK(loader().loader_recordings() == 0);
    CHECK(loader().loader_blocks_in_use() == 0);
    CHECK(run(filled(), q.queue) == "");
  }
  loader().loader_reset();
}

TEST_CASE("drivers that lack a part of Vulkan are asked for, and their extension is enabled") {
  NEEDS_DEVICE;
  for (const bool portable : {false, true}) {
    loader().loader_reset();
    loader().loader_portable(portable);
    Queue q;
    CHECK(loader().loader_instance_flags() == VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR);
    CHECK(loader().loader_enables("VK_KHR_portability_enumeration") == 1);
    CHECK(loader().loader_enables("VK_KHR_portability_subset") == portable);
    CHECK(run(filled(), q.queue) == "");
  }
  loader().loader_reset();
}

namespace {

// Whether the module that was made last asks for subnormal numbers of the width to be kept.
bool preserves(std::uint32_t bits) {
  std::uint32_t count = 0;
  const std::uint32_t* words = loader().loader_words(&count);
  for (std::uint32_t at = 5; at < count; at += words[at] >> 16)
    if ((words[at] & 0xFFFF) == 16 && words[at + 2] == 4459 && words[at + 3] == bits) return true;
  return false;
}

}  // namespace

TEST_CASE("behaviors of floats are asked for as far as the device has them, and together where they are not independent") {
  NEEDS_DEVICE;
  Builder b("sums");
  const Id x = b.input("x", f32, {num(4)}), z = b.input("z", f64, {num(4)}), y = b.output("y", f64, {num(4)});
  b.launch(num(1), 4, 0, [&](const Expr&, const Expr& thread) {
    b.store(y, thread, ir::add(ir::cast(f64, ir::add(b.at(x, thread), b.at(x, thread))), b.at(z, thread)));
  });
  struct Row {
    int independence, preserves64;
    bool keeps32, keeps64;
  };
  for (const Row& row : {Row{VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL, 1, true, true},
                         Row{VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL, 0, true, false},
                         Row{VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY, 0, true, false},
                         Row{VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE, 1, true, true},
                         Row{VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE, 0, false, false}}) {
    CAPTURE(row.independence);
    CAPTURE(row.preserves64);
    loader().loader_reset();
    loader().loader_floats(row.independence, row.preserves64);
    Queue q;
    std::vector<Bytes> memory = {Bytes(16), Bytes(32), Bytes(32)};
    CHECK(TestDevice::get()->run(b.k, memory, {}, {}, q.queue) == "");
    CHECK(preserves(32) == row.keeps32);
    CHECK(preserves(64) == row.keeps64);
  }
  loader().loader_reset();
}

TEST_CASE("grids beyond the limits along y and z are dispatched in parts, each block once") {
  NEEDS_DEVICE;
  loader().loader_reset();
  Queue q;
  for (const bool along_z : {false, true}) {
    CAPTURE(along_z);
    kernels::Maker m("count");
    const Expr N = m.symbol("N");
    const ir::Id y = m.tensor("y", i32, {N}, true);
    const vulkan::Launching l(m, "count", 1);
    const Expr block = l.block[along_z ? 2 : 1];
    m.k.body = {vulkan::launch(l, {num(1), along_z ? num(1) : N, along_z ? N : num(1)},
                               {kernels::store(y, block, ir::cast(i32, block))})};
    CHECK(codegen::spirv::translate(m.k).entries[0].folded);
    const std::int64_t n = 65535 + 70;
    std::vector<Bytes> memory = {Bytes(static_cast<std::size_t>(n) * 4, 0xAB)};
    CHECK(TestDevice::get()->run(m.k, memory, {{m.k.symbols.begin()->first, n}}, {}, q.queue) == "");
    std::int64_t wrong = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      std::int32_t v = 0;
      std::memcpy(&v, &memory[0][static_cast<std::size_t>(k) * 4], 4);
      wrong += v != k;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE(
    "threads that exchange values in a buffer while a launch runs do so under Vulkan's memory model, others do not need it") {
  NEEDS_DEVICE;
  loader().loader_reset();
  Builder b("turned");
  const Id y = b.output("y", i32, {num(64)});
  b.launch(num(1), 64, 0, [&](const Expr&, const Expr& thread) {
    b.store(y, thread, ir::cast(i32, thread));
    b.block_barrier({"y"});
    const Expr other = b.let("other", b.at(y, num(63) - thread));
    b.block_barrier({"y"});
    b.store(y, thread, other);
  });
  const codegen::spirv::Code code = codegen::spirv::translate(b.k), plain = codegen::spirv::translate(filled().k);
  const std::string text = codegen::spirv::disassemble(code.words);
  CHECK((code.features & ASHLAR_VULKAN_MEMORY_MODEL) != 0);
  CHECK((plain.features & ASHLAR_VULKAN_MEMORY_MODEL) == 0);
  CHECK(text.find("OpMemoryModel PhysicalStorageBuffer64 Vulkan") != std::string::npos);
  CHECK(text.find("Aligned|NonPrivatePointer") != std::string::npos);
  CHECK(codegen::spirv::disassemble(plain.words).find("OpMemoryModel PhysicalStorageBuffer64 GLSL450") != std::string::npos);
  // AcquireRelease, UniformMemory, WorkgroupMemory, MakeAvailable, MakeVisible
  CHECK(text.find("OpConstant %uint 24904") != std::string::npos);
  Bytes expected(256);
  for (std::int32_t k = 0; k < 64; ++k) {
    const std::int32_t v = 63 - k;
    std::memcpy(&expected[static_cast<std::size_t>(k) * 4], &v, 4);
  }
  const Queue own;
  for (ashlar_vulkan_queue* const queue : {TestDevice::get()->queue(), own.queue}) {
    std::vector<Bytes> memory = {Bytes(256)};
    CHECK(TestDevice::get()->run(b.k, memory, {}, {}, queue) == "");
    CHECK(memory[0] == expected);
  }
  CHECK_MESSAGE(TestDevice::get()->messages().empty(), TestDevice::get()->said());

  ashlar_vulkan_given given = TestDevice::get()->given();
  given.features &= ~static_cast<std::uint32_t>(ASHLAR_VULKAN_MEMORY_MODEL);
  ashlar_vulkan_queue* without = nullptr;
  ashlar_error error = {};
  REQUIRE(ashlar_vulkan_open(&given, &without, &error) == ASHLAR_OK);
  std::vector<Bytes> memory = {Bytes(256)};
  const std::string said = TestDevice::get()->run(b.k, memory, {}, {}, without);
  CHECK_MESSAGE(said.find("lacks the memory model of Vulkan (vulkanMemoryModel)") != std::string::npos, said);
  ashlar_vulkan_close(without);
}
