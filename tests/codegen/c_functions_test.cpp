// Functions in C, and constants, in compiled code: formulas that call one value at a time, stages that are computed by the box,
// and elements that are numbers in the code or data of the object.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/lower/check.h"
#include "tests/support/external_operators.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using handmade::Sizes;

extern "C" {
static float ashlars_test_tone(float x) { return x * x + 0.5f; }
static std::int8_t ashlars_test_mix(std::uint8_t a, std::int16_t b, bool c) { return static_cast<std::int8_t>(c ? a : b); }
}

namespace {

ir::Kernel lowered(const Schedule& s) {
  schedule::finish(s.scheduled(), s.target());
  return lower(s.scheduled().program, options_for(s.target()));
}

struct Called {
  codegen::Compiled f;  // the words of an error are in its code
  int rc = 0;
  interp::Arguments arguments;
};

// Compiles and calls; the arguments as the call left them.
Called called(const Schedule& s, const ir::Program& algorithm, const Sizes& at, const ashlar_context* context = nullptr) {
  Called c{codegen::compile(lowered(s), s.target()), 0, handmade::arguments_for(algorithm, at)};
  std::vector<ashlar_tensor> tensors(c.arguments.size());
  std::vector<const void*> pointers;
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    interp::Array& a = c.arguments[n].array;
    const codegen::TensorType type = codegen::tensor_type(a.type);
    tensors[n].data = a.bytes.data(), tensors[n].device_type = 1, tensors[n].ndim = static_cast<std::int32_t>(a.shape.size());
    tensors[n].type_code = type.code, tensors[n].type_bits = type.bits, tensors[n].type_lanes = 1;
    tensors[n].shape = a.shape.data();
    pointers.push_back(&tensors[n]);
  }
  c.rc = c.f.call(pointers, context);
  return c;
}

void agree(const Schedule& s, const ir::Program& algorithm, const Sizes& at, const ashlar_context* context = nullptr) {
  interp::Arguments expected = handmade::arguments_for(algorithm, at);
  interp::run_algorithm(algorithm, expected);
  const Called found = called(s, algorithm, at, context);
  REQUIRE(found.rc == ASHLAR_OK);
  for (std::size_t n = 0; n < expected.size(); ++n)
    CHECK(interp::difference(found.arguments[n].array, expected[n].array) == "");
}

std::string assembly(const Schedule& s) { return codegen::emit(lowered(s), s.target(), codegen::Output::assembly); }
using text_parts::has;

const auto levels = {"x86-64", "x86-64-v3", "x86-64-v4"};

}  // namespace

TEST_CASE("a formula calls a function, in vectors too") {
  for (const Target& target : kernels::runnable(levels))
    for (const int lanes : {0, 1, 8}) {
      const lang::DefinitionScope scope;
      const Symbol N{"N"};
      const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
      const auto tone = c_function("ashlars_test_tone", ashlars_test_tone);
      const Tensor z = compute("z", {N}, [&](Var i) { return tone(x(i)) + x(i); });
      lang::bind(y, z);
      const lang::Built built = lang::build_program("toned", {x, y});
      Schedule s(built, target);
      if (lanes > 0) {
        auto [o, i] = s[z].split(s[z].spatial<1>()[0], lanes, Tail::peel);
        s[z].vectorize(i);
      }
      agree(s, built.program, {{"N", 21}});
      CHECK(has(assembly(s), "ashlars_test_tone"));
    }
}

TEST_CASE("small integers and bools cross as C has them") {
  for (const Target& target : kernels::runnable(levels)) {
    const lang::DefinitionScope scope;
    const Symbol N{"N"};
    const Tensor y = lang::make_output("y", i8, {N});
    const auto mix = c_function("ashlars_test_mix", ashlars_test_mix);
    const Tensor z = compute("z", {N}, [&](Var i) { return mix(u8(i) + 250, i16(i) - 300, i % 2 == 0); });
    lang::bind(y, z);
    const lang::Built built = lang::build_program("mixed", {y});
    for (const bool vectors : {false, true}) {
      Schedule s(built, target);
      if (vectors) s[z].vectorize(s[z].spatial<1>()[0], 8);
      agree(s, built.program, {{"N", 19}});
    }
  }
}

TEST_CASE("a function computes boxes of a stage") {
  for (const Target& target : kernels::runnable(levels)) {
    const std::string name(target.text());
    {
      external::Product o(name.c_str());
      agree(o.s, o.built.program, {{"M", 5}, {"N", 6}, {"K", 7}});
      agree(o.s, o.built.program, {{"M", 5}, {"N", 6}, {"K", 0}});
      agree(o.s, o.built.program, {{"M", 0}, {"N", 6}, {"K", 3}});
    }
    {
      external::Product o(name.c_str());
      auto [i, j] = o.s[o.out].spatial<2>();
      auto [io, jo, ii, ji] = o.s[o.out].tile(i, j, 4, 8);
      o.s[o.C].compute_at(jo);
      o.s[o.out].vectorize(ji).parallel(io);
      agree(o.s, o.built.program, {{"M", 13}, {"N", 19}, {"K", 9}});
    }
    external::Three three(name.c_str());
    agree(three.s, three.built.program, {{"N", 33}});
  }
}

