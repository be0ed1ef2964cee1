// Boundaries, read far outside on both sides and run through the interpreter: the table of lang/boundary.h.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>

#include "tests/support/refused.h"
#include "tests/lang/run.h"

using namespace ashlar;

namespace {

struct Row {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N});
  // indices -7 .. 9 of a view of {1, 2, 3}, or of {1}
  std::vector<double> read(const Tensor& view, std::int64_t n = 3) {
    const Tensor y = lang::make_output("y", i32, {17});
    lang::bind(y, compute("y", {17}, [&](Var i) { return view(i - 7); }));
    return run({x, y}, {counting(i32, {n}), interp::Array::zeros(i32, {17})});
  }
};
using V = std::vector<double>;

}  // namespace

TEST_CASE_FIXTURE(Row, "repeat") { CHECK(read(boundary::repeat(x)) == V{1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3}); }
TEST_CASE_FIXTURE(Row, "mirror repeats the edge, reflect does not") {
  CHECK(read(boundary::mirror(x)) == V{1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3});
  CHECK(read(boundary::reflect(x)) == V{2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2});
}
TEST_CASE_FIXTURE(Row, "wrap") { CHECK(read(boundary::wrap(x)) == V{3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1}); }
TEST_CASE_FIXTURE(Row, "constant does not read outside") {
  CHECK(read(boundary::constant(x, 9)) == V{9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 9, 9, 9, 9, 9});
  CHECK(read(boundary::constant(x, 9), 0) == V(17, 9.0));
}
TEST_CASE_FIXTURE(Row, "one element is enough") {
  for (const Tensor& v : {boundary::repeat(x), boundary::mirror(x), boundary::reflect(x), boundary::wrap(x)})
    CHECK(read(v, 1) == V(17, 1.0));
}
TEST_CASE_FIXTURE(Row, "a boundary of a stage with a stated domain follows that domain") {
  const Tensor shifted = compute("shifted", {Range{Expr(-2), Expr(1)}}, [&](Var i) { return x(i + 2); });
  CHECK(read(boundary::repeat(shifted)) == V{1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3});
  CHECK(read(boundary::wrap(shifted)) == V{2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
}

TEST_CASE("only the dimensions asked for, and one boundary on another") {
  const lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i32, {2, 2}), y = lang::make_output("y", i32, {3, 4});
  const Tensor view = boundary::constant(boundary::wrap(x, {1}), 0, {0});
  lang::bind(y, compute("y", {3, 4}, [&](Var i, Var j) { return view(i - 1, j - 1); }));
  CHECK(run({x, y}, {counting(i32, {2, 2}), interp::Array::zeros(i32, {3, 4})}) == V{0, 0, 0, 0, 2, 1, 2, 1, 4, 3, 4, 3});
}

TEST_CASE_FIXTURE(Row, "what a boundary refuses") {
  const Tensor inferred = compute("inferred", [&](Var i) { return x(i); });
  CHECK(refusal([&] { boundary::repeat(inferred); }).expected ==
        "a tensor whose extents are known: write compute(\"inferred\", {extents...}, ...)");
  CHECK(refusal([&] { boundary::wrap(x, {1}); }).expected == "dimensions of x, from 0 to 0");
  CHECK(refusal([&] { boundary::constant(x, 0.5); }).found == "the number 0.5");
  const Tensor endless = boundary::mirror(x);
  CHECK(refusal([&] { endless.extent(0); }).expected == "the extents of the tensor that the boundary was made of");
  CHECK(refusal([&] { boundary::wrap(endless); }).where.line() == __LINE__);
  CHECK(endless.rank() == 1);
  CHECK(endless.type() == i32);
}
