// From the C entries of kernels for CUDA to the driver: which calls are made, with what, in which context and on which stream,
// and what becomes of each that fails.
#include <algorithm>

#include <ashlar/ir/refusal.h>

#include "tests/cuda/on_standin.h"
#include "tests/interp/launch_matmul.h"

using namespace ashlar;
using codegen::Compiled;
using cuda::add_bias, cuda::calls_of, cuda::driver, cuda::OnDevice, cuda::Operands, cuda::said, cuda::sum;
using Fresh = cuda::FreshDriver;

namespace {

ashlar_context with_stream(void* stream, ashlar_error* error) {
  ashlar_context c = {};
  c.size = sizeof c;
  c.stream = stream;
  c.error = error;
  return c;
}

}  // namespace

TEST_CASE("a simple call loads, launches once with the entry's parameters, and waits") {
  const Fresh fresh;
  driver().standin_takes_cubin(0);  // so that the entry's own parameters are known
  const Operands o;
  REQUIRE_MESSAGE(add_bias().call(o.list) == ASHLAR_OK, said());
  REQUIRE(driver().standin_launches() == 1);
  const StandinLaunch& l = *driver().standin_launch(0);
  CHECK(std::string(l.entry) == "add_bias");
  CHECK(l.from_ptx == 1);
  CHECK(l.grid[0] == 2);
  CHECK(l.grid[1] == 3);
  CHECK(l.grid[2] == 1);
  CHECK(l.threads == 64);
  CHECK(l.shared_bytes == 0);
  CHECK(l.stream == nullptr);
  const std::string calls = driver().standin_calls();
  CHECK(calls.find("cuLaunchKernel cuStreamSynchronize ") != std::string::npos);

  // parameter by parameter, as the translator lists them
  const ir::Kernel k = cuda::kernel_of<gpu_operators::AddBias>("cuda-sm_90a");
  const codegen::ptx::Code code = codegen::ptx::translate(k, Target::parse("cuda-sm_90a"));
  const auto& parameters = code.entries.at(0).parameters;
  CHECK(code.entries.at(0).folded);  // M blocks along y: the last parameter says where they begin
  REQUIRE(l.parameter_count == parameters.size() + 1);
  CHECK(l.parameters[parameters.size()] == 0);
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    CHECK(l.sizes[n] == 8);
    if (parameters[n].kind == codegen::LaunchParameter::Kind::address) {
      const std::string name = k.buffers.at(parameters[n].id).name;
      CAPTURE(name);
      CHECK(l.parameters[n] == (name == "x" ? o.x : name == "b" ? o.b : o.y).address());
    } else {
      CHECK(l.parameters[n] == 70);  // N, and the row strides of x and y
    }
  }
}

TEST_CASE("machine code is loaded where it is there and fits the device, else the PTX") {
  const Operands o;
  const bool assembled =
      codegen::ptx::cubin(
          codegen::ptx::translate(cuda::kernel_of<gpu_operators::AddBias>("cuda-sm_90a"), Target::parse("cuda-sm_90a")).text,
          "sm_90a")
          .has_value();
  for (bool takes : {true, false}) {
    const Fresh fresh;
    driver().standin_takes_cubin(takes);
    REQUIRE_MESSAGE(add_bias().call(o.list) == ASHLAR_OK, said());
    CHECK(driver().standin_launch(0)->from_ptx == !(assembled && takes));
  }
}

