// Calls from several threads at once that share nothing but the runtime: errors, templates of sentences, features of the
// processor, libraries. Under the thread sanitizer these are searched for races (`./dev test --sanitize=thread`).
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>

#include <ashlar/runtime/cpu.h>

#include "kernels.h"

using namespace kernels;

namespace {

// Starts all at once, so that what the first call makes is made by several.
template <class Body>
void at_once(int threads, Body body) {
  std::atomic<int> ready{0};
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k)
    all.emplace_back([&, k] {
      for (++ready; ready < threads;) std::this_thread::yield();
      body(k);
    });
  for (std::thread& t : all) t.join();
}

struct FillArgs {
  std::int32_t* y;
  std::int64_t N;
};

template <int Number>
int fill(const void* args, const ashlar_context*) {
  const auto& a = *static_cast<const FillArgs*>(args);
  for (std::int64_t i = 0; i < a.N; ++i) a.y[i] = Number;
  return ASHLAR_OK;
}
std::size_t no_bytes(const void*, const ashlar_context*) { return 0; }

const ashlar_abi1_term terms[] = {{1, 0}};
const ashlar_abi1_dim dims[] = {{"N", 0, terms, 1, -1}};
const ashlar_abi1_argument arguments[] = {
    {"y", dims, nullptr, 0, ASHLAR_ABI1_OUTPUT, 1, ASHLAR_ABI1_DENSE, 0, offsetof(FillArgs, y), 0, 0, 32, {}}};
const ashlar_abi1_symbol symbols[] = {{"N", 0, INT64_MAX, 1, offsetof(FillArgs, N), 0}};

template <int Number>
ashlar_abi1_desc desc(std::uint64_t features) {
  return {1,
          sizeof(ashlar_abi1_desc),
          "fill",
          1,
          0,
          features,
          1,
          1,
          0,
          0,
          sizeof(FillArgs),
          arguments,
          symbols,
          nullptr,
          nullptr,
          nullptr,
          &no_bytes,
          64,
          &fill<Number>,
          nullptr};
}

}  // namespace

TEST_CASE("each thread has its own last error, and sentences are kept whichever thread makes them first") {
  std::atomic<int> wrong{0};
  at_once(4, [&](int k) {
    for (int repeat = 0; repeat < 60; ++repeat) {
      const std::int64_t rows = 3 + repeat;  // in all threads alike: a new sentence is made by several at once
      Array<float> A({5 + k, 8}), B({rows == 8 ? 9 : rows, 33}), bias({33}), C({5 + k, 33});
      wrong += affine_f(&A, &B, &bias, 1, &C) != ASHLAR_E_SHAPE;
      const std::string said = sentence(*ashlar_last_error());
      wrong += said != "affine: B.shape[0] is " + std::to_string(B.shape[0]) + ", expected 8 (K, from A.shape[1])";
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("contexts of their own: each call's error and sums stay with its thread") {
  std::atomic<int> wrong{0};
  at_once(4, [&](int k) {
    ashlar_error error{};
    ashlar_context ctx;
    ashlar_default_context(&ctx);
    ctx.error = &error;
    for (int repeat = 0; repeat < 200; ++repeat) {
      const std::int64_t n = 3 + (repeat + k) % 40;
      Array<std::int32_t> x({n + 4}, k + 1), y({n}), z({n});
      wrong += window_with(&x, &y, &z, &ctx) != ASHLAR_OK;
      for (const std::int32_t v : y.data) wrong += v != 2 * (k + 1);
      Array<std::int32_t> short_y({n - 1});
      wrong += window_with(&x, &short_y, &z, &ctx) == ASHLAR_OK || error.found != n - 1;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("one library and one processor for all threads") {
  const ashlar_abi1_desc never = desc<9>(std::uint64_t{1} << 60), here = desc<2>(1);
  const ashlar_abi1_variant variants[] = {{"ahead", &never, &fill<9>, &no_bytes, nullptr},
                                          {"here", &here, &fill<2>, &no_bytes, nullptr}};
  const ashlar_abi1_library library = {1, sizeof library, "fill", 2, 0, variants};
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> missing{0};
  at_once(4, [&](int) {
    for (int repeat = 0; repeat < 200; ++repeat) {
      Array<std::int32_t> y({1 + repeat % 7}, -1);
      const void* const list[] = {&y.tensor};
      wrong += ashlar_abi1_library_call(&library, list, nullptr) != ASHLAR_OK;
      for (const std::int32_t v : y.data) wrong += v != 2;
      const std::uint64_t lacks = ashlar_cpu_missing(std::uint64_t{1} << 60 | 1);
      std::uint64_t first = 0;
      if (!missing.compare_exchange_strong(first, lacks)) wrong += first != lacks;
    }
  });
  CHECK(wrong == 0);
}
