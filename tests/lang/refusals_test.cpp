// What a definition refuses, at the line that says it: names, extents, dimensions, variables out of their place.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/lang/build_program.h>

#include <optional>

#include "tests/support/refused.h"

using namespace ashlar;

namespace {

// The refusal that f meets stands at the line of this call.
template <class F>
std::string told(F&& f, Where here = Where::current()) {
  try {
    f();
  } catch (const RefusalError& e) {
    const Refusal& r = e.refusal;
    CHECK_MESSAGE(std::string(r.where.file_name()) == here.file_name(), r.text());
    CHECK_MESSAGE(r.where.line() == here.line(), r.text());
    return r.primitive + ": " + r.expected + ", found " + r.found;
  }
  return "";
}

}  // namespace

TEST_CASE("everything has a name") {
  const lang::DefinitionScope scope;
  const Axis k{"k", 3};
  CHECK(told([] { Symbol(""); }) == "Symbol: a name, found none");
  CHECK(told([] { Axis("", 3); }) == "Axis: a name, found none");
  CHECK(told([] { compute("", {3}, [](Var i) { return i32(i); }); }) == "compute: a name, found none");
  CHECK(told([] { lang::make_input("", f32, {3}); }) == "Input: a name, found none");
  CHECK(told([] { lang::make_output("", f32, {3}); }) == "Output: a name, found none");
  CHECK(told([] { lang::make_scalar("", f32); }) == "Scalar: a name, found none");
}

TEST_CASE("extents are over symbols and numbers, and at most eight") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Axis k{"k", 3};
  const Tensor x = lang::make_input("x", i32, {N});
  CHECK(told([&] { lang::make_input("y", f32, {N + k}); }) == "y: extents over Symbols and numbers, found N + k");
  CHECK(told([&] {
          compute("y", {N + x(0)}, [](Var i) { return i32(i); });
        }).find("y: extents over symbols and numbers, found N + ") == 0);
  const Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
  CHECK(told([&] {
          compute("z", {N}, [&](Var i) { return sum(x(i), Axis("l", twice(0))); });
        }).find("Axis l: bounds over variables, and elements of inputs and constants, found index(") == 0);
  CHECK(told([&] { compute("z", {N}, [&](Var i) { return sum(x(i), Axis("l", boundary::repeat(x)(3))); }); }) == "");
  CHECK(told([&] { lang::make_input("y", f32, std::vector<Extent>(9, Extent(2))); }) == "y: at most 8 dimensions, found 9");
  CHECK(told([&] { Shape::of(std::vector<Extent>(9, Extent(2))); }) == "Shape: at most 8 dimensions, found 9");
}

TEST_CASE("dimensions are counted from 0") {
  const lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i32, {4, 5});
  CHECK(told([&] { x.extent(2); }) == "x: a dimension below 2, found 2");
  CHECK(told([&] { x.shape()[2]; }) == "Shape: a dimension from 0 to 1, found 2");
  CHECK(told([&] { x.shape()[-1]; }) == "Shape: a dimension from 0 to 1, found -1");
  CHECK(told([&] { x.shape().drop(7); }) == "Shape::drop: a dimension from 0 to 1, found 7");
  CHECK(told([&] { x.shape().with(3, 2); }) == "Shape::with: a dimension from 0 to 2, found 3");
  CHECK(told([&] { Shape()[0]; }) == "Shape: no dimension, of rank 0, found 0");
  CHECK(told([&] { compute("y", x.shape(), [&](Indices i) { return x(i) + i32(i[2]); }); }) ==
        "Indices: a dimension from 0 to 1, found 2");
  CHECK(told([&] { compute("y", x.shape().drop(0), [&](Indices i) { return x(i); }); }) == "x: 2 indices, found 1");
}

TEST_CASE("a reduction runs over something, and starts from a value of its type") {
  const lang::DefinitionScope scope;
  const Axis k{"k", 3};
  const Tensor x = lang::make_input("x", f32, {3}), z = lang::make_input("z", i32, {3});
  CHECK(told([&] { compute("y", {3}, [&](Var i) { return sum(x(i), AxisList(std::initializer_list<Axis>{})); }); }) ==
        "sum: at least one Axis, found none");
  CHECK(told([&] { compute("y", {3}, [&](Var i) { return sum(x(k), k).from(z(i)); }); }) ==
        "from: f32 (convert by name: f32(x)), found i32");
}

TEST_CASE("only an output is bound, and only arguments are arguments") {
  const lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {3}), y = lang::make_output("y", f32, {3});
  const Tensor twice = compute("twice", {3}, [&](Var i) { return x(i) * 2; });
  CHECK(told([&] { lang::bind(twice, twice); }) == "twice: an output, found a tensor that is not an output");
  lang::bind(y, twice);
  CHECK(refusal([&] { lang::build_program("p", {x, twice, y}); }).found == "the stage twice");
  CHECK(told([&] { lang::build_program("p", {x, value_of(Symbol("N")) + 1, y}); }) ==
        "p: arguments that are inputs, outputs or scalars, found N + 1");
  const lang::Built built = lang::build_program("p", {x, y});
  CHECK(told([&] { built.in_program(Symbol("M") + 1); }) ==
        "expression: one over symbols and scalars of the arguments, found M + 1");
}

TEST_CASE("what a scope defined is gone with it") {
  std::optional<Axis> k;
  Tensor stage;
  Tensor x;
  {
    const lang::DefinitionScope scope;
    k.emplace("k", 3);
    x = lang::make_input("x", f32, {3});
    stage = compute("stage", {3}, [&](Var i) { return x(i) + 1; });
  }
  CHECK(told([&] { x(0); }) == "tensor: a tensor, found one whose definitions were forgotten (its DefinitionScope ended)");
  CHECK(told([&] { stage.type(); }) ==
        "tensor: a tensor, found one whose definitions were forgotten (its DefinitionScope ended)");
  CHECK(told([&] { Tensor().rank(); }) == "tensor: a tensor that was defined, found an empty Tensor");
  CHECK(told([&] { Tensor().name(); }) == "tensor: a tensor that was defined, found an empty Tensor");
  const lang::DefinitionScope scope;
  const Tensor z = lang::make_input("z", f32, {3});
  CHECK(told([&] { compute("y", {3}, [&](Var) { return sum(z(*k), *k); }); }) ==
        "variable: a Var, Axis, Symbol or Scalar, found one whose definitions were forgotten (its DefinitionScope ended)");
}

TEST_CASE("limits of types that are none") {
  CHECK(told([] { lowest(u4); }).find("lowest: elements of 8 bits") == 0);
  CHECK(told([] { highest(u4); }).find("highest: elements of 8 bits") == 0);
  CHECK(told([] { infinity(i32); }) == "infinity: a floating type that has it, found i32");
}
