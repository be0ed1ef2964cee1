// Views: which element stands where, against plain loops; through each other; and what they refuse.
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/multiple.h>

#include "tests/support/refused.h"
#include "run.h"

using namespace ashlar;

namespace {

// The elements of a view of x (i32[4, 6], counting from 1), which has this shape.
std::vector<double> elements(const std::function<Tensor(const Tensor&)>& view, std::vector<std::int64_t> shape) {
  const lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N", {.multiple_of = 2}};
  const Tensor x = lang::make_input("x", i32, {M, N});
  const Tensor v = view(x);
  const Tensor out = lang::make_output("out", i32, v.shape().extents());
  lang::bind(out, v);
  return run({x, out}, {counting(i32, {4, 6}), interp::Array::zeros(i32, std::move(shape))});
}

double at(int i, int j) { return 1 + i * 6 + j; }

}  // namespace

TEST_CASE("transposed, cut, turned round and stretched") {
  const auto t = elements([](const Tensor& x) { return view::transpose(x); }, {6, 4});
  const auto s = elements([](const Tensor& x) { return view::slice(x, 1, Range{Expr(1), Expr(6)}, 2); }, {4, 3});
  const auto r = elements([](const Tensor& x) { return view::reverse(x, 0); }, {4, 6});
  const auto b = elements([](const Tensor& x) { return view::broadcast(x, {3, x.extent(0), x.extent(1)}); }, {3, 4, 6});
  const auto one = elements(
      [](const Tensor& x) { return view::broadcast(view::slice(x, 0, Range{Expr(2), Expr(3)}), {5, x.extent(1)}); }, {5, 6});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) {
      const auto k = static_cast<std::size_t>(i * 6 + j);
      CHECK(t[static_cast<std::size_t>(j * 4 + i)] == at(i, j));
      CHECK(r[k] == at(3 - i, j));
      for (std::size_t copy = 0; copy < 3; ++copy) CHECK(b[copy * 24 + k] == at(i, j));
      if (j < 3) CHECK(s[static_cast<std::size_t>(i * 3 + j)] == at(i, 1 + 2 * j));
    }
  for (std::size_t k = 0; k < 30; ++k) CHECK(one[k] == at(2, static_cast<int>(k % 6)));
}

TEST_CASE("a shape of as many elements") {
  std::vector<double> all(24);
  for (std::size_t k = 0; k < 24; ++k) all[k] = static_cast<double>(k + 1);
  CHECK(elements([](const Tensor& x) { return view::reshape(x, {x.extent(0) * x.extent(1)}); }, {24}) == all);
  CHECK(elements([](const Tensor& x) { return view::reshape(x, {x.extent(0), x.extent(1) / 2, 2}); }, {4, 3, 2}) == all);
  CHECK(elements([](const Tensor& x) { return view::reshape(x, {x.extent(1), x.extent(0)}); }, {6, 4}) == all);
  CHECK(elements([](const Tensor& x) { return view::reshape(x, {1, x.extent(0), 1, x.extent(1), 1}); }, {1, 4, 1, 6, 1}) ==
        all);
  const lang::DefinitionScope scope;
  const Tensor c = constant("c", i32, {{1, 2, 3}, {4, 5, 6}}), out = lang::make_output("out", i32, {3, 2});
  lang::bind(out, view::reshape(c, {3, 2}));
  CHECK(run({out}, {interp::Array::zeros(i32, {3, 2})}) == std::vector<double>{1, 2, 3, 4, 5, 6});
  const Tensor one = constant("one", i32, 7), row = lang::make_output("row", i32, {1});
  lang::bind(row, view::reshape(one, {1}));
  CHECK(run({row}, {interp::Array::zeros(i32, {1})}) == std::vector<double>{7});
}

