// A library for several targets on host memory: which processor's variant runs, through each of the entries.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/runtime/runtime.h>
#include <which.h>
#include <which_devices.h>
#include <which_v2.h>
#include <which_v3.h>

#include "tests/library/processor.h"
#include "tests/skip.h"
#include "tests/support/sentence.h"

using ashlar::Target;

namespace {

constexpr std::int64_t M = 3, N = 70;

struct Host {
  std::vector<std::int32_t> x = std::vector<std::int32_t>(M * N), y = std::vector<std::int32_t>(M * N, -1);
  std::int64_t shape[2] = {M, N};
  ashlar_tensor X{}, Y{};
  Host() {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<std::int32_t>(k);
    X.data = x.data(), X.device_type = 1, X.ndim = 2, X.type_bits = 32, X.type_lanes = 1, X.shape = shape;
    Y = X, Y.data = y.data();
  }
  // The number of the variant that filled y; -1 where it is not filled.
  int variant() const {
    const int number = y[0];
    for (std::size_t k = 0; k < y.size(); ++k)
      if (y[k] != 2 * x[k] + number) return -1;
    return number;
  }
};

std::string said() { return test::last_error(); }

}  // namespace

TEST_CASE("the best variant of the library that this processor has runs") {
  const int best = library::best();
  Host a;
  REQUIRE_MESSAGE(which(&a.X, &a.Y) == ASHLAR_OK, said());
  CHECK(a.variant() == best);
  Host b;
  const int rc = which_v3(&b.X, &b.Y);
  if (best >= 2) {
    CHECK(rc == ASHLAR_OK);
    CHECK(b.variant() == std::min(best, 3));
  } else {
    CHECK(rc == ASHLAR_E_TARGET);
    CHECK_MESSAGE(said().find("which_v3: x86-64-v3 needs ") == 0, said());
    CHECK_MESSAGE(said().find("; x86-64-v2 needs ") != std::string::npos, said());
  }
  Host c;
  REQUIRE(which_v2(&c.X, &c.Y) == ASHLAR_OK);
  CHECK(c.variant() == std::min(best, 2));
}

TEST_CASE("each variant runs where it is named, or says what the processor lacks") {
  for (const library::Processor& p : library::processors) {
    CAPTURE(p.target);
    const Target target = Target::parse(p.target);
    std::string lacks;
    ashlar_set_target(p.target);
    Host a;
    const int rc = which(&a.X, &a.Y);
    if (target.runs_here(&lacks)) {
      CHECK(rc == ASHLAR_OK);
      CHECK(a.variant() == p.number);
    } else {
      skip::because("running the variant for " + std::string(p.target), "this processor has no " + lacks);
      CHECK(rc == ASHLAR_E_TARGET);
      CHECK(a.y == std::vector<std::int32_t>(M * N, -1));
      CHECK_MESSAGE(said().find("which: " + std::string(p.target) + " needs ") == 0, said());
      CHECK_MESSAGE(said().find(lacks) != std::string::npos, said());
    }
  }
  ashlar_set_target("armv7");
  Host a;
  CHECK(which(&a.X, &a.Y) == ASHLAR_E_TARGET);
  CHECK_MESSAGE(
      said().find("which: armv7 is asked for (ASHLAR_TARGET, ashlar_set_target), and the targets are zen4, x86-64-v4, "
                  "x86-64-v3, x86-64-v2, x86-64, cuda-sm_90a, cuda-sm_80") == 0,
      said());
  ashlar_set_target(nullptr);
  CHECK(which(&a.X, &a.Y) == ASHLAR_OK);
  CHECK(a.variant() == library::best());
}

TEST_CASE("f_with and f_run choose alike, and the workspace is enough for every variant") {
  Host a;
  const which_args args = {a.x.data(), a.y.data(), M, N, 0, 0};
  ashlar_error error = {};
  ashlar_context context = {};
  context.size = sizeof context, context.error = &error;
  const std::size_t bytes = which_workspace_bytes(&args, &context);
  CHECK(bytes >= M * N * sizeof(std::int32_t));
  std::vector<unsigned char> memory(bytes + WHICH_WORKSPACE_ALIGN);
  const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
  context.workspace = reinterpret_cast<void*>((at + WHICH_WORKSPACE_ALIGN - 1) / WHICH_WORKSPACE_ALIGN * WHICH_WORKSPACE_ALIGN);
  context.workspace_bytes = bytes;
  REQUIRE(which_with(&a.X, &a.Y, &context) == ASHLAR_OK);
  CHECK(a.variant() == library::best());
  std::fill(a.y.begin(), a.y.end(), -1);
  REQUIRE(which_run(&args, &context) == ASHLAR_OK);
  CHECK(a.variant() == library::best());
  context.flags = ASHLAR_ON_HOST;
  REQUIRE(which_run(&args, &context) == ASHLAR_OK);
  context.workspace_bytes = 8;
  CHECK(which_run(&args, &context) == ASHLAR_E_MEMORY);
  CHECK(test::sentence(error) == "which: the workspace has 8 bytes, expected at least 896");
}

TEST_CASE("a wrong call is refused as by a library for one target, under the function's own name") {
  Host a;
  a.X.type_bits = 16;
  CHECK(which(&a.X, &a.Y) == ASHLAR_E_TYPE);
  CHECK(said() == "which: x is i16, expected i32");
  a.X.type_bits = 32;
  CHECK(which(nullptr, &a.Y) == ASHLAR_E_NULL);
  CHECK(said() == "which: x is NULL, expected a tensor");
  a.X.device_type = 10;
  CHECK(which(&a.X, &a.Y) == ASHLAR_E_DEVICE);
  CHECK_MESSAGE(
      said().find("which: x lies on a device of type 10, and the targets are zen4, x86-64-v4, x86-64-v3, x86-64-v2, x86-64, "
                  "cuda-sm_90a, cuda-sm_80") == 0,
      said());
  CHECK(a.y == std::vector<std::int32_t>(M * N, -1));
}

TEST_CASE("a library of devices alone refuses host memory, whatever is allowed") {
  Host a;
  CHECK(which_devices(&a.X, &a.Y) == ASHLAR_E_DEVICE);
  CHECK_MESSAGE(said().find("which_devices: x lies on the host, and the targets are cuda-sm_80") == 0, said());
  ashlar_error error = {};
  ashlar_context context = {};
  context.size = sizeof context, context.error = &error, context.flags = ASHLAR_ON_CUDA | ASHLAR_OR_CPU;
  CHECK(which_devices_with(&a.X, &a.Y, &context) == ASHLAR_E_DEVICE);
  CHECK(test::sentence(error) == "which_devices: x lies on the host, expected a CUDA device");
  CHECK(a.y == std::vector<std::int32_t>(M * N, -1));
}
