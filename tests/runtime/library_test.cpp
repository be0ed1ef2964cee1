// Libraries for several targets: which variant runs, and when the processor's runs in the place of a device's. The variants
// here are written by hand: each leaves its number in y, and fails as it is told to.
#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

#include <ashlar/runtime/cpu.h>
#include <ashlar/runtime/vulkan.h>

#include "kernels.h"

using namespace kernels;

namespace {

struct Args {
  std::int32_t* y;
  std::int64_t N;
};

int device_fails_with = 0, ran = 0, settled = 0, settling_fails_with = 0;  // for every variant of a device
const void *seen_workspace = nullptr, *seen_stream = nullptr;

template <int Number>
int run(const void* args, const ashlar_context* ctx) {
  const Args& a = *static_cast<const Args*>(args);
  ran = ran * 10 + Number;
  if (ctx) seen_workspace = ctx->workspace, seen_stream = ctx->stream;
  constexpr bool on_device = Number >= 5;
  // 5 and 6 are CUDA devices; a code of 1000 is the first one's refusal alone
  const int code = !on_device ? 0 : device_fails_with == 1000 ? (Number == 5 ? ASHLAR_E_TARGET : 0) : device_fails_with;
  if (code != 0) {
    if (ctx && ctx->error) *ctx->error = {code, -1, -1, 0, 0, "g: the device cannot"};
    return code;
  }
  if (!on_device) a.y[0] = Number;
  return ASHLAR_OK;
}

template <int Number>
std::size_t bytes(const void*, const ashlar_context*) {
  return Number * 100;
}

int settle(void* stream, ashlar_error* error, const char* who) {
  ++settled;
  seen_stream = stream;
  CHECK(std::string(who) == "g");
  if (settling_fails_with != 0) *error = {settling_fails_with, -1, -1, 0, 0, "g: lost"};
  return settling_fails_with;
}

const ashlar_abi1_term terms[] = {{1, 0}};
const ashlar_abi1_dim dims[] = {{"N", 0, terms, 1, -1}};
const ashlar_abi1_argument arguments[] = {
    {"y", dims, nullptr, 0, ASHLAR_ABI1_OUTPUT, 1, ASHLAR_ABI1_DENSE, 0, offsetof(Args, y), 0, 0, 32, {}}};
const ashlar_abi1_symbol symbols[] = {{"N", 0, INT64_MAX, 1, offsetof(Args, N), 0}};

template <int Number>
const ashlar_abi1_desc* desc(std::int32_t device_type, std::uint64_t features) {
  static ashlar_abi1_desc d;
  d = {1,       sizeof d, "g",     device_type,    0,  features,     1,      1, 0, 0, sizeof(Args), arguments, symbols,
       nullptr, nullptr,  nullptr, &bytes<Number>, 64, &run<Number>, nullptr};
  return &d;
}

template <int Number>
ashlar_abi1_variant variant(const char* target, std::int32_t device_type, std::uint64_t features) {
  return {target, desc<Number>(device_type, features), &run<Number>, &bytes<Number>, device_type == 1 ? nullptr : &settle};
}

// Numbers: 1 .. 4 are processors, 5 and 6 CUDA devices, 7 Vulkan.
struct Library {
  std::vector<ashlar_abi1_variant> variants;
  ashlar_error error{};
  ashlar_context ctx{};
  Array<std::int32_t> y{{3}, -1};
  explicit Library(std::vector<ashlar_abi1_variant> v) : variants(std::move(v)) {
    ctx.size = sizeof ctx, ctx.error = &error;
    device_fails_with = ran = settled = settling_fails_with = 0;
  }
  ashlar_abi1_library table() const {
    return {1, sizeof(ashlar_abi1_library), "g", static_cast<std::int32_t>(variants.size()), 0, variants.data()};
  }
  int call(std::int32_t device_type = 1) {
    y.tensor.device_type = device_type;
    const void* const list[] = {&y.tensor};
    const ashlar_abi1_library t = table();
    ran = settled = 0;
    return ashlar_abi1_library_call(&t, list, &ctx);
  }
  int run_pointers(const ashlar_context* context) {
    Args args = {y.data.data(), 3};
    const ashlar_abi1_library t = table();
    ran = settled = 0;
    return ashlar_abi1_library_run(&t, &args, context);
  }
};

constexpr std::uint64_t nothing = 0, basic = 1,                         // sse2, neon
    never = std::uint64_t{1} << 60, nor_ever = std::uint64_t{1} << 59;  // numbers without a feature: on no machine

Library everywhere() {
  return Library({variant<4>("ahead", 1, never | basic), variant<2>("here", 1, basic), variant<1>("plain", 1, nothing),
                  variant<5>("cuda-sm_90a", 2, nothing), variant<6>("cuda-sm_80", 2, nothing),
                  variant<7>("vulkan", 7, nothing)});
}

// Names a target for as long as it lives.
struct Forced {
  explicit Forced(const char* name) { ashlar_set_target(name); }
  ~Forced() { ashlar_set_target(nullptr); }
};

}  // namespace

