// Constants: their elements, in the definitions and in the tree, and what a declaration refuses.
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>

#include "tests/support/refused.h"
#include "run.h"

using namespace ashlar;

TEST_CASE("rows of numbers become the elements of a tensor") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor in = lang::make_input("in", i32, {N, N}), out = lang::make_output("out", i32, {N - 2, N - 2});
  const Tensor laplace = constant("laplace", i32, {{0, 1, 0}, {1, -4, 1}, {0, 1, 0}});
  CHECK(laplace.rank() == 2);
  CHECK(ir::text(laplace.extent(1)) == "3");
  const Axis dy{"dy", 3}, dx{"dx", 3};
  lang::bind(out, compute("filtered", {N - 2, N - 2},
                          [&](Var y, Var x) { return sum(in(y + dy, x + dx) * laplace(dy, dx), {dy, dx}); }));
  const auto found = run({in, out}, {counting(i32, {5, 5}), interp::Array::zeros(i32, {3, 3})});
  CHECK(found == std::vector<double>(9, 0));  // of a plane
  const ir::Program p = lang::build_program("filter", {in, out}).program;
  CHECK(ir::text(p).find("constant laplace: i32[3, 3] = 0 1 0 1 -4 1 0 1 0\n") != std::string::npos);
}

TEST_CASE("numbers adopt the type of the constant") {
  const lang::DefinitionScope scope;
  const Tensor out = lang::make_output("out", f32, {4}), half = constant("half", f16, {1, 0.1, 65504.0, -2});
  lang::bind(out, compute("y", {4}, [&](Var i) { return f32(half(i)); }));
  CHECK(run({out}, {interp::Array::zeros(f32, {4})}) == std::vector<double>{1, 0.0999755859375, 65504, -2});
  CHECK(refused([] { constant("a", u8, {1, 2, 256}); }).find("a: expected a number that u8 holds exactly") !=
        std::string::npos);
  CHECK(refused([] { constant("a", i32, {1, 2.5}); }).find("expected an integer beside i32") != std::string::npos);
  CHECK(refused([] { constant("a", f16, {1e6}); }).find("in the range of f16") != std::string::npos);
}

TEST_CASE("any rank, and lists that were computed") {
  const lang::DefinitionScope scope;
  CHECK(constant("one", f32, 2.5).rank() == 0);
  CHECK(constant("one", f32, {{2.5}}).rank() == 2);
  CHECK(constant("cube", f32, {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}).rank() == 3);
  std::vector<float> wave(32);
  for (std::size_t k = 0; k < wave.size(); ++k) wave[k] = static_cast<float>(k) / 4;
  const Tensor table = constant("table", f32, {4, 8}, wave), out = lang::make_output("out", f32, {8, 4});
  lang::bind(out, view::transpose(table));
  const auto found = run({out}, {interp::Array::zeros(f32, {8, 4})});
  for (std::size_t j = 0; j < 8; ++j)
    for (std::size_t i = 0; i < 4; ++i) CHECK(found[j * 4 + i] == static_cast<double>(i * 8 + j) / 4);
  // long ones are told apart by a sum in what is printed
  const ir::Program p = lang::build_program("transposed", {out}).program;
  wave[31] = 0;
  const Tensor other = constant("table", f32, {4, 8}, wave), out2 = lang::make_output("out", f32, {8, 4});
  lang::bind(out2, view::transpose(other));
  CHECK(ir::text(p) != ir::text(lang::build_program("transposed", {out2}).program));
}

TEST_CASE("what a constant refuses") {
  const lang::DefinitionScope scope;
  CHECK(refused([] { constant("a", f32, {{1, 2}, {3}}); }).find("expected rows of one shape, [2, 2]") != std::string::npos);
  CHECK(refused([] { constant("a", f32, {{1, 2}, {3}}); }).find("found element [1] of 1") != std::string::npos);
  CHECK(refused([] { constant("a", f32, {{1, 2}, 3}); }).find("found element [1] a number") != std::string::npos);
  CHECK(refused([] { constant("a", f32, {{}, {}}); }).find("at least one element in every row") != std::string::npos);
  CHECK(refused([] { constant("a", f32, {2, 2}, std::vector<float>(3)); }).find("expected 4 elements") != std::string::npos);
  CHECK(refused([] { constant("a", f32, {2, 0}, std::vector<float>()); }).find("extents of at least 1") != std::string::npos);
  CHECK(refused([] { constant(nullptr, f32, 1); }).find("constant: expected a name") != std::string::npos);
  CHECK(refused([] { constant("a", i4, {1}); }) != "");
  // it is not an argument, and has no derivative
  const Tensor c = constant("c", f32, {1, 2});
  CHECK(refused([&] { lang::build_program("p", {c}); }).find("expected arguments that are inputs, outputs or scalars") !=
        std::string::npos);
  const Axis i{"i", 2};
  const Tensor loss = compute("loss", [&] { return sum(c(i), i); });
  CHECK(refused([&] { gradient(loss, {c}); }).find("c, a constant") != std::string::npos);
}
