// One library for Vulkan devices of several sizes: the largest profile that the device has runs, and one that has none is told
// what is missing.
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/runtime/runtime.h>
#include <ashlar/runtime/vulkan.h>

#include <profile.h>

#include "tests/skip.h"
#include "tests/vulkan/device.h"
#include "tests/vulkan/failing_loader.h"

TEST_CASE("the profile follows the limits of the device") {
  if (!vulkan::TestDevice::get()) return;
  REQUIRE(setenv("ASHLAR_VULKAN_LIBRARY", ASHLAR_LOADER, 1) == 0);
  void* library = dlopen(ASHLAR_LOADER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE((library != nullptr));
  void (*limits)(std::uint32_t, std::uint32_t) = nullptr;
  *reinterpret_cast<void**>(&limits) = dlsym(library, "loader_limits");
  REQUIRE((limits != nullptr));
  struct Row {
    std::uint32_t threads;
    int runs;  // 0: none
  };
  for (const Row& row : {Row{1024, 1024}, Row{1023, 256}, Row{256, 256}, Row{128, 128}, Row{64, 0}}) {
    CAPTURE(row.threads);
    limits(row.threads, 48 << 10);
    ashlar_error error = {};
    ashlar_vulkan_queue* queue = nullptr;
    REQUIRE_MESSAGE(ashlar_vulkan_open(nullptr, &queue, &error) == ASHLAR_OK, vulkan::sentence(error));
    ashlar_vulkan_buffer *x = nullptr, *y = nullptr;
    std::vector<std::int32_t> values(1000, 5);
    REQUIRE(ashlar_vulkan_alloc(queue, 4000, &x, &error) == ASHLAR_OK);
    REQUIRE(ashlar_vulkan_alloc(queue, 4000, &y, &error) == ASHLAR_OK);
    REQUIRE(ashlar_vulkan_upload(x, 0, values.data(), 4000, &error) == ASHLAR_OK);
    std::int64_t shape[] = {1000};
    ashlar_tensor X = {};
    X.data = x, X.device_type = 7, X.ndim = 1, X.type_bits = 32, X.type_lanes = 1, X.shape = shape;
    ashlar_tensor Y = X;
    Y.data = y;
    ashlar_context context = {};
    context.size = sizeof context, context.error = &error;
    const int prepared = profile_prepare(&X, &Y, &context), rc = profile_with(&X, &Y, &context);
    CHECK(prepared == rc);
    if (row.runs == 0) {
      CHECK(rc == ASHLAR_E_TARGET);
      const std::string text = vulkan::sentence(error);
      CHECK_MESSAGE(text.find("profile: a block of launch `profile` takes 128 threads, ") == 0, text);
      CHECK_MESSAGE(text.find(" has 64 (none of vulkan-1024, vulkan-256, vulkan-128 fits)") != std::string::npos, text);
    } else {
      REQUIRE_MESSAGE(rc == ASHLAR_OK, vulkan::sentence(error));
      REQUIRE(ashlar_vulkan_download(y, 0, values.data(), 4000, &error) == ASHLAR_OK);
      CHECK(values == std::vector<std::int32_t>(1000, 5 + row.runs));
    }
    ashlar_vulkan_free(x);
    ashlar_vulkan_free(y);
    ashlar_vulkan_close(queue);
  }
}
