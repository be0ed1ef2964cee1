// The same library on memory of a CUDA device, by the stand-in driver, which launches nothing: that the right variant goes to
// the device, and what happens where it cannot.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <which.h>

#include "tests/cuda/driver.h"
#include "tests/library/processor.h"

namespace {

const cuda::Standin& driver() { return cuda::Standin::open(ASHLAR_STANDIN); }

struct Fresh : cuda::Fresh {
  Fresh() : cuda::Fresh(::driver()) {}
};

enum { kManaged = 13, kDevice = 2 };  // device types
enum {
  kCudaMaxThreadsPerBlock = 1,
  kCudaMaxGridX = 5,
  kCudaCapabilityMajor = 75,
  kCudaCapabilityMinor = 76
};  // CUdevice_attribute

struct Call {
  explicit Call(std::int32_t device_type, std::int64_t rows = 3) : shape{rows, 70} {
    x.resize(static_cast<std::size_t>(rows * 70), 5), y.resize(x.size(), -1);
    X.data = x.data(), X.device_type = device_type, X.ndim = 2, X.type_bits = 32, X.type_lanes = 1, X.shape = shape;
    Y = X, Y.data = y.data();
    ctx.size = sizeof ctx, ctx.error = &error;
  }
  int run(std::uint32_t flags) {
    error = {};
    ctx.flags = flags;
    std::fill(y.begin(), y.end(), -1);
    return which_with(&X, &Y, &ctx);
  }
  int run_pointers(std::uint32_t flags) {
    error = {};
    ctx.flags = flags | ASHLAR_ON_CUDA;
    std::fill(y.begin(), y.end(), -1);
    const which_args args = {x.data(), y.data(), shape[0], 70, 0, 0};
    return which_run(&args, &ctx);
  }
  std::string sentence() const { return cuda::sentence(error); }
  bool by_processor() const {
    return std::all_of(y.begin(), y.end(), [](std::int32_t v) { return v == 10 + library::best(); });
  }
  bool untouched() const {
    return std::all_of(y.begin(), y.end(), [](std::int32_t v) { return v == -1; });
  }
  std::int64_t shape[2];
  std::vector<std::int32_t> x, y;
  ashlar_tensor X{}, Y{};
  ashlar_error error{};
  ashlar_context ctx{};
};

// Without the permission the code and the sentence; with it the processor's result, on memory that it can reach, and the same
// sentence in the context's error; never on memory of the device alone.
void falls_back(int code, const std::string& sentence, std::int64_t rows = 3) {
  Call c(kManaged, rows);
  CHECK(c.run(0) == code);
  CHECK(c.sentence() == sentence);
  CHECK(c.untouched());
  CHECK_MESSAGE(c.run(ASHLAR_OR_CPU) == ASHLAR_OK, c.sentence());
  CHECK(c.by_processor());
  CHECK(c.error.code == code);
  CHECK(c.sentence() == sentence);
  Call own(kDevice, rows);
  CHECK(own.run(ASHLAR_OR_CPU) == code);
  CHECK(own.untouched());
  // pointers: the processor needs a workspace of its own
  static std::int32_t asked_for = 0;  // the device type of the latest workspace
  c.ctx.allocate = [](void*, std::size_t bytes, std::size_t align, std::int32_t type, std::int32_t) -> void* {
    asked_for = type;
    return std::aligned_alloc(align, (bytes + align - 1) / align * align);
  };
  c.ctx.release = [](void*, void* block, std::int32_t, std::int32_t) { std::free(block); };
  CHECK(c.run_pointers(0) == code);
  CHECK(c.untouched());
  CHECK_MESSAGE(c.run_pointers(ASHLAR_OR_CPU) == ASHLAR_OK, c.sentence());
  CHECK(c.by_processor());
  CHECK(asked_for == 1);
  CHECK(c.sentence() == sentence);
}

}  // namespace

TEST_CASE("memory of a CUDA device calls the variant for its capability") {
  const Fresh fresh;
  driver().standin_takes_cubin(0);
  Call c(kDevice);
  REQUIRE_MESSAGE(c.run(0) == ASHLAR_OK, c.sentence());
  CHECK(driver().standin_launches() == 2);
  CHECK(driver().standin_launch(0)->from_ptx == 1);
  Call p(kDevice);  // pointers take the same way
  REQUIRE_MESSAGE(p.run_pointers(0) == ASHLAR_OK, p.sentence());
  CHECK(driver().standin_launches() == 4);

  const Fresh older;
  driver().standin_attribute(kCudaCapabilityMajor, 8);
  driver().standin_attribute(kCudaCapabilityMinor, 6);
  REQUIRE_MESSAGE(c.run(0) == ASHLAR_OK, c.sentence());  // sm_80, after sm_90a was refused
  CHECK(driver().standin_launches() == 2);
  REQUIRE_MESSAGE(c.run_pointers(0) == ASHLAR_OK, c.sentence());
  CHECK(driver().standin_launches() == 4);
  CHECK(c.untouched());
}

