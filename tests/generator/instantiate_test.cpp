// instantiate<G>(): a generator as a function in this process.
#include <doctest/doctest.h>

#include <string>

#include <ashlar/ashlar.h>
#include <ashlar/generator/compile.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/runtime/runtime.h>

#include "tests/support/sentence.h"

using namespace ashlar;

namespace {

class Axpy : public Generator {
 public:
  Param<int> times{"times", 1};
  Symbol N{"N"};
  Scalar a{"a", f32};
  Input x{"x", f32, {N}}, z{"z", f32, {N}};
  Output y{"y", f32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return a * x(i) * times + z(i); });
  }
  void schedule(Schedule& s) override { s[y].vectorize(s[y].spatial<1>()[0], s.target().lanes(f32)); }
};

class Doubled : public Generator {  // two outputs from one input, one of them read by the other
 public:
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output twice{"twice", f32, {N}}, four{"four", f32, {N}};
  void algorithm() override {
    twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
    four = compute("four", {N}, [&](Var i) { return twice(i) * 2; });
  }
};

#ifdef ASHLAR_TEST_LLVM
ashlar_tensor vector(float* data, std::int64_t* n) {
  ashlar_tensor t{};
  t.data = data, t.device_type = 1, t.ndim = 1, t.type_code = 2, t.type_bits = 32, t.type_lanes = 1, t.shape = n;
  return t;
}
#endif

template <class F>
Refusal refusal(F&& f) {
  try {
    f();
  } catch (const RefusalError& e) { return e.refusal; }
  return {};
}

}  // namespace

#ifdef ASHLAR_TEST_LLVM
TEST_CASE("an instance is called with tensors and scalars") {
  const auto axpy = instantiate<Axpy>(Target::host(), {{"times", "3"}});
  float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, z[9] = {0, 1, 0, 1, 0, 1, 0, 1, 0}, y[9] = {};
  std::int64_t n = 9, eight = 8;
  ashlar_tensor tx = vector(x, &n), tz = vector(z, &n), ty = vector(y, &n);
  REQUIRE(axpy(0.5f, tx, tz, ty) == ASHLAR_OK);
  for (int i = 0; i < 9; ++i) CHECK(y[i] == 0.5f * x[i] * 3 + z[i]);
  ty.shape = &eight;
  CHECK(axpy(0.5f, tx, tz, ty) == ASHLAR_E_SHAPE);
  CHECK(test::last_error() == "instance: y.shape[0] is 8, expected 9 (N, from x.shape[0])");

  const auto copy = axpy;  // a counted handle
  ty.shape = &n;
  CHECK(copy(0.5f, tx, tz, ty) == ASHLAR_OK);
  CHECK(refusal([&] { (void)axpy(0.5f, tx, tz); }).expected == "4 arguments");
}

TEST_CASE("several outputs, one computed from the other") {
  const auto doubled = instantiate<Doubled>(Target::host());
  float x[3] = {1, 2, 3}, twice[3] = {}, four[3] = {};
  std::int64_t n = 3;
  ashlar_tensor tx = vector(x, &n), t2 = vector(twice, &n), t4 = vector(four, &n);
  REQUIRE(doubled(tx, t2, t4) == ASHLAR_OK);
  for (int i = 0; i < 3; ++i) CHECK((twice[i] == 2 * x[i] && four[i] == 4 * x[i]));
}

TEST_CASE("a schedule compiles without a generator class") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) * 2; }));
  Schedule s(lang::build_program("twice", {x, y}), Target::host());
  s[y].vectorize(s[y].spatial<1>()[0], 8);
  const codegen::Compiled twice = compile(s);
  float in[5] = {1, 2, 3, 4, 5}, out[5] = {};
  std::int64_t n = 5;
  const ashlar_tensor tx = vector(in, &n), ty = vector(out, &n);
  const void* arguments[] = {&tx, &ty};
  REQUIRE(twice.call(arguments) == ASHLAR_OK);
  for (int i = 0; i < 5; ++i) CHECK(out[i] == 2 * in[i]);
}

TEST_CASE("a program that was never scheduled compiles as it stands") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Tensor sums = compute("sums", [&](Var i) { return x(i) + x(max(i - 1, 0)); });
  lang::bind(y, compute("y", {N}, [&](Var i) { return sums(i) * 2; }));
  const codegen::Compiled plain = compile(lang::build_program("plain", {x, y}).program, Target::host());
  float in[3] = {1, 2, 3}, out[3] = {};
  std::int64_t n = 3;
  const ashlar_tensor tx = vector(in, &n), ty = vector(out, &n);
  const void* arguments[] = {&tx, &ty};
  REQUIRE(plain.call(arguments) == ASHLAR_OK);
  for (int i = 0; i < 3; ++i) CHECK(out[i] == 2 * (in[i] + in[i == 0 ? 0 : i - 1]));
}
#endif

TEST_CASE("an instance shows its programs, its steps and its members") {
  const auto axpy = instantiate<Axpy>(Target::parse("x86-64"));
  CHECK(ir::text(axpy.algorithm()).find("vectorized") == std::string::npos);
  CHECK(ir::text(axpy.scheduled()).find("vectorized") != std::string::npos);
  CHECK(axpy.trace().find("vectorize(") != std::string::npos);
  CHECK(*axpy->times == 1);
  CHECK(axpy->target().text() == "x86-64");
}

TEST_CASE("Params that do not exist are refused at the line that asks for them") {
  const Refusal r = refusal([&] { (void)instantiate<Axpy>(Target::host(), {{"time", "3"}}); });
  CHECK(r.found.find("did you mean \"times\"") != std::string::npos);
  CHECK(location(r.where).starts_with("instantiate_test.cpp:"));
}

TEST_CASE("a generator is made by the tool or by instantiate, and by nothing else") {
  CHECK(refusal([] { Axpy made; }).text() ==
        "(no line): Generator: expected to be made by the generator tool or by instantiate<G>(), found an object made in "
        "another way");
}