TEST_CASE("among processors the first whose features this one has") {
  Library l = everywhere();
  REQUIRE_MESSAGE(l.call() == ASHLAR_OK, sentence(l.error));
  CHECK(l.y.data[0] == 2);
  CHECK(ran == 2);
  CHECK(l.call(3) == ASHLAR_OK);  // pinned memory is the host's
  CHECK(ran == 2);
  CHECK(l.run_pointers(&l.ctx) == ASHLAR_OK);
  CHECK(ran == 2);
  Library lowest({variant<4>("ahead", 1, never), variant<1>("plain", 1, nothing)});
  CHECK(lowest.call() == ASHLAR_OK);
  CHECK(ran == 1);
}

TEST_CASE("where none fits, each says what it lacks") {
  Library l({variant<4>("ahead", 1, never | nor_ever | basic), variant<3>("far", 1, nor_ever | basic),
             variant<7>("vulkan", 7, nothing)});
  const char* said = "g: ahead needs feature 59, feature 60; far needs feature 59, which this processor lacks";
  CHECK(l.call() == ASHLAR_E_TARGET);
  CHECK(ran == 0);
  CHECK(l.error.expected == static_cast<std::int64_t>(nor_ever | basic));
  CHECK(l.error.found == static_cast<std::int64_t>(basic));
  CHECK(sentence(l.error) == said);
  l.error = {};
  CHECK(l.run_pointers(&l.ctx) == ASHLAR_E_TARGET);
  CHECK(ran == 0);
  CHECK(sentence(l.error) == said);
}

TEST_CASE("the target that is named is the only one that runs") {
  Library l = everywhere();
  {
    const Forced f("plain");
    CHECK(l.call() == ASHLAR_OK);
    CHECK(ran == 1);
    CHECK(l.run_pointers(&l.ctx) == ASHLAR_OK);
    CHECK(ran == 1);
    l.ctx.flags = ASHLAR_OR_CPU, device_fails_with = ASHLAR_E_TARGET;  // in the place of a device too
    CHECK(l.call(13) == ASHLAR_OK);
    CHECK(ran == 561);
    l.ctx.flags = 0, device_fails_with = 0;
    CHECK(l.call(2) == ASHLAR_OK);  // devices are not processors
    CHECK(ran == 5);
  }
  CHECK(l.call() == ASHLAR_OK);
  CHECK(ran == 2);
  {
    const Forced f("ahead");  // which would trap
    CHECK(l.call() == ASHLAR_E_TARGET);
    CHECK(ran == 0);
    CHECK(sentence(l.error) == "g: ahead needs feature 60, which this processor lacks");
    CHECK(l.run_pointers(&l.ctx) == ASHLAR_E_TARGET);
    CHECK(sentence(l.error) == "g: ahead needs feature 60, which this processor lacks");
    CHECK(ran == 0);
  }
  for (const char* name : {"elsewhere", "cuda-sm_80"}) {
    const Forced f(name);
    CHECK(l.call() == ASHLAR_E_TARGET);
    CHECK(ran == 0);
    CHECK(sentence(l.error) == "g: " + std::string(name) +
                                   " is asked for (ASHLAR_TARGET, ashlar_set_target), and the targets are ahead, here, plain, "
                                   "cuda-sm_90a, cuda-sm_80, vulkan");
  }
  const Forced none("");
  CHECK(l.call() == ASHLAR_OK);
  CHECK(ran == 2);
}

