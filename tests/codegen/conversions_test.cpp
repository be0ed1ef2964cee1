// A float that is clamped on its way to a narrow integer is converted once, with the bits of the two steps that the program
// has.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"

using namespace ashlar;

namespace {

std::vector<float> numbers() {
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::vector<float> all{0.f, -0.f, inf, -inf, std::nanf(""), 1e-40f, -1e-40f, 3e9f, -3e9f, 5e9f, 1e19f, -1e19f};
  for (const float end :
       {127.f, 128.f, 255.f, 256.f, 32767.f, 32768.f, 65535.f, 65536.f, 16777216.f, 2147483648.f, 4294967296.f})
    for (const float by : {-1.f, -0.5f, 0.f, 0.25f, 0.5f, 1.f}) all.push_back(end + by), all.push_back(-end + by);
  for (const float small : {0.25f, 0.5f, 0.75f, 0.99f, 1.f, 1.5f}) all.push_back(small), all.push_back(-small);
  return all;
}

int conversions_in(const std::vector<ir::KStmt>& list) {
  int all = 0;
  for (const ir::KStmt& s : list) {
    if (const auto* store = s.as<ir::KStore>())
      ir::walk(store->value, [&](const Expr& e) {
        all += ir::is(e, ir::Op::cast) || ir::is(e, ir::Op::saturate);
        return true;
      });
    for (const auto* part : s.bodies()) all += conversions_in(*part);
  }
  return all;
}

// y[i] = f(x[i]) has the bits of the algorithm, in scalars and in vectors. Gives how many conversions a point has.
int conversions(Type to, const std::function<Expr(const Expr&)>& f) {
  const std::vector<float> values = numbers();
  const auto n = static_cast<std::int64_t>(values.size());
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {n}), y = lang::make_output("y", to, {n});
  const Tensor made = compute("made", {n}, [&](Var i) { return f(x(i)); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("convert", {x, y});
  interp::Arguments meant{
      interp::Array::make(f32, {n}, [&](auto at) { return static_cast<double>(values[static_cast<std::size_t>(at[0])]); }),
      interp::Array::zeros(to, {n})};
  interp::run_algorithm(built.program, meant);
  const auto size = static_cast<std::size_t>(to.bytes());
  const auto* expected = reinterpret_cast<const std::byte*>(meant[1].array.bytes.data());
  int of_a_point = 0;
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"}))
    for (const bool vectors : {false, true}) {
      Schedule s(built, target);
      if (vectors) s[made].vectorize(s[made].split(s[made].spatial<1>()[0], 16, Tail::guard).inner);
      const ir::Kernel kernel = lower(s.scheduled().program, options_for(target));
      if (!vectors) of_a_point = conversions_in(kernel.body);
      std::vector<std::byte> out(values.size() * size, std::byte{0x55});
      std::int64_t shape[1] = {n};
      const ashlar_tensor tensors[2] = {ashlar_dense(values.data(), ASHLAR_F32, 1, shape),
                                        ashlar_dense(out.data(), to.bits * 256 + static_cast<int>(to.is_unsigned()), 1, shape)};
      const void* pointers[2] = {&tensors[0], &tensors[1]};
      REQUIRE(codegen::compile(kernel, target).call(pointers) == ASHLAR_OK);
      for (std::size_t i = 0; i < values.size(); ++i) {
        CAPTURE(values[i]);
        CHECK(std::equal(expected + i * size, expected + (i + 1) * size, out.data() + i * size));
      }
    }
  return of_a_point;
}

}  // namespace

TEST_CASE("a float that is clamped to a narrow integer is converted once") {
  for (const Type to : {u8, i8, u16, i16}) {
    CAPTURE(to.bits);
    CHECK(conversions(to, [&](const Expr& x) { return saturate(to, i32(x)); }) == 1);
    CHECK(conversions(to, [&](const Expr& x) { return saturate(to, i64(round(x * 255.f))); }) == 1);
  }
  CHECK(conversions(u8, [](const Expr& x) { return u8(clamp(i32(x), 0, 255)); }) == 1);
  CHECK(conversions(i8, [](const Expr& x) { return i8(max(min(i32(x), 127), -128)); }) == 1);
  CHECK(conversions(i16, [](const Expr& x) { return i16(min(max(i32(x), -32768), 32767)); }) == 1);
}

TEST_CASE("two conversions that are not one") {
  CHECK(conversions(u8, [](const Expr& x) { return u8(i32(x)); }) == 2);                 // wraps
  CHECK(conversions(u8, [](const Expr& x) { return u8(clamp(i32(x), 0, 254)); }) == 2);  // another bound
  CHECK(conversions(i32, [](const Expr& x) { return saturate(i32, i16(x)); }) == 2);     // clamped before
  CHECK(conversions(i8, [](const Expr& x) { return saturate(i8, u8(x)); }) == 2);        // no negative numbers
  CHECK(conversions(u32, [](const Expr& x) { return saturate(u32, i32(x)); }) == 2);
}
