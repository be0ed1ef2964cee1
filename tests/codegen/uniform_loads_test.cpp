// Distances from data that a row shares, compiled: tensors lie between pages that nobody may touch, first at one, then at the
// other.
#include <cstring>
#include <memory>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/fenced_call.h"

using namespace ashlar;
using fenced::Fenced;

namespace {

using Formula = std::function<Expr(const Tensor& x, const Tensor& w, Var n, Var c, const Symbol& C)>;

void same(const Formula& f) {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, C{"C"};
  const Tensor x = lang::make_input("x", i32, {N, C}), w = lang::make_input("w", i32, {N}),
               y = lang::make_output("y", i32, {N, C});
  const Tensor made = compute("made", {{"n", N}, {"c", C}}, [&](Var n, Var c) { return f(x, w, n, c, C); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("rows", {x, w, y});
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"})) {
    Schedule s(built, target);
    s[made].vectorize(s[made].spatial<2>()[1], target.lanes(i32));
    const codegen::Compiled code = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
    for (const std::int64_t n : {0, 1, 3})
      for (const std::int64_t c : {0, 1, 7, 16, 45, 130})
        for (const Fenced::Side side : {Fenced::at_begin, Fenced::at_end}) {
          CAPTURE(n);
          CAPTURE(c);
          interp::Arguments meant;
          const auto number = [&](std::span<const std::int64_t> at) {
            std::int64_t v = 5;
            for (const std::int64_t i : at) v = v * 31 + i;
            return static_cast<double>(v % 41 - 6);
          };
          meant.emplace_back(interp::Array::make(i32, {n, c}, number));
          meant.emplace_back(interp::Array::make(i32, {n}, number));
          meant.emplace_back(interp::Array::zeros(i32, {n, c}));
          fenced::same(code, built.program, std::move(meant), side);
        }
  }
}

}  // namespace

TEST_CASE("distances from data that a row shares are read where the program reads them") {
  same([](const Tensor& x, const Tensor& w, Var n, Var c, const Symbol& C) {
    return select(c >= w(n), x(n, clamp(c - w(n), 0, C - 1)) + 1, x(n, c));
  });
  same([](const Tensor& x, const Tensor& w, Var n, Var c, const Symbol& C) {
    return select(n > 0, x(n, clamp(c - w(n - 1), 0, C - 1)), x(n, c));
  });
  same([](const Tensor& x, const Tensor& w, Var n, Var c, const Symbol& C) {
    return select(c >= 8, x(n, clamp(c - w(n), 0, C - 1)), x(n, c));
  });
}
