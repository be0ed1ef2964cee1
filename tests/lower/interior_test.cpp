// What runs outside of the interior: vectors that hold a point, and points one after the other where lanes would be divided.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/golden.h"

using namespace ashlar;

namespace {

// A row in pieces of 1024, each in vectors of 8: y[i] = f(x, i).
template <class F>
std::string lowered(F&& f) {
  lang::DefinitionScope scope;
  const Symbol N("N");
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return f(x, i); }));
  Schedule s(lang::build_program("rows", {x, y}), Target::parse("x86-64-v3"));
  const Split pieces = s[y].split(s[y].spatial<1>()[0], 1024);
  s[y].vectorize(pieces.inner, 8);
  return ir::text(lower(s.scheduled().program, {.vector_bits = 256}));
}

}  // namespace

// A row of 36 elements has five vectors, not the 128 of a piece.
TEST_CASE("a vector without an active lane does not run") {
  CHECK(golden("lower/golden/vectors_that_run.txt", lowered([](const Tensor& x, Var i) { return x(i) * 2; })) == "");
}

TEST_CASE("outside of the interior of a reflected row points run one after the other") {
  const std::string text = lowered([](const Tensor& x, Var i) {
    const Tensor wide = boundary::reflect(x);
    return wide(i - 1) + wide(i + 1);
  });
  CHECK(golden("lower/golden/reflected_row.txt", text) == "");
  CHECK(text.find("% x8") == std::string::npos);
}

// Of (i + 1) % 2 no vector of 8 is free; the borders are decided all the same.
TEST_CASE("what never holds for a whole vector is not assumed, and the rest is") {
  const std::string text = lowered([](const Tensor& x, Var i) {
    const Tensor wide = boundary::wrap(x);
    return select((i + 1) % 2 == 0, wide(i - 1) + wide(i + 1), x(i));
  });
  CAPTURE(text);
  CHECK(text.find("x[ramp8(io * 1024 + iio * 8 - 1, 1), ") != std::string::npos);
  CHECK(text.find("% x8(N)") == std::string::npos);
}