TEST_CASE("a call whose indices do not fit into 32 bits takes the module for any indices, as PTX") {
  const ir::Kernel k = cuda::kernel_of<gpu_operators::AddBias>("cuda-sm_90a");
  const codegen::ptx::Code code = codegen::ptx::translate(k, Target::parse("cuda-sm_90a"));
  CHECK(!code.narrow_if.empty());
  CHECK(code.wide == codegen::ptx::translate(k, Target::parse("cuda-sm_90a"), false, true).text);
  CHECK(code.wide != code.text);
  const Fresh fresh;
  Operands o;
  const auto loads = [&] {
    const std::string calls = calls_of([&] { REQUIRE_MESSAGE(add_bias().call(o.list) == ASHLAR_OK, said()); });
    return calls.find("cuModuleLoadData") != std::string::npos;
  };
  CHECK(loads());
  CHECK(!loads());
  std::int64_t near[] = {std::int64_t{1} << 29, 1}, far[] = {std::int64_t{1} << 30, 1};  // of 3 rows
  o.x.tensor.strides = near;
  CHECK(!loads());
  o.x.tensor.strides = far;
  CHECK(loads());
  CHECK(driver().standin_launch(3)->from_ptx == 1);
  CHECK(!loads());
  o.x.tensor.strides = nullptr;
  CHECK(!loads());
}

TEST_CASE("with a stream nothing is waited for or allocated, and the caller's context and stream are used") {
  const Fresh fresh;
  void* const other = driver().standin_new_context(0);
  void* const stream = driver().standin_new_stream(other);
  const Operands o;
  ashlar_error error = {};
  ashlar_context context = with_stream(stream, &error);
  REQUIRE(add_bias().call(o.list, &context) == ASHLAR_OK);
  const std::string calls = calls_of([&] { REQUIRE(add_bias().call(o.list, &context) == ASHLAR_OK); });
  CHECK(calls == "cuCtxGetCurrent cuStreamGetCtx cuCtxPushCurrent cuCtxGetDevice cuCtxGetId cuLaunchKernel cuCtxPopCurrent ");
  CHECK(driver().standin_launch(1)->stream == stream);
  CHECK(driver().standin_current() == fresh.context);  // as before the call

  void* const own = driver().standin_new_stream(fresh.context);
  context.stream = own;
  REQUIRE(add_bias().call(o.list, &context) == ASHLAR_OK);  // loads in this context, too
  CHECK(calls_of([&] { REQUIRE(add_bias().call(o.list, &context) == ASHLAR_OK); }) ==
        "cuCtxGetCurrent cuStreamGetCtx cuCtxGetDevice cuCtxGetId cuLaunchKernel ");
  context.stream = reinterpret_cast<void*>(std::uintptr_t{2});  // the per-thread default stream
  CHECK(calls_of([&] { REQUIRE(add_bias().call(o.list, &context) == ASHLAR_OK); }) ==
        "cuCtxGetCurrent cuCtxGetDevice cuCtxGetId cuLaunchKernel ");
}

TEST_CASE("a module is loaded once a context, and anew in a context that came in the place of another") {
  const Operands o;
  auto loads = [&] {
    const std::string calls = calls_of([&] { REQUIRE_MESSAGE(add_bias().call(o.list) == ASHLAR_OK, said()); });
    return calls.find("cuModuleLoadData") != std::string::npos;
  };
  const Fresh fresh;
  CHECK(loads());
  CHECK(!loads());
  driver().standin_destroy_context(fresh.context);
  driver().standin_set_current(driver().standin_new_context(0));
  CHECK(loads());
  CHECK(!loads());
}

TEST_CASE("without a current context a call runs in the primary one, and leaves none current") {
  const Fresh fresh;
  driver().standin_set_current(nullptr);
  const Operands o;
  REQUIRE_MESSAGE(add_bias().call(o.list) == ASHLAR_OK, said());
  CHECK(std::string(driver().standin_calls()).find("cuDevicePrimaryCtxRetain cuCtxPushCurrent") != std::string::npos);
  CHECK(driver().standin_current() == nullptr);
}

