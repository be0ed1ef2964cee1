// gradient beside finite differences: in f64, by the interpreter, for every element of every tensor.
#include <ashlar/ashlar.h>

#include <cmath>

#include "tests/support/refused.h"
#include "run.h"

using namespace ashlar;

namespace {

// Numbers without ties, between -1 and 1.5.
interp::Array scattered(std::vector<std::int64_t> shape, unsigned seed) {
  return interp::Array::make(f64, std::move(shape), [&](std::span<const std::int64_t>) {
    seed = seed * 1664525u + 1013904223u;
    return -1 + 2.5 * static_cast<double>(seed >> 8) / (1u << 24);
  });
}

struct Wanted {
  Tensor by;
  std::vector<std::int64_t> shape;
};

double at(const interp::Array& a, std::int64_t k) {
  std::vector<std::int64_t> index(a.shape.size());
  for (std::size_t d = index.size(); d-- > 0; k /= a.shape[d]) index[d] = k % a.shape[d];
  return a.at(index).f;
}

// Every element of every derivative is (loss(x + h) - loss(x - h)) / 2h.
template <std::size_t N>
void differences(const Tensor& loss, const Tensor (&by)[N], const std::vector<std::int64_t> (&shapes)[N],
                 const std::vector<std::pair<Tensor, interp::Array>>& fixed = {}) {
  std::vector<lang::ArgumentRef> arguments;
  interp::Arguments values;
  for (std::size_t k = 0; k < N; ++k) {
    arguments.emplace_back(by[k]);
    values.emplace_back(scattered(shapes[k], static_cast<unsigned>(17 * k + 3)));
  }
  for (const auto& [tensor, array] : fixed) arguments.emplace_back(tensor), values.emplace_back(array);
  const Tensor out = lang::make_output("out_loss", f64, {});
  lang::bind(out, loss);
  const auto value_at = [&](interp::Arguments x) {
    auto with = arguments;
    with.emplace_back(out);
    x.emplace_back(interp::Array::zeros(f64, {}));
    interp::run_algorithm(lang::build_program("loss", with).program, x);
    return x.back().array.at({}).f;
  };
  const std::array<Tensor, N> derivatives = gradient(loss, by);
  for (std::size_t k = 0; k < N; ++k) {
    const Tensor result = lang::make_output("result", f64, derivatives[k].shape().extents());
    lang::bind(result, derivatives[k]);
    auto with = arguments;
    with.emplace_back(result);
    auto x = values;
    x.emplace_back(interp::Array::zeros(f64, shapes[k]));
    const std::vector<double> got = run(with, x);
    const std::int64_t n = values[k].array.elements();
    REQUIRE(static_cast<std::int64_t>(got.size()) == n);
    for (std::int64_t e = 0; e < n; ++e) {
      const double h = 1e-6;
      std::int64_t element = 0;
      const auto moved = [&](double by_h) {
        auto y = values;
        element = 0;
        y[k].array = interp::Array::make(f64, shapes[k], [&](std::span<const std::int64_t>) {
          const double v = at(values[k].array, element);
          return element++ == e ? v + by_h : v;
        });
        return value_at(y);
      };
      const double expected = (moved(h) - moved(-h)) / (2 * h);
      CAPTURE(k);
      CAPTURE(e);
      CHECK(got[static_cast<std::size_t>(e)] == doctest::Approx(expected).epsilon(2e-6));
    }
  }
}

Tensor total(const Tensor& x, const char* name = "total") {
  std::vector<Axis> axes;
  Indices i;
  const Shape shape = x.shape();
  for (const Extent& e : shape.extents()) {
    axes.emplace_back("t", Operand(e.begin().empty() ? Expr(ir::index(0)) : e.begin()), Operand(e.end()));
    detail::Access::append(i, axes.back());
  }
  return compute(name, [&] { return sum(x(i) * x(i) + x(i), AxisList(axes)); });
}

}  // namespace

