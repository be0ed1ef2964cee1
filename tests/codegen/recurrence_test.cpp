// Recurrences, compiled: under every schedule of tests/support the code computes what plain loops do.
#include <cstring>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/recurrence_schedules.h"
#include "tests/support/text_parts.h"
#include "tests/uses/tensors.h"

using namespace ashlar;

TEST_CASE("compiled recurrences compute what plain loops do") {
  const std::vector<Target> targets = kernels::runnable({"host"});
  for (const Target& target : targets)
    recurrences::each_scheduling([&](const recurrences::Operator& o, const recurrences::Scheduling& how) {
      const std::string name = std::string(o.name) + ": " + how.what;
      CAPTURE(name);
      recurrences::Made made(o, how.apart);
      Schedule s(made.built, target);
      how.schedule(s, made);
      schedule::finish(s.scheduled(), target);
      const codegen::Compiled code = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
      for (const auto& [R, T] : recurrences::shapes()) {
        CAPTURE(R);
        CAPTURE(T);
        const std::vector<int> x = recurrences::input(R, T);
        Dense<std::int32_t> in({R, T}, [&](std::size_t i) { return x[i]; });
        std::vector<Dense<std::int32_t>> out(static_cast<std::size_t>(o.outputs), Dense<std::int32_t>({R, T}));
        std::vector<ashlar_tensor> tensors{in.tensor()};
        for (auto& y : out) tensors.push_back(y.tensor());
        std::vector<const void*> arguments;
        for (const ashlar_tensor& t : tensors) arguments.push_back(&t);
        REQUIRE(code.call(arguments) == ASHLAR_OK);
        const auto expected = recurrences::expected(o, R, T, how.apart);
        for (std::size_t k = 0; k < out.size(); ++k) CHECK(out[k].data == expected[k]);
      }
    });
}

TEST_CASE("a running sum whose first step is peeled keeps the one before in a register") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, scan("sums", {N}, Along{0}, Combine::add, [&](Var i) { return x(i); }));
  const lang::Built built = lang::build_program("running", {lang::ArgumentRef(x), lang::ArgumentRef(y)});
  const Target target = Target::parse("x86-64-v3");
  Schedule s(built, target);
  const Stage sums = s[y];
  sums.peel(sums.spatial<1>()[0], Peel::first);
  schedule::finish(s.scheduled(), target);
  const std::string text = codegen::emit(lower(s.scheduled().program, options_for(target)), target, codegen::Output::llvm);
  // the loop that adds and stores, from its label to its end: for each step one load, of x
  const std::size_t phi = text.find("phi float"), end = text.find("br i1", phi);
  REQUIRE(phi != text.npos);
  const std::string loop = text.substr(phi, end - phi);
  CHECK(loop.find("fadd") != loop.npos);
  CHECK(text_parts::count(loop, "load float") == text_parts::count(loop, "fadd float"));
}

// LLVM would make branches of them, which data predict badly. A cell has five maxima; the loop over a row is one block of
// a few cells, from one label to the next.
TEST_CASE("what a step chooses for the next one is a conditional move") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, M{"M"};
  const Tensor x = lang::make_input("x", i16, {N, M}), y = lang::make_output("y", i16, {N, M});
  const auto cells = recur(
      "cells", {N, M}, Along{0, 1}, Lag{1}, [&](Var, Var) { return values(i16(0), i16(-10000), i16(-10000)); },
      [&](Prior before, Var i, Var j) {
        const Expr across = max(before[1](i, j - 1) - 1, before[0](i, j - 1) - 77);
        const Expr down = max(before[2](i - 1, j) - 1, before[0](i - 1, j) - 11);
        return values(max(max(before[0](i - 1, j - 1) + x(i, j), 0), max(across, down)), across, down);
      });
  lang::bind(y, compute("best", {N, M}, [&](Var i, Var j) { return cells[0](i, j); }));
  const lang::Built built = lang::build_program("alignment", {lang::ArgumentRef(x), lang::ArgumentRef(y)});
  for (const char* name : {"x86-64-v3", "zen4"}) {
    const Target target = Target::parse(name);
    Schedule s(built, target);
    schedule::finish(s.scheduled(), target);
    const std::string text =
        codegen::emit(lower(s.scheduled().program, options_for(target)), target, codegen::Output::assembly);
    const std::size_t at = text.find("-77");
    REQUIRE(at != text.npos);
    const std::string block = text.substr(text.rfind(":\n", at), text.find(":\n", at) - text.rfind(":\n", at));
    CAPTURE(block);
    CHECK(text_parts::count(block, "cmov") == 5 * text_parts::count(block, "$-77"));  // for each cell
  }
}