TEST_CASE("two launches through the workspace: the caller's, its allocator's, or the driver's where the call waits") {
  OnDevice x(f32, {9000}), y(f32, {1});
  const std::vector<const void*> list = {&x.tensor, &y.tensor};
  struct Hooks {
    std::vector<std::uint64_t> block = std::vector<std::uint64_t>(64);
    int taken = 0, given = 0, type = 0;
  } hooks;
  SUBCASE("the driver's, freed after waiting, where the device has no pools") {
    const Fresh fresh;
    driver().standin_attribute(115, 0);
    REQUIRE_MESSAGE(sum().call(list) == ASHLAR_OK, said());
    const std::string calls = driver().standin_calls();
    CHECK(calls.find("cuMemAlloc cuLaunchKernel cuLaunchKernel cuStreamSynchronize cuMemFree ") != std::string::npos);
    REQUIRE(driver().standin_launches() == 2);
    CHECK(driver().standin_launch(0)->grid[0] == 3);  // pieces of 4096
    CHECK(driver().standin_launch(0)->threads == 128);
    CHECK(driver().standin_launch(0)->shared_bytes >= 512);
    CHECK(driver().standin_launch(1)->threads == 1);
  }
  SUBCASE("the caller's") {
    const Fresh fresh;
    ashlar_error error = {};
    ashlar_context context = with_stream(driver().standin_new_stream(fresh.context), &error);
    alignas(256) static std::uint64_t workspace[32];
    context.workspace = workspace, context.workspace_bytes = sizeof workspace;
    REQUIRE(sum().call(list, &context) == ASHLAR_OK);
    const std::string calls = calls_of([&] { REQUIRE(sum().call(list, &context) == ASHLAR_OK); });
    CHECK(calls == "cuCtxGetCurrent cuStreamGetCtx cuCtxGetDevice cuCtxGetId cuLaunchKernel cuLaunchKernel ");
    context.workspace_bytes = 8;
    CHECK(sum().call(list, &context) == ASHLAR_E_MEMORY);
    CHECK(cuda::sentence(error) == "sum: the workspace has 8 bytes, expected at least 64");
    context.workspace_bytes = sizeof workspace;
    context.workspace = reinterpret_cast<char*>(workspace) + 8;
    CHECK(sum().call(list, &context) == ASHLAR_E_ALIGN);
    CHECK(cuda::sentence(error) == "sum: the workspace begins 8 bytes past a multiple of 64 bytes, expected a multiple of 64");
  }
  SUBCASE("the allocator's, in device memory") {
    const Fresh fresh;
    ashlar_error error = {};
    ashlar_context context = with_stream(driver().standin_new_stream(fresh.context), &error);
    context.user = &hooks;
    context.allocate = [](void* user, std::size_t, std::size_t align, std::int32_t type, std::int32_t) -> void* {
      Hooks& h = *static_cast<Hooks*>(user);
      ++h.taken, h.type = type;
      const auto at = reinterpret_cast<std::uintptr_t>(h.block.data());
      return reinterpret_cast<void*>((at + align - 1) / align * align);
    };
    context.release = [](void* user, void*, std::int32_t, std::int32_t) { ++static_cast<Hooks*>(user)->given; };
    REQUIRE(sum().call(list, &context) == ASHLAR_OK);
    CHECK(hooks.taken == 1);
    CHECK(hooks.given == 1);
    CHECK(hooks.type == 2);
    context.allocate = [](void*, std::size_t, std::size_t, std::int32_t, std::int32_t) -> void* { return nullptr; };
    CHECK(sum().call(list, &context) == ASHLAR_E_MEMORY);
    CHECK(cuda::sentence(error) == "sum: no memory for a workspace of 64 bytes");
  }
  SUBCASE("no memory of the driver's") {
    const Fresh fresh;
    driver().standin_attribute(115, 0);
    driver().standin_fail("cuMemAlloc", 1, 2);
    CHECK(sum().call(list) == ASHLAR_E_MEMORY);
    CHECK(said() == "sum: cuMemAlloc returned 2, CUDA_ERROR_OUT_OF_MEMORY");
    CHECK(driver().standin_launches() == 0);
  }
  SUBCASE("none, where the call does not wait and the device has no pools") {
    const Fresh fresh;
    driver().standin_attribute(115, 0);
    ashlar_error error = {};
    const ashlar_context context = with_stream(driver().standin_new_stream(fresh.context), &error);
    CHECK(sum().call(list, &context) == ASHLAR_E_MEMORY);
    CHECK(cuda::sentence(error) ==
          "sum: the workspace has 0 bytes, expected at least 64, the context has no allocator and the device no memory pools");
  }
}