TEST_CASE("where a function fails, the call does, and says so") {
  external::Tells o;
  external::fail_at = 3;
  ashlar_error error = {};
  ashlar_context context = {};
  context.size = sizeof context;
  context.error = &error;
  const Called alone = called(o.s, o.built.program, {{"N", 5}}, &context);
  CHECK(alone.rc == ASHLAR_E_LAUNCH);
  CHECK(std::string(error.what) == "tells: ashlars_test_tells returned {found}, expected {expected}");
  CHECK(error.found == 42);
  external::Tells inside;
  auto [io, ii] = inside.s[inside.out].split(inside.s[inside.out].spatial<1>()[0], 2);
  inside.s[inside.tells].compute_at(io);
  inside.s[inside.out].parallel(io);
  const Called among = called(inside.s, inside.built.program, {{"N", 5}}, &context);
  CHECK(among.rc == ASHLAR_E_LAUNCH);
  CHECK(std::string(error.what) == "tells: ashlars_test_tells or parallel_for returned {found}, expected {expected}");
  CHECK(error.found == 42);
  external::fail_at = -1;
  agree(inside.s, inside.built.program, {{"N", 5}}, &context);
}

TEST_CASE("elements of constants: numbers where the index is known, data elsewhere") {
  for (const Target& target : kernels::runnable(levels))
    for (const bool unrolled : {false, true}) {
      const lang::DefinitionScope scope;
      const Symbol N{"N", {.min = 2}};
      const Tensor in = lang::make_input("in", f32, {N + 2}), out = lang::make_output("out", f32, {N});
      const Tensor taps = constant("taps", f32, {0.25, 0.5, 0.125});
      const Axis k{"k", 3};
      const Tensor y = compute("y", {N}, [&](Var i) { return sum(in(i + k) * taps(k), k); });
      lang::bind(out, y);
      const lang::Built built = lang::build_program("filtered", {in, out});
      Schedule s(built, target);
      if (unrolled) s[y].unroll(s[y].reduction());
      agree(s, built.program, {{"N", 21}});
      const std::string kernel = ir::text(lowered(s));
      CHECK(has(kernel, "taps[") == !unrolled);
      CHECK(has(kernel, "0.125") == unrolled);
    }
  // an iteration past the end that a guard keeps from running (fuzz seed 97010597)
  {
    const lang::DefinitionScope scope;
    const Symbol N{"N", {.max = 3}};
    const Tensor in = lang::make_input("in", i32, {N}), out = lang::make_output("out", i32, {N});
    const Tensor g = constant("g", i32, {5, 6, 7});
    const Tensor y = compute("y", {N}, [&](Var i) { return in(i) + g(i); });
    lang::bind(out, y);
    const lang::Built built = lang::build_program("guarded", {in, out});
    Schedule s(built, Target::host());
    auto [o, i] = s[y].split(s[y].spatial<1>()[0], 4);
    s[y].unroll(i);
    agree(s, built.program, {{"N", 3}});
    agree(s, built.program, {{"N", 2}});
  }
  // rows of every type, in vectors, in any order
  for (const Type t : {i8, u16, i32, i64, f16, bf16, f32, f64}) {
    const lang::DefinitionScope scope;
    std::vector<int> numbers;
    for (int n = 0; n < 48; ++n) numbers.push_back(n * 5 % 49);
    const Tensor table = constant("table", t, {6, 8}, numbers), out = lang::make_output("out", t, {8, 6});
    const Tensor y = compute("y", {8, 6}, [&](Var i, Var j) { return table(j, i); });
    lang::bind(out, y);
    const lang::Built built = lang::build_program("turned", {out});
    Schedule s(built, Target::host());
    auto [i, j] = s[y].spatial<2>();
    s[y].reorder(j, i).vectorize(i).parallel(j);
    agree(s, built.program, {});
  }
}

TEST_CASE("constants in the code of a CUDA device; functions in C are refused there") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N}), v = lang::make_output("v", f32, {N});
  const Tensor table = constant("table", f32, {1.5, -2, 0.25, 8});
  const Tensor z = compute("z", {N}, [&](Var i) { return x(i) * table(i % 4); });
  lang::bind(y, z);
  Schedule s(lang::build_program("looked_up", {x, y}), Target::parse("cuda-sm_80"));
  auto [o, i] = s[z].split(s[z].spatial<1>()[0], 128);
  s[z].bind(o, gpu::block_x).bind(i, gpu::thread_x);
  const std::string ptx = codegen::emit(lowered(s), s.target(), codegen::Output::ptx);
  CAPTURE(ptx);
  CHECK(has(ptx, ".b8 "));  // the table, little endian: 1.5f and -2.0f
  CHECK(has(ptx, "{0, 0, 192, 63, 0, 0, 0, 192, 0, 0, 128, 62, 0, 0, 0, 65}"));

  const auto tone = c_function("ashlars_test_tone", ashlars_test_tone);
  const Tensor toned = compute("toned", {N}, [&](Var n) { return tone(x(n)); });
  lang::bind(v, toned);
  for (const char* target : {"cuda-sm_80", "vulkan"}) {
    CAPTURE(target);
    Schedule device(lang::build_program("refused", {x, v}), Target::parse(target));
    auto [to, ti] = device[toned].split(device[toned].spatial<1>()[0], 128);
    device[toned].bind(to, gpu::block_x).bind(ti, gpu::thread_x);
    CHECK_THROWS_WITH_AS(schedule::finish(device.scheduled(), device.target()),
                         doctest::Contains("ashlars_test_tone, which toned calls"), RefusalError);
  }
}
