// Functions in C inside formulas: what they give, and what a declaration or a call refuses.
#include <cmath>

#include <ashlar/ir/print.h>
#include <ashlar/lang.h>

#include "tests/support/refused.h"
#include "run.h"

using namespace ashlar;

extern "C" {
static float test_tone(float x) { return x * x + 0.5f; }
static std::int8_t test_mix(std::uint8_t a, std::int16_t b, bool c) { return static_cast<std::int8_t>(c ? a : b); }
static double test_wide(std::uint64_t a) { return static_cast<double>(a); }
static float test_other(float x) { return x; }
}

TEST_CASE("a function is called with the values of its operands") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const auto tone = c_function("test_tone", test_tone);
  lang::bind(y, compute("y", {N}, [&](Var i) { return tone(x(i)) + tone(2); }));
  CHECK(run({x, y}, {counting(f32, {3}), interp::Array::zeros(f32, {3})}) == std::vector<double>{6, 9, 14});
  CHECK(ir::text(lang::build_program("p", {x, y}).program).find("test_tone(x[i0]) + test_tone(2.0)") != std::string::npos);
}

TEST_CASE("every type of number goes in and comes out") {
  const lang::DefinitionScope scope;
  const Tensor y = lang::make_output("y", i8, {4}), z = lang::make_output("z", f64, {2});
  const auto mix = c_function("test_mix", test_mix);
  lang::bind(y, compute("y", {4}, [&](Var i) { return mix(u8(i) + 250, i16(i) - 300, i % 2 == 0); }));
  CHECK(run({y}, {interp::Array::zeros(i8, {4})}) == std::vector<double>{-6, -43, -4, -41});
  const auto wide = c_function("test_wide", test_wide);
  lang::bind(z, compute("z", {2}, [&](Var i) { return wide(u64(0) - u64(i)); }));
  CHECK(run({z}, {interp::Array::zeros(f64, {2})}) == std::vector<double>{0, 18446744073709551615.0});
}

TEST_CASE("what functions refuse") {
  const lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i32, {4}), y = lang::make_output("y", f32, {4});
  const auto tone = c_function("test_tone", test_tone);
  const auto says = [](const std::function<void()>& f, const char* what) {
    const std::string text = refused(f);
    CAPTURE(text);
    CHECK(text.find(what) != std::string::npos);
  };
  says([&] { compute("y", {4}, [&](Var i) { return tone(x(i)); }); },
       "test_tone: expected f32 (convert by name: f32(x)), found i32");
  says([] { c_function("a b", test_tone); }, "c_function: expected a symbol that is a C identifier, found \"a b\"");
  says([] { c_function("ashlar_x", test_tone); }, "does not begin with ashlar_");
  says([] { c_function("test_tone", test_wide); },
       "test_tone: expected f32 test_tone(f32), as it was declared before, found f64 test_tone(u64)");
  says([] { c_function("test_tone", test_other); }, "the function that was declared by this name");
  // declared by its symbol alone, it can be compiled for and not run here
  const auto later = c_function<float(float)>("test_is_elsewhere");
  lang::bind(y, compute("y", {4}, [&](Var i) { return later(f32(i)); }));
  interp::Arguments args{interp::Array::zeros(f32, {4})};
  const ir::Program p = lang::build_program("p", {y}).program;
  try {
    interp::run_algorithm(p, args);
    CHECK(false);
  } catch (const interp::RunError& e) {
    CHECK(std::string(e.what()).find("calls test_is_elsewhere, which was declared by its symbol alone") != std::string::npos);
  }
  // a function is no part of an extent or a bound: those are known before anything runs, or read from tables
  says(
      [&] {
        compute("z", {4}, [&](Var i) {
          Axis k{"k", tone(f32(i))};
          return sum(f32(k), k);
        });
      },
      "an integer");
}