TEST_CASE("f_run takes addresses, and an extent of 0 launches nothing") {
  const Fresh fresh;
  const Operands o;
  ashlar_error error = {};
  ashlar_context context = with_stream(driver().standin_new_stream(fresh.context), &error);
  struct {
    std::uint64_t x, b, y;
    std::int64_t M, N, x_stride, y_stride;
  } args = {o.x.address(), o.b.address(), o.y.address(), 3, 70, 0, 0};
  REQUIRE_MESSAGE(add_bias().run(&args, &context) == ASHLAR_OK, cuda::sentence(error));
  CHECK(driver().standin_launches() == 1);
  args.M = 0;
  REQUIRE(add_bias().run(&args, &context) == ASHLAR_OK);
  CHECK(driver().standin_launches() == 1);
  const OnDevice none(f32, {0, 70}), result(f32, {0, 70});
  const std::vector<const void*> list = {&none.tensor, &o.b.tensor, &result.tensor};
  REQUIRE(add_bias().call(list) == ASHLAR_OK);
  CHECK(driver().standin_launches() == 1);
}

TEST_CASE("tensors of the host or of another device are refused; managed memory is not") {
  const Fresh fresh;
  Operands o;
  o.b.tensor.device_type = 13;
  REQUIRE_MESSAGE(add_bias().call(o.list) == ASHLAR_OK, said());
  o.b.tensor.device_type = 1;
  CHECK(add_bias().call(o.list) == ASHLAR_E_DEVICE);
  CHECK(said() == "add_bias: b lies on the host, expected a CUDA device");
  o.b.tensor.device_type = 2;
  o.b.tensor.device_id = 1;
  CHECK(add_bias().call(o.list) == ASHLAR_E_DEVICE);
  CHECK(said() == "add_bias: b lies on a CUDA device (number 1), expected a CUDA device, as the tensors before it");
  for (OnDevice* t : {&o.x, &o.b, &o.y}) t->tensor.device_id = 1;
  CHECK(add_bias().call(o.list) == ASHLAR_E_DEVICE);
  CHECK(said() == "add_bias: the tensors lie on a CUDA device (number 1), the call runs on a CUDA device");
  driver().standin_set_current(nullptr);
  CHECK(add_bias().call(o.list) == ASHLAR_E_DEVICE);
  CHECK(said() == "add_bias: device 1 is not among the 1 that the driver sees");
}

TEST_CASE("what a device lacks, and what exceeds its limits") {
  const Operands o;
  OnDevice x(f32, {9000}), y(f32, {1});
  const std::vector<const void*> list = {&x.tensor, &y.tensor};
  const Fresh fresh;
  SUBCASE("a later chip where an exact one is needed") {
    driver().standin_attribute(75, 10);
    CHECK(add_bias().call(o.list) == ASHLAR_E_TARGET);
    CHECK(said() == "add_bias: made for sm_90a, which is compute capability 90 alone (times ten); Stand-in 0 has 100");
  }
  SUBCASE("an earlier chip") {
    driver().standin_attribute(75, 7), driver().standin_attribute(76, 5);
    CHECK(sum().call(list) == ASHLAR_E_TARGET);
    CHECK(said() == "sum: made for sm_80, compute capability 80 or later (times ten); Stand-in 0 has 75");
    const Fresh other;  // the context of another device
    driver().standin_attribute(75, 8), driver().standin_attribute(76, 6);
    CHECK(sum().call(list) == ASHLAR_OK);
  }
  SUBCASE("threads") {
    driver().standin_attribute(1, 32);
    CHECK(add_bias().call(o.list) == ASHLAR_E_TARGET);
    CHECK(said() == "add_bias: a block of launch `add_bias` takes 64 threads, Stand-in 0 has 32");
  }
  SUBCASE("shared memory") {
    driver().standin_attribute(97, 256);
    CHECK(sum().call(list) == ASHLAR_E_TARGET);
    CHECK(said() == "sum: a block of launch `sum` takes 512 bytes of shared memory, Stand-in 0 has 256");
  }
  SUBCASE("blocks") {
    driver().standin_attribute(5, 1);
    CHECK(add_bias().call(o.list) == ASHLAR_E_LAUNCH);
    CHECK(said() == "add_bias: launch `add_bias` has 2 blocks along x, expected at most 1");
    CHECK(ashlar_last_error()->dimension == 0);
    CHECK(driver().standin_launches() == 0);
  }
}