TEST_CASE("views of views, of stages and of boundaries") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N}), out = lang::make_output("out", i32, {N + 2});
  const Tensor twice = compute("twice", [&](Var i) { return x(i) * 2; });  // its domain is what is read
  const Tensor wide = boundary::constant(view::reverse(compute("y", {N}, [&](Var i) { return twice(i) + 1; }), 0), -1);
  lang::bind(out, compute("z", {N + 2}, [&](Var i) { return view::transpose(wide)(i - 1); }));
  CHECK(run({x, out}, {counting(i32, {3}), interp::Array::zeros(i32, {5})}) == std::vector<double>{-1, 7, 5, 3, -1});
  CHECK(refused([&] { view::transpose(twice).shape(); }).find("a view of a tensor whose extents are known") !=
        std::string::npos);
  CHECK(refused([&] { view::reverse(twice, 0); }).find("whose domain is what its readers need") != std::string::npos);
}

TEST_CASE("gradients pass through views") {
  const lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {3, 4}), out = lang::make_output("out", f32, {3, 4});
  const Axis i{"i", 4}, j{"j", 3};
  const Tensor v = view::transpose(x);
  const Tensor loss = compute("loss", [&] { return sum(v(i, j) * v(i, j) * f32(i), {i, j}); });
  const Tensor d = gradient(loss, {x})[0];
  lang::bind(out, d);
  const auto found = run({x, out}, {counting(f32, {3, 4}), interp::Array::zeros(f32, {3, 4})});
  for (std::size_t k = 0; k < 12; ++k) CHECK(found[k] == 2.0 * static_cast<double>(k + 1) * static_cast<double>(k % 4));
}

TEST_CASE("what an extent is a multiple of") {
  const lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N", {.multiple_of = 12}};
  for (const std::int64_t of : {1, 2, 3, 4, 6, 12}) CHECK(is_multiple(N, of));
  for (const std::int64_t of : {5, 8, 24}) CHECK(!is_multiple(N, of));
  CHECK(is_multiple(M, 1));
  CHECK(!is_multiple(M, 2));
  CHECK(is_multiple(M * N * 2, 24));
  CHECK(is_multiple(N - 8, 4));
  CHECK(!is_multiple(N + M, 2));
  CHECK(is_multiple(N / 4, 3));
  CHECK(!is_multiple(N / 5, 2));
  CHECK(is_multiple(Expr(std::int64_t{0}) * M, 7));
  CHECK(is_multiple(Expr(std::int64_t{-14}), 7));
}

TEST_CASE("what views refuse") {
  const lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_input("y", f32, {4, 5});
  const auto says = [](const std::function<void()>& f, const char* what) {
    const std::string text = refused(f);
    CAPTURE(text);
    CHECK(text.find(what) != std::string::npos);
  };
  says([&] { view::transpose(x, {0}); }, "transpose: expected each of the 2 dimensions of x once, found 0");
  says([&] { view::transpose(x, {1, 1}); }, "found 1, 1");
  says([&] { view::transpose(x, {2, 0}); }, "found 2, 0");
  says([&] { view::slice(x, 2, Range{Expr(0), N}); }, "slice: expected a dimension of x, from 0 to 1, found 2");
  says([&] { view::slice(x, 1, Range{Expr(0), N}, 0); }, "expected a step of at least 1");
  says([&] { view::slice(y, 1, Range{Expr(1), Expr(6)}); }, "expected a range inside [5], which y has, found [1 to 6]");
  says([&] { view::reverse(x, -1); }, "reverse: expected a dimension of x");
  says([&] { view::broadcast(y, {5}); }, "broadcast: expected at least the 2 dimensions of y, found 1");
  says([&] { view::broadcast(y, {2, 4, 6}); }, "expected the extent [5] of y in dimension 2, which is not 1, found [6]");
  says([&] { view::reshape(y, {3, 7}); }, "reshape: expected a shape of as many elements as y[4, 5] has, found [3, 7]");
  says([&] { view::reshape(x, {M, N / 4, 4}); }, "found [M, N / 4, 4]");
  says([&] { view::reshape(x, {Range{Expr(1), M + 1}, N}); }, "reshape: expected dimensions that begin at 0");
}