TEST_CASE("every function of floats has the derivative that differences give") {
  const std::pair<const char*, Expr (*)(const Expr&)> functions[] = {
      {"neg", [](const Expr& x) { return -x; }},
      {"abs", [](const Expr& x) { return abs(x); }},
      {"sqrt", [](const Expr& x) { return sqrt(x + 2); }},
      {"rsqrt", [](const Expr& x) { return rsqrt(x + 2); }},
      {"cbrt", [](const Expr& x) { return cbrt(x + 2); }},
      {"exp", [](const Expr& x) { return exp(x); }},
      {"exp2", [](const Expr& x) { return exp2(x); }},
      {"expm1", [](const Expr& x) { return expm1(x); }},
      {"log", [](const Expr& x) { return log(x + 2); }},
      {"log2", [](const Expr& x) { return log2(x + 2); }},
      {"log1p", [](const Expr& x) { return log1p(x + 1); }},
      {"sin", [](const Expr& x) { return sin(x); }},
      {"cos", [](const Expr& x) { return cos(x); }},
      {"tan", [](const Expr& x) { return tan(x / 2); }},
      {"asin", [](const Expr& x) { return asin(x / 2); }},
      {"acos", [](const Expr& x) { return acos(x / 2); }},
      {"atan", [](const Expr& x) { return atan(x); }},
      {"sinh", [](const Expr& x) { return sinh(x); }},
      {"cosh", [](const Expr& x) { return cosh(x); }},
      {"tanh", [](const Expr& x) { return tanh(x); }},
      {"erf", [](const Expr& x) { return erf(x); }},
      {"erfc", [](const Expr& x) { return erfc(x); }},
      {"division", [](const Expr& x) { return (x + 1) / (x * x + 2); }},
      {"mod", [](const Expr& x) { return (x + 7) % (x + 3); }},
      {"atan2", [](const Expr& x) { return atan2(x * x + 1, x + 3); }},
      {"copysign", [](const Expr& x) { return copysign(x, Expr(x + 0.25)) + copysign(x * x, Expr(-x)); }},
      {"fma", [](const Expr& x) { return fma(x, x + 1, x - 2); }},
      {"min, max", [](const Expr& x) { return min(x, Expr(x * x)) + max(x, Expr(1 - x)); }},
      {"clamp", [](const Expr& x) { return clamp(x * 3, -1, 1); }},
      {"select", [](const Expr& x) { return select(x > 0.25, x * x, sin(x)); }},
      {"fast", [](const Expr& x) { return fast(x * x * x); }},
      {"approximate", [](const Expr& x) { return approximate(exp(x) + sigmoid(x)); }},
      {"conversions", [](const Expr& x) { return x * f64(i32(x * 0)) + floor(x) * x; }},
      {"one twice",
       [](const Expr& x) {
         const Expr e = exp(x);
         return e * e + e;
       }},
  };
  for (const auto& [name, f] : functions) {
    CAPTURE(std::string(name));
    lang::DefinitionScope scope;
    const Tensor x = lang::make_input("x", f64, {5});
    const Tensor y = compute("y", {5}, [&](Var i) { return f(x(i)); });
    differences(total(y), {x}, {{5}});
  }
}

TEST_CASE("products, transpositions, diagonals and broadcasts") {
  lang::DefinitionScope scope;
  const Tensor A = lang::make_input("A", f64, {3, 4}), B = lang::make_input("B", f64, {4, 3}),
               b = lang::make_input("b", f64, {3});
  const Tensor C = einsum("ik,kj->ij", A, B);
  const Tensor y = compute("y", {3, 3}, [&](Var i, Var j) { return tanh(C(i, j) + b(j)) * C(j, i) + C(i, i); });
  differences(total(y), {A, B, b}, {{3, 4}, {4, 3}, {3}});
}

TEST_CASE("convolutions: shifts, strides, a boundary, an inner start") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f64, {11}), w = lang::make_input("w", f64, {3}), b = lang::make_input("b", f64, {5});
  const Axis r{"r", 3}, q{"q", 3};
  const Tensor wide = boundary::constant(x, 0.5);
  const Tensor same = compute("same", {11}, [&](Var i) { return sum(wide(i + r - 1) * w(r), r); });
  const Tensor every = compute("every", {5}, [&](Var i) { return sum(same(2 * i + q) * w(q), q).from(b(i)); });
  const Tensor inner = compute("inner", {Range{Expr(ir::index(1)), Expr(ir::index(4))}},
                               [&](Var i) { return every(i) * same(2 * i) - every(i - 1) + every(4 - i) * every(i + 1); });
  differences(total(inner), {x, w, b}, {{11}, {3}, {5}});
}

TEST_CASE("minima and maxima give to what decides; triangles and conditions") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f64, {4, 5}), b = lang::make_input("b", f64, {4});
  const Axis k{"k", 5}, l{"l", 5};
  const Tensor top = compute("top", {4}, [&](Var i) { return maximum(x(i, k), k).from(b(i)); });
  const Tensor low = compute("low", {4}, [&](Var i) { return minimum(x(i, l) * top(i), l.where(l != i)); });
  const Tensor part = compute("part", {4}, [&](Var i) {
    const Axis t{"t", i + 1};
    return sum(x(t, i) * low(t), t);
  });
  const Tensor soft = compute("soft", {4, 5}, [&](Var i, Var j) { return exp(x(i, j) - top(i)) * part(i); });
  differences(total(soft), {x, b}, {{4, 5}, {4}});
}