TEST_CASE("every call of the driver that fails is told by name, and the call before it is undone") {
  struct Row {
    const char* function;
    int nth, result, code;
    const char* text;
  };
  const Row rows[] = {
      {"cuCtxGetCurrent", 1, 3, ASHLAR_E_LAUNCH, "add_bias: cuCtxGetCurrent returned 3, CUDA_ERROR_NOT_INITIALIZED"},
      {"cuStreamGetCtx", 1, 400, ASHLAR_E_LAUNCH, "add_bias: cuStreamGetCtx returned 400, CUDA_ERROR_INVALID_HANDLE"},
      {"cuCtxPushCurrent", 1, 201, ASHLAR_E_LAUNCH, "add_bias: cuCtxPushCurrent returned 201, CUDA_ERROR_INVALID_CONTEXT"},
      {"cuCtxGetDevice", 1, 201, ASHLAR_E_LAUNCH, "add_bias: cuCtxGetDevice returned 201, CUDA_ERROR_INVALID_CONTEXT"},
      {"cuCtxGetId", 1, 201, ASHLAR_E_LAUNCH, "add_bias: cuCtxGetId returned 201, CUDA_ERROR_INVALID_CONTEXT"},
      {"cuDeviceGetAttribute", 2, 1, ASHLAR_E_LAUNCH, "add_bias: cuDeviceGetAttribute returned 1, CUDA_ERROR_INVALID_VALUE"},
      {"cuModuleLoadDataEx", 1, 2, ASHLAR_E_MEMORY, nullptr},
      {"cuModuleLoadDataEx", 1, 218, ASHLAR_E_LAUNCH, nullptr},
      {"cuModuleGetFunction", 1, 500, ASHLAR_E_LAUNCH,
       "add_bias: cuModuleGetFunction of `add_bias` returned 500, CUDA_ERROR_NOT_FOUND"},
      {"cuFuncGetAttribute", 1, 400, ASHLAR_E_LAUNCH,
       "add_bias: cuFuncGetAttribute of `add_bias` returned 400, CUDA_ERROR_INVALID_HANDLE"},
      {"cuLaunchKernel", 1, 701, ASHLAR_E_LAUNCH, "add_bias: cuLaunchKernel returned 701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {"cuLaunchKernel", 1, 700, ASHLAR_E_LAUNCH,
       "add_bias: cuLaunchKernel returned 700, CUDA_ERROR_ILLEGAL_ADDRESS: the CUDA context is lost, by this call or an "
       "earlier one"},
      {"cuLaunchKernel", 1, 12345, ASHLAR_E_LAUNCH,
       "add_bias: cuLaunchKernel returned 12345, a CUresult that the driver has no name for"},
      {"cuCtxPopCurrent", 1, 201, ASHLAR_E_LAUNCH, "add_bias: cuCtxPopCurrent returned 201, CUDA_ERROR_INVALID_CONTEXT"},
  };
  const Operands o;
  for (const Row& row : rows) {
    CAPTURE(row.function);
    const Fresh fresh;
    void* const other = driver().standin_new_context(0);
    ashlar_error error = {};
    ashlar_context context = with_stream(driver().standin_new_stream(other), &error);
    driver().standin_fail(row.function, row.nth, row.result);
    CHECK(add_bias().call(o.list, &context) == row.code);
    if (row.text) CHECK(cuda::sentence(error) == row.text);
    CHECK(cuda::sentence(error).find(row.function) != std::string::npos);
    CHECK(error.found == row.result);
    if (std::string(row.function) != "cuCtxPopCurrent") CHECK(driver().standin_current() == fresh.context);
    context.error = nullptr;  // the code alone
    driver().standin_set_current(fresh.context);
    CHECK(add_bias().call(o.list, &context) == ASHLAR_OK);  // and what can be done again is
  }
}