TEST_CASE("a device's variant needs a processor too") {
  Library l({variant<5>("cuda-sm_90a+avx9", 2, never)});
  l.ctx.flags = ASHLAR_ON_CUDA;
  CHECK(l.run_pointers(&l.ctx) == ASHLAR_E_TARGET);
  CHECK(ran == 0);
  CHECK(sentence(l.error) == "g: cuda-sm_90a+avx9 needs feature 60, which this processor lacks");
  l.ctx.flags = 0;
  CHECK(l.call(2) == ASHLAR_E_TARGET);
  CHECK(ran == 0);
  CHECK(sentence(l.error) == "g: made for a processor with feature 60, which this one lacks");
}

TEST_CASE("the memory of the tensors decides") {
  Library l = everywhere();
  CHECK(l.call(2) == ASHLAR_OK);
  CHECK(ran == 5);
  CHECK(l.call(13) == ASHLAR_OK);
  CHECK(ran == 5);
  const ashlar_vulkan_buffer buffer = {256, 12, nullptr, 0, 0, nullptr};
  l.y.tensor.data = const_cast<ashlar_vulkan_buffer*>(&buffer);
  CHECK(l.call(7) == ASHLAR_OK);
  CHECK(ran == 7);
  CHECK(l.call(10) == ASHLAR_E_DEVICE);  // ROCm
  CHECK(l.error.argument == 0);
  CHECK(sentence(l.error) ==
        "g: y lies on a device of type 10, and the targets are ahead, here, plain, cuda-sm_90a, cuda-sm_80, vulkan");
  CHECK(ran == 0);
  Library processors({variant<1>("x86-64", 1, nothing), variant<2>("x86-64", 1, nothing)});
  CHECK(processors.call(2) == ASHLAR_E_DEVICE);
  CHECK(sentence(processors.error) == "g: y lies on a CUDA device, and the targets are x86-64, x86-64");
}

TEST_CASE("a context that names a device is held against the tensors") {
  Library l = everywhere();
  l.ctx.flags = ASHLAR_ON_CUDA;
  CHECK(l.call(1) == ASHLAR_E_DEVICE);
  CHECK(l.error.argument == 0);
  CHECK(sentence(l.error) == "g: y lies on the host, expected a CUDA device");
  l.ctx.flags = ASHLAR_ON_CUDA | ASHLAR_OR_CPU;
  CHECK(l.call(1) == ASHLAR_OK);
  CHECK(ran == 2);
  CHECK(settled == 0);  // no device knows of this memory
  CHECK(sentence(l.error) == "g: y lies on the host, expected a CUDA device");
  Library processors({variant<2>("here", 1, basic), variant<1>("x86-64", 1, nothing)});
  processors.ctx.flags = ASHLAR_ON_VULKAN;
  CHECK(processors.call(1) == ASHLAR_E_DEVICE);
  CHECK(sentence(processors.error) == "g: the context asks for a Vulkan device, and the targets are here, x86-64");
}

