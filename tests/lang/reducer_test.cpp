// Reducers of the user's own, argmax and argmin: what they compute, and the trial of what they claim.
#include <cmath>
#include <limits>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>

#include "tests/support/refused.h"
#include "run.h"

using namespace ashlar;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

interp::Array numbers(Type t, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  std::size_t next = 0;
  return interp::Array::make(t, std::move(shape), [&](auto) { return values.at(next++); });
}

// count, mean and sum of squared deviations (Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm, 1979)
Reducer<3> moments(Order order = Order::any) {
  return reducer(
      "moments", {f64, f64, f64}, {0, 0, 0},
      [](Values<3> a, Values<3> b) {
        Expr n = a[0] + b[0], share = select(n == 0, 0, b[0] / n), d = b[1] - a[1];
        return values(n, a[1] + d * share, a[2] + b[2] + d * d * a[0] * share);
      },
      order);
}
Reducer<2> times() {  // of complex numbers
  return reducer(
      "times", {f32, f32}, {1, 0},
      [](Values<2> a, Values<2> b) { return values(a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]); }, Order::any);
}
Reducer<1> first_nonzero() {  // keeps the left one: associative, and does not commute
  return reducer(
      "first_nonzero", {i32}, {0}, [](Values<1> a, Values<1> b) { return values(select(a[0] != 0, a[0], b[0])); },
      Order::regroup);
}

}  // namespace

TEST_CASE("argmax and argmin: the extreme value and its smallest place, a NaN before numbers") {
  for (const bool largest : {true, false}) {
    lang::DefinitionScope scope;
    Symbol M{"M"}, N{"N"};
    Tensor x = lang::make_input("x", f32, {M, N}), v = lang::make_output("v", f32, {M}), p = lang::make_output("p", i64, {M});
    Axis k{"k", N};
    auto [value, place] = compute("best", {M}, [&](Var i) { return largest ? argmax(x(i, k), k) : argmin(x(i, k), k); });
    lang::bind(v, value), lang::bind(p, place);
    const auto in =
        numbers(f32, {4, 4}, {1, 3, 3, 1, not_a_number, 7, not_a_number, -7, 0, -0.0, 0, -0.0, -inf, -inf, -inf, -inf});
    const auto room = interp::Array::zeros(f32, {4});
    CHECK(run({x, v, p}, {in, room, interp::Array::zeros(i64, {4})}) ==
          (largest ? std::vector<double>{1, 0, 0, 0} : std::vector<double>{0, 0, 0, 0}));
    const auto values = run({x, p, v}, {in, interp::Array::zeros(i64, {4}), room});
    CHECK(values[0] == (largest ? 3 : 1));
    CHECK(std::isnan(values[1]));
    CHECK(values[3] == -inf);
    // over nothing
    CHECK(run({x, v, p}, {numbers(f32, {1, 0}, {}), interp::Array::zeros(f32, {1}), interp::Array::zeros(i64, {1})}) ==
          std::vector<double>{static_cast<double>(INT64_MAX)});
  }
}

TEST_CASE("argmax of integers, from an axis that does not begin at 0") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", u8, {6}), v = lang::make_output("v", u8, {}), p = lang::make_output("p", i64, {});
  Axis k{"k", 2, 6};
  auto [value, place] = compute("best", [&] { return argmax(x(k), k); });
  lang::bind(v, value), lang::bind(p, place);
  CHECK(run({x, v, p}, {numbers(u8, {6}, {255, 254, 3, 9, 200, 200}), interp::Array::zeros(u8, {}),
                        interp::Array::zeros(i64, {})}) == std::vector<double>{4});
  CHECK(refused([&] {
          argmax(x(k), {k, k});
        }).find("argmax: expected one Axis (a reducer of values(x, place) takes several)") != std::string::npos);
}

TEST_CASE("tuples: moments over two axes, a complex product from a value, conditions") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f64, {M, N});
  Tensor count = lang::make_output("count", f64, {}), mean = lang::make_output("mean", f64, {}),
         squares = lang::make_output("squares", f64, {});
  Axis i{"i", M}, j{"j", N};
  auto [n, m, s] = compute("moments", [&] { return moments()(values(1, x(i, j), 0), AxisList{i, j}.where(j != i)); });
  lang::bind(count, n), lang::bind(mean, m), lang::bind(squares, s);
  const auto in = counting(f64, {2, 3});  // 2 3 4 6 remain
  const auto one = interp::Array::zeros(f64, {});
  CHECK(run({x, mean, squares, count}, {in, one, one, one}) == std::vector<double>{4});
  CHECK(run({x, count, squares, mean}, {in, one, one, one})[0] == doctest::Approx(3.75));
  CHECK(run({x, count, mean, squares}, {in, one, one, one})[0] == doctest::Approx(8.75));

  Tensor z = lang::make_input("z", f32, {N, 2}), re = lang::make_output("re", f32, {}), im = lang::make_output("im", f32, {});
  Axis k{"k", N};
  auto [a, b] = compute("product", [&] { return times()(values(z(k, 0), z(k, 1)), k).from(values(0, 1)); });
  lang::bind(re, a), lang::bind(im, b);
  const auto pair = numbers(f32, {2, 2}, {1, 2, 3, -1});  // i (1 + 2i)(3 - i) = -5 + 5i
  const auto room = interp::Array::zeros(f32, {});
  CHECK(run({z, re, im}, {pair, room, room}) == std::vector<double>{5});
  CHECK(run({z, im, re}, {pair, room, room}) == std::vector<double>{-5});
}