TEST_CASE("where no context is current, each step to the primary one that fails is told, and none is current afterwards") {
  struct Row {
    const char* function;
    int result;
    const char* text;
  };
  const Row rows[] = {
      {"cuDeviceGetCount", 999, "add_bias: cuDeviceGetCount returned 999, a CUresult that the driver has no name for"},
      {"cuDeviceGet", 101, "add_bias: cuDeviceGet returned 101, a CUresult that the driver has no name for"},
      {"cuDevicePrimaryCtxRetain", 2, "add_bias: cuDevicePrimaryCtxRetain returned 2, CUDA_ERROR_OUT_OF_MEMORY"},
      {"cuCtxPushCurrent", 201, "add_bias: cuCtxPushCurrent returned 201, CUDA_ERROR_INVALID_CONTEXT"},
  };
  const Operands o;
  for (const Row& row : rows) {
    CAPTURE(row.function);
    const Fresh fresh;
    driver().standin_set_current(nullptr);
    driver().standin_fail(row.function, 1, row.result);
    CHECK(add_bias().call(o.list) == (row.result == 2 ? ASHLAR_E_MEMORY : ASHLAR_E_LAUNCH));
    CHECK(said() == row.text);
    CHECK(ashlar_last_error()->found == row.result);
    CHECK(driver().standin_current() == nullptr);
    CHECK(driver().standin_launches() == 0);
    CHECK_MESSAGE(add_bias().call(o.list) == ASHLAR_OK, said());
    CHECK(driver().standin_launches() == 1);
  }
}

TEST_CASE("shared memory that a function is not given: the module is unloaded, and loaded anew by the next call") {
  const Fresh fresh;
  OnDevice x(f32, {9000}), y(f32, {1});
  const std::vector<const void*> list = {&x.tensor, &y.tensor};
  driver().standin_fail("cuFuncSetAttribute", 1, 1);
  CHECK(sum().call(list) == ASHLAR_E_LAUNCH);
  CHECK(said() == "sum: cuFuncSetAttribute of `sum` returned 1, CUDA_ERROR_INVALID_VALUE");
  CHECK(std::string(driver().standin_calls()).find("cuFuncSetAttribute cuModuleUnload ") != std::string::npos);
  CHECK(driver().standin_launches() == 0);
  const std::string calls = calls_of([&] { REQUIRE_MESSAGE(sum().call(list) == ASHLAR_OK, said()); });
  CHECK(calls.find("cuModuleLoadData") != std::string::npos);
}