TEST_CASE("with the permission a device that can run the kernel still runs it") {
  const Fresh fresh;
  Call c(kManaged);
  REQUIRE(c.run(ASHLAR_OR_CPU) == ASHLAR_OK);
  CHECK(driver().standin_launches() == 2);
  CHECK(c.untouched());  // the stand-in computes nothing
  CHECK(c.error.code == 0);
}

TEST_CASE("a device that is too old") {
  const Fresh fresh;
  driver().standin_attribute(kCudaCapabilityMajor, 7);
  driver().standin_attribute(kCudaCapabilityMinor, 5);
  falls_back(ASHLAR_E_TARGET,
             "which: made for sm_80, compute capability 80 or later (times ten); Stand-in 0 has 75 (none of cuda-sm_90a, "
             "cuda-sm_80 fits)");
  CHECK(driver().standin_launches() == 0);
}

TEST_CASE("a block of more threads than the device has") {
  const Fresh fresh;
  driver().standin_attribute(kCudaMaxThreadsPerBlock, 32);
  falls_back(ASHLAR_E_TARGET,
             "which: a block of launch `which` takes 64 threads, Stand-in 0 has 32 (none of cuda-sm_90a, cuda-sm_80 fits)");
  CHECK(driver().standin_launches() == 0);
}

TEST_CASE("a grid past the device's limit") {
  const Fresh fresh;
  driver().standin_attribute(kCudaMaxGridX, 1);
  falls_back(ASHLAR_E_LAUNCH, "which: launch `which` has 2 blocks along x, expected at most 1");
  CHECK(driver().standin_launches() == 0);
}

TEST_CASE("a driver that fails before anything is launched") {
  const Fresh fresh;
  Call c(kManaged);
  driver().standin_fail("cuCtxGetDevice", 1, 1);
  CHECK(c.run(0) == ASHLAR_E_LAUNCH);
  CHECK(c.sentence() == "which: cuCtxGetDevice returned 1, CUDA_ERROR_INVALID_VALUE");
  driver().standin_fail("cuCtxGetDevice", 1, 1);
  CHECK(c.run(ASHLAR_OR_CPU) == ASHLAR_OK);
  CHECK(c.by_processor());
}

TEST_CASE("a launch that fails after another one does not fall back: the device has written") {
  const Fresh fresh;
  Call c(kManaged);
  REQUIRE(c.run(0) == ASHLAR_OK);
  driver().standin_fail("cuLaunchKernel", 2, 701);
  CHECK(c.run(ASHLAR_OR_CPU) == ASHLAR_E_LAUNCH);
  CHECK(c.sentence() == "which: cuLaunchKernel returned 701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  CHECK(c.untouched());
}

TEST_CASE("a lost device loses what was computed on it: a code and a sentence, with the permission too") {
  const Fresh fresh;
  Call c(kManaged);
  REQUIRE(c.run(0) == ASHLAR_OK);
  driver().standin_lose(719);
  for (const std::uint32_t flags : {0, static_cast<int>(ASHLAR_OR_CPU)}) {
    CAPTURE(flags);
    CHECK(c.run(flags) == ASHLAR_E_LAUNCH);
    CHECK(c.sentence() ==
          "which: cuCtxGetCurrent returned 719, CUDA_ERROR_LAUNCH_FAILED: the CUDA context is lost, by this call or an earlier "
          "one");
    CHECK(c.error.found == 719);
    CHECK(c.untouched());
    CHECK(c.run_pointers(flags) == ASHLAR_E_LAUNCH);
    CHECK(c.untouched());
  }
  Call host(1);  // memory that was never the device's
  CHECK(host.run(0) == ASHLAR_OK);
  CHECK(host.by_processor());
}

TEST_CASE("before the processor touches the memory, the stream is waited for, in its own context") {
  const Fresh fresh;
  Call c(kManaged);
  c.ctx.stream = driver().standin_new_stream(driver().standin_new_context(0));
  driver().standin_attribute(kCudaCapabilityMajor, 7);
  REQUIRE_MESSAGE(c.run(ASHLAR_OR_CPU) == ASHLAR_OK, c.sentence());
  CHECK(c.by_processor());
  const std::string calls = driver().standin_calls();
  CHECK(calls.find("cuCtxPushCurrent cuCtxGetDevice cuStreamSynchronize cuCtxPopCurrent ") != std::string::npos);
  CHECK(driver().standin_current() == fresh.context);

  driver().standin_fail("cuStreamSynchronize", 1, 700);  // what the stream held has failed
  CHECK(c.run(ASHLAR_OR_CPU) == ASHLAR_E_LAUNCH);
  CHECK(c.sentence() ==
        "which: cuStreamSynchronize returned 700, CUDA_ERROR_ILLEGAL_ADDRESS: the CUDA context is lost, by this call or an "
        "earlier one");
  CHECK(c.untouched());
}