TEST_CASE("a claim that does not hold is refused with the values that show it") {
  const auto one = [](const char* name, Operand identity, auto combine, Order order) {
    return refused([&] {
      reducer(name, {f32}, {identity}, [&](Values<1> a, Values<1> b) { return values(combine(a[0], b[0])); }, order);
    });
  };
  CHECK(one(
            "top", 0, [](Expr a, Expr b) { return max(a, b); }, Order::any)
            .find("top: expected an identity: combine(identity, x) = x, found 0 for x = -1.9375 and the identity 0") !=
        std::string::npos);
  CHECK(one(
            "top", -1000, [](Expr a, Expr b) { return max(a, b); }, Order::any)
            .find("found -1000 for x = -1e+30") != std::string::npos);
  CHECK(one(
            "difference", 0, [](Expr a, Expr b) { return a - b; }, Order::any)
            .find("an identity: combine(identity, x) = x") != std::string::npos);
  CHECK(one(
            "mean", 0, [](Expr a, Expr b) { return select(a == 0, b, select(b == 0, a, (a + b) / 2)); }, Order::regroup)
            .find("mean: expected a combiner that is associative, found for x = ") != std::string::npos);
  CHECK(one(
            "first", 0, [](Expr a, Expr b) { return select(a != 0, a, b); }, Order::any)
            .find("first: expected a combiner that commutes (Order::regroup for one that does not), found for x = ") !=
        std::string::npos);
  for (const Type t : {f16, bf16, f64})  // a tolerance for each type
    CHECK(refused([&] {
            reducer("top", {t}, {Operand(0)}, [](Values<1> a, Values<1> b) { return values(max(a[0], b[0])); }, Order::any);
          }).find("an identity: combine(identity, x) = x") != std::string::npos);
  // what is claimed less is tried less
  CHECK(one("first", 0, [](Expr a, Expr b) { return select(a != 0, a, b); }, Order::regroup) == "");
  CHECK(one("horner", 0, [](Expr a, Expr b) { return a * 2 + b; }, Order::exact) == "");
  CHECK(one("top", lowest(f32), [](Expr a, Expr b) { return max(a, b); }, Order::any) == "");
}

TEST_CASE("a reducer is over its two arguments and constants") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N});
  Axis k{"k", N};
  Expr leaked;
  const auto sum_of = [&](auto combine) {
    return refused(
        [&] { reducer("r", {f32}, {0}, [&](Values<1> a, Values<1> b) { return values(combine(a[0], b[0])); }, Order::any); });
  };
  CHECK(sum_of([&](Expr a, Expr b) { return a + b + x(0); })
            .find("r: expected a combiner over its two arguments and constants alone (what a term needs stands in the term), "
                  "found x[0]") != std::string::npos);
  CHECK(sum_of([&](Expr a, Expr b) { return leaked = a, a + b; }) == "");
  CHECK(refused([&] {
          compute("y", {N}, [&](Var i) { return x(i) + leaked; });
        }).find("y: expected the arguments of a combiner only inside it, found a0 outside") != std::string::npos);
  CHECK(sum_of([&](Expr a, Expr b) { return i32(a) + i32(b); }).find("r") != std::string::npos);
  CHECK(refused([&] {
          Reducer<1>()(x(k), k);
        }).find("expected a reducer that was declared: reducer(...), found an empty Reducer") != std::string::npos);
  CHECK(refused([&] { times()(values(x(k), i32(k)), k); }).find("times, component 1") != std::string::npos);
  CHECK(refused([&] { times()(values(x(k), 0), AxisList{}); }).find("times: expected at least one Axis, found none") !=
        std::string::npos);
  CHECK(refused([&] {
          reducer("", {f32}, {0}, [](Values<1> a, Values<1>) { return a; }, Order::exact);
        }).find("reducer: expected a name, found none") != std::string::npos);
  CHECK(refused([&] {
          reducer("r", {f32}, {x(0)}, [](Values<1> a, Values<1>) { return a; }, Order::exact);
        }).find("r: expected a constant for an identity, found x[0]") != std::string::npos);
}

TEST_CASE("terms in order: what does not commute") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", i32, {M, N}), y = lang::make_output("y", i32, {M});
  Axis k{"k", N};
  lang::bind(y, compute("first", {M}, [&](Var i) { return first_nonzero()(x(i, k), k); }));
  CHECK(run({x, y}, {numbers(i32, {3, 3}, {0, 5, 7, 0, 0, 0, 2, 0, 9}), interp::Array::zeros(i32, {3})}) ==
        std::vector<double>{5, 0, 2});
}