TEST_CASE("pointers tell nothing: the context does, else the host is meant, else the only device") {
  Library l = everywhere();
  CHECK(l.run_pointers(nullptr) == ASHLAR_OK);
  CHECK(ran == 2);
  l.ctx.flags = ASHLAR_ON_CUDA;
  CHECK(l.run_pointers(&l.ctx) == ASHLAR_OK);
  CHECK(ran == 5);
  l.ctx.flags = ASHLAR_ON_VULKAN;
  CHECK(l.run_pointers(&l.ctx) == ASHLAR_OK);
  CHECK(ran == 7);
  Library devices({variant<5>("cuda-sm_90a", 2, nothing), variant<6>("cuda-sm_80", 2, nothing)});
  CHECK(devices.run_pointers(&devices.ctx) == ASHLAR_OK);
  CHECK(ran == 5);
  Library both({variant<5>("cuda-sm_90a", 2, nothing), variant<7>("vulkan", 7, nothing)});
  CHECK(both.run_pointers(&both.ctx) == ASHLAR_E_DEVICE);
  CHECK(sentence(both.error) == "g: the context does not say on which device the pointers lie (ASHLAR_ON_... in its flags)");
  both.ctx.flags = ASHLAR_ON_HOST;
  CHECK(both.run_pointers(&both.ctx) == ASHLAR_E_DEVICE);
  CHECK(sentence(both.error) == "g: the context asks for the host, and the targets are cuda-sm_90a, vulkan");
}

TEST_CASE("a device of another capability takes the next variant") {
  Library l = everywhere();
  device_fails_with = 1000;
  CHECK(l.call(2) == ASHLAR_OK);
  CHECK(ran == 56);
  l.ctx.flags = ASHLAR_ON_CUDA;
  CHECK(l.run_pointers(&l.ctx) == ASHLAR_OK);
  CHECK(ran == 56);
  device_fails_with = ASHLAR_E_LAUNCH;  // any other failure is the call's
  CHECK(l.call(2) == ASHLAR_E_LAUNCH);
  CHECK(sentence(l.error) == "g: the device cannot");
  CHECK(ran == 5);
}

TEST_CASE("the processor takes over from a device where the caller allows it, and never else") {
  for (const int code : {ASHLAR_E_DEVICE, ASHLAR_E_TARGET, ASHLAR_E_LAUNCH, ASHLAR_E_MEMORY}) {
    CAPTURE(code);
    Library l = everywhere();
    std::int64_t workspace[64];
    l.ctx.workspace = workspace, l.ctx.workspace_bytes = sizeof workspace, l.ctx.stream = &l;
    device_fails_with = code;
    CHECK(l.call(13) == code);
    CHECK(settled == 0);
    CHECK(l.y.data[0] == -1);
    l.error = {};
    l.ctx.flags = ASHLAR_OR_CPU;
    const bool allowed = code != ASHLAR_E_MEMORY;
    CHECK(l.call(13) == (allowed ? ASHLAR_OK : code));
    const bool all = code == ASHLAR_E_TARGET;  // every variant for the device was tried
    CHECK(sentence(l.error) ==
          (all ? "g: the device cannot (none of cuda-sm_90a, cuda-sm_80 fits)" : "g: the device cannot"));  // not silent
    CHECK(l.error.code == code);
    CHECK(settled == allowed);
    CHECK(l.y.data[0] == (allowed ? 2 : -1));
    if (allowed) {
      CHECK(seen_stream == nullptr);  // the stream and the workspace are the device's
      CHECK(seen_workspace != workspace);
      CHECK(seen_workspace != nullptr);
    }
    CHECK(l.call(2) == code);  // memory that the processor cannot reach
    l.y.data[0] = -1;
    l.ctx.flags = ASHLAR_ON_CUDA | ASHLAR_OR_CPU;  // pointers: the caller's word
    l.ctx.allocate = [](void*, std::size_t, std::size_t, std::int32_t, std::int32_t) -> void* { return nullptr; };
    l.error = {};
    CHECK(l.run_pointers(&l.ctx) == (allowed ? ASHLAR_OK : code));
    CHECK(l.y.data[0] == (allowed ? 2 : -1));
    CHECK(l.error.code == code);
    l.ctx.flags = ASHLAR_ON_VULKAN | ASHLAR_OR_CPU;  // addresses of Vulkan are not pointers
    CHECK(l.run_pointers(&l.ctx) == code);
    CHECK(ran == 7);
  }
}

