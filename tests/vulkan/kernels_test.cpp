// Whole kernels on the device equal the interpreter's run of the same launches, with the validation layer on and silent.
#include <cstring>
#include <random>

#include <doctest/doctest.h>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/refusal.h>

#include "tests/vulkan/device.h"
#include "tests/vulkan/programs.h"

using namespace launches;
using interp::Array;
using vulkan::Bytes;
using vulkan::TestDevice;

namespace {

#define NEEDS_DEVICE \
  if (!TestDevice::get()) return

Array random_array(Type t, std::vector<std::int64_t> shape, unsigned seed, bool small_integers = false) {
  std::mt19937 random(seed);
  return Array::make(t, std::move(shape), [&](std::span<const std::int64_t>) {
    return small_integers ? static_cast<double>(static_cast<int>(random() % 17) - 8)
                          : static_cast<double>(static_cast<int>(random() % 20001) - 10000) / 1024;
  });
}

// Runs both, and compares every argument.
void agree(const ir::Kernel& k, std::vector<Array> arrays, const codegen::spirv::Options& options = {}) {
  interp::Arguments arguments;
  for (const Array& a : arrays) arguments.emplace_back(a);
  const auto symbols = interp::solve_symbols(k.arguments, k.argument_buffers, k.symbols, k.assumptions, arguments);
  interp::Options races;
  races.races = true;
  interp::run(k, arguments, races);
  std::vector<Bytes> memory;
  for (const Array& a : arrays) {
    Bytes bytes(a.bytes.size());
    std::memcpy(bytes.data(), a.bytes.data(), bytes.size());
    memory.push_back(std::move(bytes));
  }
  REQUIRE(TestDevice::get()->run(k, memory, symbols, options) == "");
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    std::memcpy(arrays[n].bytes.data(), memory[n].data(), memory[n].size());
    INFO(k.name << ", argument " << n);
    CHECK(interp::difference(arrays[n], arguments[n].array) == "");
  }
  CHECK(TestDevice::get()->said() == "");
  TestDevice::get()->forget();
}

}  // namespace

TEST_CASE("elementwise with broadcasting") {
  NEEDS_DEVICE;
  for (auto [m, n] : {std::pair{5, 7}, {1, 1}, {33, 64}})
    agree(programs::elementwise().k, {random_array(f32, {m, n}, 1), random_array(f32, {n}, 2), Array::zeros(f32, {m, n})});
  for (auto [m, n] : {std::pair{5, 8}, {33, 64}})
    agree(programs::elementwise_vectors().k,
          {random_array(f32, {m, n}, 1), random_array(f32, {n}, 2), Array::zeros(f32, {m, n})});
}

TEST_CASE("the sum of a large vector, in two launches through the workspace") {
  NEEDS_DEVICE;
  for (std::int64_t n : {1, 63, 5000}) {
    agree(programs::large_sum(f32).k, {random_array(f32, {n}, 3), Array::zeros(f32, {1})});
    agree(programs::large_sum(i32).k, {random_array(i32, {n}, 4, true), Array::zeros(i32, {1})});
  }
}

TEST_CASE("transposition through shared memory") {
  NEEDS_DEVICE;
  for (auto [m, n] : {std::pair{5, 7}, {16, 16}, {40, 65}})
    agree(programs::transposition().k, {random_array(f32, {m, n}, 5), Array::zeros(f32, {n, m})});
}

TEST_CASE("a matrix product with shared memory and register tiles") {
  NEEDS_DEVICE;
  for (auto [m, k, n] : {std::tuple{32, 8, 32}, {45, 19, 70}, {1, 1, 1}})
    agree(programs::matmul().k, {random_array(f32, {m, k}, 6), random_array(f32, {k, n}, 7), Array::zeros(f32, {m, n})});
}

TEST_CASE("softmax of rows") {
  NEEDS_DEVICE;
  for (auto [m, n] : {std::pair{3, 100}, {5, 31}, {1, 1}})
    agree(programs::row_softmax().k, {random_array(f32, {m, n}, 8), Array::zeros(f32, {m, n})});
}

TEST_CASE("shuffles and barriers in a warp, where the device's subgroups have its lanes, and an error elsewhere") {
  NEEDS_DEVICE;
  const auto lanes = static_cast<int>(ashlar_vulkan_subgroup(TestDevice::get()->queue()));
  for (Type t : {f32, i64, i8, f16})
    agree(programs::warp_sums(t, lanes).k,
          {random_array(t, {9, lanes}, 9, true), Array::zeros(t, {9}), Array::zeros(t, {9, lanes})});
  for (Type t : {f32, i64})
    agree(programs::warp_reversed(t, lanes).k, {random_array(t, {9, lanes}, 10, true), Array::zeros(t, {9, lanes})});
  std::vector<Bytes> memory = {Bytes(static_cast<std::size_t>(2 * lanes) * 4), Bytes(4),
                               Bytes(static_cast<std::size_t>(2 * lanes) * 4)};
  const Builder wider = programs::warp_sums(f32, 2 * lanes);
  const std::string error = TestDevice::get()->run(wider.k, memory, {{wider.k.symbols.begin()->first, 1}});
  CHECK(error.find("needs subgroups of " + std::to_string(2 * lanes) + " lanes") != std::string::npos);
}

TEST_CASE("with 32-bit indices, and without the optimizer, the results are the same") {
  NEEDS_DEVICE;
  agree(programs::matmul().k, {random_array(f32, {45, 19}, 6), random_array(f32, {19, 70}, 7), Array::zeros(f32, {45, 70})},
        {.index32 = true});
  agree(programs::transposition().k, {random_array(f32, {40, 65}, 5), Array::zeros(f32, {65, 40})}, {.optimize = false});
}
