// Machine code of expressions that share their parts: as long as they have nodes, and with the values that the algorithm has.
#include "tests/support/growth_chains.h"

#include <algorithm>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/step.h>
#include <doctest/doctest.h>

#include "tests/codegen/kernels.h"

using namespace ashlar;

namespace {

ir::Kernel lowered(const Schedule& s) {
  LowerOptions o;
  o.vector_bits = s.target().vector_bits();
  o.vector_registers = s.target().vector_registers();
  return lower(s.scheduled().program, o);
}

template <class O, class... A>
void same(A... a) {
  O o(a...);
  const lang::Built built = o.build();
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"})) {
    Schedule s(built, target);
    auto [i] = s[o.stages.back()].template spatial<1>();
    s[o.stages.back()].vectorize(i, target.lanes(f32));
    const codegen::Compiled f = codegen::compile(lowered(s), target);
    for (std::int64_t n : {1, 7, 16, 61}) {
      CAPTURE(n);
      interp::Arguments arguments;
      arguments.emplace_back(
          interp::Array::make(f32, {n}, [](std::span<const std::int64_t> at) { return static_cast<double>(at[0] * 7 % 61); }));
      arguments.emplace_back(interp::Array::zeros(f32, {n}));
      interp::Array result = arguments[1].array;
      ashlar_tensor tensors[2] = {};
      void* const data[] = {arguments[0].array.bytes.data(), result.bytes.data()};
      for (int k = 0; k < 2; ++k) {
        tensors[k].data = data[k], tensors[k].device_type = 1, tensors[k].ndim = 1, tensors[k].shape = &n;
        tensors[k].type_code = 2, tensors[k].type_bits = 32, tensors[k].type_lanes = 1;
      }
      const void* const pointers[] = {&tensors[0], &tensors[1]};
      REQUIRE(f.call(pointers) == ASHLAR_OK);
      interp::run_algorithm(built.program, arguments);
      CHECK(interp::difference(result, arguments[1].array) == "");
    }
  }
}

// Lines of LLVM's text.
template <class O, class... A>
std::size_t lines(A... a) {
  O o(a...);
  Schedule s(o.build(), Target::parse("x86-64-v3"));
  const std::string text = codegen::emit(lowered(s), s.target(), codegen::Output::llvm);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("values that are used twice, again and again") {
  same<growth::Doubled>(30);
  same<growth::Choices>(30, false);
  same<growth::Choices>(30, true);
  same<growth::Positions>(30);
  same<growth::Conditions>(30);
  same<growth::Guarded>(20);
}

TEST_CASE("what is emitted grows as the nodes do") {
  CHECK(lines<growth::Doubled>(60) < 2 * lines<growth::Doubled>(30) + 64);
  CHECK(lines<growth::Choices>(60, false) < 2 * lines<growth::Choices>(30, false) + 64);
  CHECK(lines<growth::Guarded>(40) < 2.3 * static_cast<double>(lines<growth::Guarded>(20)) + 64);
}

TEST_CASE("what is emitted grows as the stages do") {
  CHECK(lines<growth::Stored>(100) <= 15 * lines<growth::Stored>(10));
  CHECK(lines<growth::Filters>(100) <= 15 * lines<growth::Filters>(10));
}

namespace {
// A thread an element; the object holds the device's code.
template <class O, class... A>
std::size_t device_bytes(const char* target, A... a) {
  O o(a...);
  Schedule s(o.build(), Target::parse(target));
  auto [i] = s[o.stages.back()].template spatial<1>();
  auto [block, thread] = s[o.stages.back()].split(i, 64);
  s[o.stages.back()].bind(block, gpu::block_x).bind(thread, gpu::thread_x);
  return codegen::emit(lower(s.scheduled().program, options_for(s.target())), s.target(), codegen::Output::object).size();
}

void on(const char* target) {
  CAPTURE(target);
  const auto grows = [](std::size_t small, std::size_t large) {
    CHECK(static_cast<double>(large) < 2.3 * static_cast<double>(small) + 1024);
  };
  grows(device_bytes<growth::Doubled>(target, 30), device_bytes<growth::Doubled>(target, 60));
  grows(device_bytes<growth::Choices>(target, 30, false), device_bytes<growth::Choices>(target, 60, false));
  grows(device_bytes<growth::Choices>(target, 30, true), device_bytes<growth::Choices>(target, 60, true));
  grows(device_bytes<growth::Positions>(target, 30), device_bytes<growth::Positions>(target, 60));
  grows(device_bytes<growth::Conditions>(target, 30), device_bytes<growth::Conditions>(target, 60));
  grows(device_bytes<growth::Guarded>(target, 15), device_bytes<growth::Guarded>(target, 30));
}
}  // namespace

TEST_CASE("the same for CUDA") { on("cuda-sm_80"); }
#ifdef ASHLAR_HAS_SPIRV
TEST_CASE("the same for Vulkan") { on("vulkan"); }
#endif