TEST_CASE("equals share the derivative of their maximum") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f64, {4}), result = lang::make_output("result", f64, {4});
  const Axis k{"k", 4};
  const Tensor top = compute("top", [&] { return maximum(x(k), k); });
  lang::bind(result, gradient(top, {x})[0]);
  double v = 0;
  const interp::Array values = interp::Array::make(f64, {4}, [&](std::span<const std::int64_t>) {
    return v++ == 1 ? 3.0 : v > 2 ? 3.0 : 1.0;
  });
  CHECK(run({x, result}, {values, interp::Array::zeros(f64, {4})}) == std::vector<double>{0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
}

TEST_CASE("reads that data choose come back by scatters, and scatters by reads") {
  lang::DefinitionScope scope;
  const Tensor table = lang::make_input("table", f64, {5, 3}), g = lang::make_input("g", f64, {7}),
               rows = lang::make_input("rows", i32, {7});
  const Tensor picked = compute("picked", {7, 3}, [&](Var i, Var d) { return table(clamp(rows(i), 0, 4), d) * g(i); });
  const Tensor edge = boundary::repeat(g),
               halves = compute("halves", {14}, [&](Var i) { return edge(i / 2 - 2) * edge(i - 4); });
  const Tensor bins = scatter("bins", {4}, Combine::add, 0.0, {7, 3}, [&](Var i, Var d) {
    return put_if(rows(i) >= 0 && rows(i) < 4, picked(i, d) * g(6 - i), rows(i));
  });
  const Tensor all =
      compute("all", {7, 3}, [&](Var i, Var d) { return tanh(bins(i % 4) * picked(i, d)) + halves(2 * i + d / 2); });
  int next = 0;
  const int chosen[] = {3, 0, 9, 3, -2, 1, 4};
  const interp::Array places = interp::Array::make(i32, {7}, [&](std::span<const std::int64_t>) { return chosen[next++]; });
  differences(total(all), {table, g}, {{5, 3}, {7}}, {{rows, places}});
}

TEST_CASE("several values, stages in between, and the loss itself") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f64, {6});
  auto [a, b] = compute("pair", {6}, [&](Var i) { return values(x(i) * x(i), sin(x(i))); });
  const Tensor c = compute("c", {6}, [&, a = a, b = b](Var i) { return a(i) * b(5 - i); });
  differences(total(c), {x}, {{6}});
  lang::DefinitionScope other;
  const Tensor y = lang::make_input("y", f64, {3});
  const Tensor square = compute("square", {3}, [&](Var i) { return y(i) * y(i); });
  const Tensor loss = total(square);
  const auto by = gradient(loss, {square, loss, y});
  const Tensor one = lang::make_output("one", f64, {});
  lang::bind(one, by[1]);
  CHECK(run({y, one}, {scattered({3}, 1), interp::Array::zeros(f64, {})}) == std::vector<double>{1});
}

TEST_CASE("what has no derivative is refused at the line of the call") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), n = lang::make_input("n", i32, {N}),
               other = lang::make_input("other", f32, {N});
  const Axis k{"k", N}, l{"l", N};
  const auto loss_of = [&](const Tensor& t) { return compute("loss", [&] { return sum(t(k) * t(k), k); }); };
  const auto says = [](const std::string& text, const char* expected, const char* found) {
    CAPTURE(text);
    CHECK(text.find("gradient_test.cpp") != std::string::npos);
    CHECK(text.find(std::string("gradient: expected ") + expected) != std::string::npos);
    CHECK(text.find(found) != std::string::npos);
  };
  const auto of = [&](const Tensor& loss, const Tensor& by) { return refused([&] { (void)gradient(loss, {by}); }); };
  says(of(x, x), "a loss of rank 0 and a floating type", "x of rank 1 and type f32");
  says(of(compute("count", [&] { return sum(n(k), k); }), x), "a loss of rank 0", "type i32");
  says(of(loss_of(x), n), "tensors of floating types", "n of type i32");
  says(of(loss_of(x), boundary::repeat(x)), "tensors of floating types, no constants, boundaries or views", "a view");
  says(of(loss_of(x), other), "tensors that the loss depends on", "other, which it does not");
  const Tensor most = scatter("most", {N}, Combine::max, 0.f, {N}, [&](Var i) { return put(x(i), i); });
  says(of(loss_of(most), x), "scatters that add", "most, which does not");
  const Tensor running = scan("running", {N}, Along{0}, Combine::add, [&](Var i) { return x(i); });
  says(of(loss_of(running), x), "stages that are plain values", "running, a recurrence");
  const Tensor steps = compute("steps", {N}, [&](Var i) { return floor(x(i)); });
  says(of(loss_of(steps), x), "tensors that the loss depends on", "x, which it does not");
  says(of(compute("all", [&] { return product(x(k), k); }), x), "stages that are plain values", "all, a reduction by product");
  const Tensor bits = compute("bits", {N}, [&](Var i) { return bitcast(f32, bitcast(i32, x(i)) & 255); });
  says(of(loss_of(bits), x), "operators that have a derivative", "in bits");
  const Tensor near = compute("near", [&](Var i) { return x(i) * 2; });
  says(of(loss_of(compute("wide", {N}, [&](Var i) { return near(i) + 1; })), x), "stages whose domain is stated",
       "near, whose domain");
}