TEST_CASE("a workspace that cannot be freed fails the call, unless something failed before") {
  const Fresh fresh;
  driver().standin_attribute(115, 0);  // of cuMemAlloc
  OnDevice x(f32, {9000}), y(f32, {1});
  const std::vector<const void*> list = {&x.tensor, &y.tensor};
  driver().standin_fail("cuMemFree", 1, 1);
  CHECK(sum().call(list) == ASHLAR_E_LAUNCH);
  CHECK(said() == "sum: cuMemFree returned 1, CUDA_ERROR_INVALID_VALUE");
  driver().standin_fail("cuMemFree", 1, 719);
  CHECK(sum().call(list) == ASHLAR_E_LAUNCH);
  CHECK(said() ==
        "sum: cuMemFree returned 719, CUDA_ERROR_LAUNCH_FAILED: the CUDA context is lost, by this call or an earlier one");
  driver().standin_fail_also("cuMemFree", 1, 719);
  driver().standin_fail("cuLaunchKernel", 2, 701);
  CHECK(sum().call(list) == ASHLAR_E_LAUNCH);
  CHECK(said() == "sum: cuLaunchKernel returned 701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  CHECK(sum().call(list) == ASHLAR_OK);
}

TEST_CASE("a second launch that fails: what ran is waited for, and its workspace given back") {
  const Fresh fresh;
  driver().standin_attribute(115, 0);
  OnDevice x(f32, {9000}), y(f32, {1});
  const std::vector<const void*> list = {&x.tensor, &y.tensor};
  driver().standin_fail("cuLaunchKernel", 2, 701);
  CHECK(sum().call(list) == ASHLAR_E_LAUNCH);
  CHECK(said() == "sum: cuLaunchKernel returned 701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  CHECK(std::string(driver().standin_calls()).find("cuLaunchKernel cuLaunchKernel cuStreamSynchronize cuMemFree ") !=
        std::string::npos);
  driver().standin_fail("cuStreamSynchronize", 1, 719);
  CHECK(sum().call(list) == ASHLAR_E_LAUNCH);
  CHECK(said() ==
        "sum: cuStreamSynchronize returned 719, CUDA_ERROR_LAUNCH_FAILED: the CUDA context is lost, by this call or an "
        "earlier one");
}

TEST_CASE("a lost device is told by every later call") {
  const Fresh fresh;
  const Operands o;
  REQUIRE(add_bias().call(o.list) == ASHLAR_OK);
  driver().standin_lose(700);
  for (int n = 0; n < 2; ++n) {
    CHECK(add_bias().call(o.list) == ASHLAR_E_LAUNCH);
    CHECK(said().find("CUDA_ERROR_ILLEGAL_ADDRESS: the CUDA context is lost") != std::string::npos);
    CHECK(ashlar_last_error()->found == 700);
  }
  driver().standin_lose(0);
}

TEST_CASE("tensor maps are made at the launch, dimensions from the fastest") {
  const Fresh fresh;
  driver().standin_takes_cubin(0);
  const Compiled f = codegen::compile(launches::persistent::matmul().k, Target::parse("cuda-sm_90a"));
  constexpr std::int64_t M = 200, N = 264, K = 208;
  OnDevice a(bf16, {M, K}), b(bf16, {N, K}), c(bf16, {M, N});
  for (OnDevice* t : {&a, &b, &c})  // as aligned as the kernel asks
    t->tensor.data = reinterpret_cast<void*>((t->address() + 63) / 64 * 64);
  const std::vector<const void*> list = {&a.tensor, &b.tensor, &c.tensor};
  REQUIRE_MESSAGE(f.call(list) == ASHLAR_OK, said());
  REQUIRE(driver().standin_launches() == 1);
  const StandinLaunch& l = *driver().standin_launch(0);
  CHECK(l.threads == 384);
  CHECK(l.shared_bytes > 200 << 10);
  REQUIRE(l.map_count == 3);
  const auto map = [](const OnDevice& t, std::uint64_t rows, std::uint64_t columns, std::uint64_t box_rows) {
    return std::vector<std::uint64_t>{t.address(), 9, columns, rows, 2 * columns, 64, box_rows, 3};
  };
  const auto made = [&](int n) { return std::vector<std::uint64_t>(l.maps[n], l.maps[n] + 8); };
  CHECK(made(0) == map(a, M, K, 128));
  CHECK(made(1) == map(b, N, K, 256));
  CHECK(made(2) == map(c, M, N, 64));

  driver().standin_fail("cuTensorMapEncodeTiled", 2, 1);
  CHECK(f.call(list) == ASHLAR_E_LAUNCH);
  CHECK(said() == "matmul: cuTensorMapEncodeTiled returned 1, CUDA_ERROR_INVALID_VALUE");
}

TEST_CASE("what the host of a device cannot do is refused") {
  CHECK_THROWS_WITH_AS(
      codegen::emit(cuda::kernel_of<gpu_operators::AddBias>("cuda-sm_80"), Target::parse("cuda-sm_80"), codegen::Output::spirv),
      doctest::Contains("spirv: expected the target vulkan, found cuda-sm_80"), RefusalError);
  CHECK_THROWS_WITH_AS(
      codegen::emit(cuda::kernel_of<gpu_operators::AddBias>("vulkan"), Target::parse("vulkan"), codegen::Output::ptx),
      doctest::Contains("ptx: expected a target that is a CUDA device with threads, found vulkan"), RefusalError);
}
