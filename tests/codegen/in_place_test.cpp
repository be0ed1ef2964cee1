// An output that may be exactly an input: what a call computes in place is what it computes apart, whatever the last vector of
// a row becomes.
#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/explain.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"

using namespace ashlar;

namespace {

template <class T>
void in_place(Type type, int code, int lanes) {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor x = lang::make_input("x", type, {M, N}), y = lang::make_output("y", type, {M, N}, {.may_alias_inputs = true});
  const Tensor made = compute("made", {M, N}, [&](Var i, Var j) { return x(i, j) * 2 + 1; });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("twice", {x, y});
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"})) {
    Schedule s(built, target);
    s[made].vectorize(s[made].split(s[made].spatial<2>()[1], lanes, Tail::guard).inner);
    const codegen::Compiled compiled = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
    for (const std::int64_t n : {1, 7, 8, 15, 16, 17, 31, 40, 53}) {
      CAPTURE(n);
      std::vector<T> data(static_cast<std::size_t>(3 * n));
      for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<T>(k % 50);
      std::int64_t shape[2] = {3, n};
      const ashlar_tensor all = ashlar_dense(data.data(), code, 2, shape);
      const void* pointers[2] = {&all, &all};
      REQUIRE(compiled.call(pointers) == ASHLAR_OK);
      int wrong = 0;
      for (std::size_t k = 0; k < data.size(); ++k) wrong += data[k] != static_cast<T>(k % 50 * 2 + 1);
      CHECK(wrong == 0);
    }
  }
}

}  // namespace

TEST_CASE("rows computed in place") {
  in_place<std::uint8_t>(u8, ASHLAR_U8, 16);
  in_place<std::int16_t>(i16, ASHLAR_I16, 16);
  in_place<float>(f32, ASHLAR_F32, 8);
  in_place<double>(f64, ASHLAR_F64, 8);
}
