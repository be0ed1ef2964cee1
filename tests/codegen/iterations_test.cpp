// Loops that take a few iterations at once, read in assembly and executed: a scatter, whose number of iterations is an extent,
// does; the sum of a row whose length depends on data does not. A row of constant length keeps no loop at all.
#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/fenced_call.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using fenced::Fenced;

namespace {

const auto levels = {"x86-64-v3", "x86-64-v4"};

ir::Kernel kernel_of(const Schedule& s) { return lower(s.scheduled().program, options_for(s.target())); }
std::string body_of(const Schedule& s) {  // without the entries, which check the call
  const std::string text = codegen::emit(kernel_of(s), s.target(), codegen::Output::assembly);
  const std::size_t begin = text.find(".body:");
  return text.substr(begin, text.find(".Lfunc_end", begin) - begin);
}

interp::Array numbers(Type t, std::vector<std::int64_t> shape, const std::function<double(std::int64_t)>& of) {
  return interp::Array::make(t, shape, [&](std::span<const std::int64_t> at) { return of(at[0]); });
}

}  // namespace

TEST_CASE("a scatter runs four of its steps at once, in their order") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), at = lang::make_input("at", i32, {N}), y = lang::make_output("y", f32, {5});
  lang::bind(y, scatter("sums", {5}, Combine::add, 0.f, {{"n", N}}, [&](Var n) { return put(x(n), clamp(at(n), 0, 4)); }));
  const lang::Built built = lang::build_program("scatter", {x, at, y});
  for (const Target& target : kernels::runnable(levels)) {
    CAPTURE(target.text());
    const Schedule s(built, target);
    CHECK(text_parts::count(body_of(s), "vaddss") == 5);  // four, and one for the rest
    const codegen::Compiled code = codegen::compile(kernel_of(s), target);
    for (const std::int64_t n : {0, 1, 3, 4, 5, 8, 9, 30}) {
      CAPTURE(n);
      interp::Arguments meant;
      meant.emplace_back(numbers(f32, {n}, [](std::int64_t k) { return 1 / (1.0 + static_cast<double>(k)); }));
      meant.emplace_back(numbers(i32, {n}, [](std::int64_t k) { return static_cast<double>(k * k % 5); }));
      meant.emplace_back(interp::Array::zeros(f32, {5}));
      fenced::same(code, built.program, std::move(meant), Fenced::at_end);
    }
  }
}

TEST_CASE("a row with as many terms as data say keeps its loop") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, Z{"Z"};
  const Tensor first = lang::make_input("first", i32, {M + 1}), x = lang::make_input("x", f32, {Z}),
               y = lang::make_output("y", f32, {M});
  lang::bind(y, compute("sums", {M}, [&](Var i) {
               const Axis e{"e", clamp(first(i), 0, Z), clamp(first(i + 1), 0, Z)};
               return strict_sum(x(e), e);
             }));
  const lang::Built built = lang::build_program("rows", {first, x, y});
  for (const Target& target : kernels::runnable(levels)) {
    CAPTURE(target.text());
    const Schedule s(built, target);
    CHECK(text_parts::count(body_of(s), "vaddss") == 1);
    const codegen::Compiled code = codegen::compile(kernel_of(s), target);
    interp::Arguments meant;
    meant.emplace_back(numbers(i32, {7}, [](std::int64_t k) { return static_cast<double>(k * (k + 1) / 2); }));
    meant.emplace_back(numbers(f32, {21}, [](std::int64_t k) { return 1 / (1.0 + static_cast<double>(k)); }));
    meant.emplace_back(interp::Array::zeros(f32, {6}));
    fenced::same(code, built.program, std::move(meant), Fenced::at_end);
  }
}

TEST_CASE("of a row of constant length no loop stays") {
  lang::DefinitionScope scope;
  const Symbol M{"M"};
  const Tensor a = lang::make_input("a", f32, {M, 56}), b = lang::make_input("b", f32, {56}),
               y = lang::make_output("y", f32, {M, 56});
  const Tensor product = compute("product", {M, 56}, [&](Var i, Var j) { return a(i, j) * b(j); });
  lang::bind(y, product);
  const lang::Built built = lang::build_program("row", {a, b, y});
  for (const Target& target : kernels::runnable(levels)) {
    CAPTURE(target.text());
    Schedule s(built, target);
    s[product].vectorize(s[product].spatial<2>()[1], 8);
    CHECK(text_parts::count(body_of(s), "vmulps") == 7);
    const codegen::Compiled code = codegen::compile(kernel_of(s), target);
    interp::Arguments meant;
    meant.emplace_back(interp::Array::make(
        f32, {3, 56}, [](std::span<const std::int64_t> at) { return static_cast<double>(at[0] * 56 + at[1]); }));
    meant.emplace_back(numbers(f32, {56}, [](std::int64_t k) { return 1 / (1.0 + static_cast<double>(k)); }));
    meant.emplace_back(interp::Array::zeros(f32, {3, 56}));
    fenced::same(code, built.program, std::move(meant), Fenced::at_end);
  }
}

TEST_CASE("the rest of a row that vectors leave keeps its loop") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor a = lang::make_input("a", i32, {M, N}), b = lang::make_input("b", i32, {N}),
               y = lang::make_output("y", i32, {M, N});
  const Tensor product = compute("product", {M, N}, [&](Var i, Var j) { return a(i, j) * b(j); });
  lang::bind(y, product);
  const lang::Built built = lang::build_program("rest", {a, b, y});
  const Target target = Target::parse("x86-64-v2");  // without masks
  Schedule s(built, target);
  s[product].vectorize(s[product].spatial<2>()[1], 4);
  const std::string text = body_of(s);
  CAPTURE(text);
  CHECK(text_parts::count(text, "pmulld") > 0);
  CHECK(text_parts::count(text, "imull") == 1);
}

TEST_CASE("rows that a schedule has put side by side are not unrolled again") {
  lang::DefinitionScope scope;
  const Symbol M{"M", {.multiple_of = 8}}, K{"K"};
  const Tensor a = lang::make_input("a", f32, {M, K}), y = lang::make_output("y", f32, {M});
  const Tensor rows = compute("rows", {M}, [&](Var i) {
    const Axis k{"k", K};
    return strict_sum(a(i, k), k);
  });
  lang::bind(y, rows);
  const lang::Built built = lang::build_program("rows", {a, y});
  for (const Target& target : kernels::runnable(levels)) {
    CAPTURE(target.text());
    Schedule s(built, target);
    const Loop i = s[rows].spatial<1>()[0];
    const Split parts = s[rows].split(i, 8, Tail::exact);
    s[rows].reorder(s[rows].reduction(), parts.inner);
    s[rows].unroll(parts.inner);
    const std::string text = body_of(s);
    CAPTURE(text);
    CHECK(text_parts::count(text, "vaddss") == 8);
  }
}