TEST_CASE("mapped buffers of Vulkan are the processor's too, after the queue is waited for") {
  Library l = everywhere();
  std::int32_t memory[4] = {-1, -1, -1, -1};
  ashlar_vulkan_buffer buffer = {256, sizeof memory, nullptr, 0, 0, memory};
  l.y.tensor.data = &buffer, l.y.tensor.byte_offset = 4;
  l.ctx.flags = ASHLAR_OR_CPU;
  device_fails_with = ASHLAR_E_TARGET;
  CHECK(l.call(7) == ASHLAR_OK);
  CHECK(memory[0] == -1);
  CHECK(memory[1] == 2);
  CHECK(settled == 1);
  buffer.mapped = nullptr;
  CHECK(l.call(7) == ASHLAR_E_TARGET);
  CHECK(sentence(l.error) == "g: the device cannot");
}

TEST_CASE("a device that does not settle is the call's failure") {
  Library l = everywhere();
  l.ctx.flags = ASHLAR_OR_CPU;
  device_fails_with = ASHLAR_E_TARGET, settling_fails_with = ASHLAR_E_LAUNCH;
  CHECK(l.call(13) == ASHLAR_E_LAUNCH);
  CHECK(sentence(l.error) == "g: lost");
  CHECK(l.y.data[0] == -1);
  l.ctx.flags = ASHLAR_ON_CUDA | ASHLAR_OR_CPU;
  CHECK(l.run_pointers(&l.ctx) == ASHLAR_E_LAUNCH);
  CHECK(sentence(l.error) == "g: lost");
  CHECK(l.y.data[0] == -1);
}

TEST_CASE("a library without a variant for processors cannot fall back; a wrong call does not") {
  Library l({variant<5>("cuda-sm_90a", 2, nothing), variant<7>("vulkan", 7, nothing)});
  l.ctx.flags = ASHLAR_OR_CPU;
  device_fails_with = ASHLAR_E_DEVICE;
  CHECK(l.call(13) == ASHLAR_E_DEVICE);
  CHECK(sentence(l.error) == "g: the device cannot");
  Library all = everywhere();
  all.ctx.flags = ASHLAR_OR_CPU;
  all.y.tensor.type_bits = 16;
  CHECK(all.call(13) == ASHLAR_E_TYPE);
  CHECK(sentence(all.error) == "g: y is i16, expected i32");
  CHECK(ran == 0);
}

TEST_CASE("the workspace is the most of what could run") {
  Library l = everywhere();
  const ashlar_abi1_library t = l.table();
  const Args args = {};
  CHECK(ashlar_abi1_library_workspace_bytes(&t, &args, &l.ctx) == 700);  // 4 is for no processor there is
  l.ctx.flags = ASHLAR_ON_HOST;
  CHECK(ashlar_abi1_library_workspace_bytes(&t, &args, &l.ctx) == 200);
  l.ctx.flags = ASHLAR_ON_CUDA;
  CHECK(ashlar_abi1_library_workspace_bytes(&t, &args, &l.ctx) == 600);
}

TEST_CASE("a table of another abi is refused, and simple entries keep their error") {
  Library l = everywhere();
  ashlar_abi1_library t = l.table();
  const void* const list[] = {&l.y.tensor};
  t.abi = 2;
  CHECK(ashlar_abi1_library_call(&t, list, nullptr) == ASHLAR_E_ABI);
  CHECK(sentence(*ashlar_last_error()) == "g: made for abi 2, expected abi 1, the runtime's");
  t.abi = 1;
  const void* const null[] = {nullptr};
  CHECK(ashlar_abi1_library_call(&t, null, nullptr) == ASHLAR_E_NULL);
  CHECK(sentence(*ashlar_last_error()) == "g: y is NULL, expected a tensor");
  CHECK(ashlar_abi1_library_call(&t, list, nullptr) == ASHLAR_OK);
}
