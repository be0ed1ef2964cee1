// An output that may be exactly an input: what a call computes in place is what it computes apart, whatever the last vector of
// a row becomes.
#include <algorithm>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
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

// Stages that are computed inside of the output's loops: a maximum at its row, and rows ahead of it.
TEST_CASE("what is computed at a row reads it before it is stored, in place") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor x = lang::make_input("x", f32, {M, N}), out = lang::make_output("y", f32, {M, N}, {.may_alias_inputs = true});
  const Axis k{"k", N};
  const Tensor most = compute("most", {M}, [&](Var i) { return maximum(x(i, k), k); }),
               ahead = compute("ahead", {M, N}, [&](Var i, Var j) { return x(min(i + 1, M - 1), j) + x(i, j); }),
               y = compute("y", {M, N}, [&](Var i, Var j) { return ahead(i, j) - most(i); });
  lang::bind(out, y);
  const lang::Built built = lang::build_program("rows", {x, out});
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v4"})) {
    Schedule s(built, target);
    auto [i, j] = s[y].spatial<2>();
    s[most].compute_at(i);
    s[ahead].compute_at(i);
    s[y].vectorize(j, 4);
    schedule::finish(s.scheduled(), s.target());
    const codegen::Compiled compiled = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
    for (const std::int64_t n : {1, 7, 16, 53}) {
      CAPTURE(n);
      constexpr std::int64_t rows = 5;
      std::vector<float> data(static_cast<std::size_t>(rows * n));
      for (std::size_t q = 0; q < data.size(); ++q) data[q] = static_cast<float>(q * 37 % 101);
      const std::vector<float> before = data;
      const std::int64_t shape[2] = {rows, n};
      const ashlar_tensor all = ashlar_dense(data.data(), ASHLAR_F32, 2, shape);
      const void* pointers[2] = {&all, &all};
      REQUIRE(compiled.call(pointers) == ASHLAR_OK);
      int wrong = 0;
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto row = before.begin() + r * n, next = before.begin() + std::min(r + 1, rows - 1) * n;
        const float largest = *std::max_element(row, row + n);
        for (std::int64_t c = 0; c < n; ++c) wrong += data[static_cast<std::size_t>(r * n + c)] != next[c] + row[c] - largest;
      }
      CHECK(wrong == 0);
    }
  }
}
