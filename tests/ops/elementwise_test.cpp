// Elementwise functions, arithmetic that broadcasts, activations: on edge values, and shapes that are odd, tiny and empty.
#include "tests/ops/check.h"

using namespace ops_test;

namespace {

using Function = double (*)(double);
struct Unary {
  Tensor (*op)(const Tensor&, Where);
  Function f;
};

double erf_d(double x) { return std::erf(x); }
double sigmoid_d(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_d(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double sign_d(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

// Several functions of one input in a program: one compilation for all.
void unary(const char* name, std::vector<Unary> all, ops_test::Values values, Type type, Tolerance tolerance) {
  check(
      name,
      [&](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor x = m.in("x", type, {M, N}, values);
        for (const Unary& u : all) m.out(u.op(x, Where::current()));
      },
      {{{{5, 37}}}, {{{1, 1}}}, {{{3, 0}}}},
      [&](const Inputs& in) {
        Results r;
        for (const Unary& u : all) r.push_back(in[0].map(u.f));
        return r;
      },
      tolerance);
}

Nd broadcast(const Nd& a, const Nd& b, const std::function<double(double, double)>& f) {
  Dims shape(std::max(a.shape.size(), b.shape.size()));
  const auto of = [&](const Nd& t, std::size_t d) {
    const std::size_t fresh = shape.size() - t.shape.size();
    return d < fresh ? std::int64_t{1} : t.shape[d - fresh];
  };
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = of(a, d) == 1 ? of(b, d) : of(a, d);
  Nd r(shape);
  const auto read = [&](const Nd& t, const Dims& i) {
    Dims at;
    for (std::size_t d = 0; d < t.shape.size(); ++d) at.push_back(t.shape[d] == 1 ? 0 : i[d + shape.size() - t.shape.size()]);
    return t.at(at);
  };
  each(shape, [&](const Dims& i) { r.at(i) = f(read(a, i), read(b, i)); });
  return r;
}

double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : a > b ? a : b; }
double smaller(double a, double b) { return -larger(-a, -b); }

}  // namespace

TEST_CASE("elementwise functions of edge values") {
  unary("functions",
        {{ops::exp, [](double x) { return double(std::exp(x)); }},
         {ops::expm1, [](double x) { return std::expm1(x); }},
         {ops::exp2, [](double x) { return std::exp2(x); }},
         {ops::log, [](double x) { return std::log(x); }},
         {ops::log1p, [](double x) { return std::log1p(x); }},
         {ops::log2, [](double x) { return std::log2(x); }},
         {ops::tanh, [](double x) { return std::tanh(x); }},
         {ops::erf, erf_d},
         {ops::erfc, [](double x) { return std::erfc(x); }},
         {ops::sigmoid, sigmoid_d},
         {ops::sqrt, [](double x) { return std::sqrt(x); }},
         {ops::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
         {ops::cbrt, [](double x) { return std::cbrt(x); }},
         {ops::reciprocal, [](double x) { return float(1 / x) == 0 ? 0 : double(float(1 / x)); }},
         {ops::atan, [](double x) { return std::atan(x); }},
         {ops::asin, [](double x) { return std::asin(x); }},
         {ops::acos, [](double x) { return std::acos(x); }},
         {ops::sinh, [](double x) { return double(float(std::sinh(x))); }},
         {ops::cosh, [](double x) { return double(float(std::cosh(x))); }}},
        [](std::uint64_t r, std::int64_t k) {  // exp and the like reach infinity in f32 before they do in f64: stay below
          const double v = edges()(r, k);
          return std::fabs(v) > 80 && std::isfinite(v) ? std::copysign(80.0, v) : v;
        },
        f32, {6e-7, 1e-44});
  unary("angles",
        {{ops::sin, [](double x) { return std::sin(x); }},
         {ops::cos, [](double x) { return std::cos(x); }},
         {ops::tan, [](double x) { return std::tan(x); }}},
        between(-30, 30), f32, {1e-6, 1e-7});
  unary("exact functions",
        {{ops::neg, [](double x) { return -x; }},
         {ops::abs, [](double x) { return std::fabs(x); }},
         {ops::sign, sign_d},
         {ops::floor, [](double x) { return std::floor(x); }},
         {ops::ceil, [](double x) { return std::ceil(x); }},
         {ops::round, [](double x) { return std::nearbyint(x); }},
         {ops::trunc, [](double x) { return std::trunc(x); }},
         {ops::isnan, [](double x) { return std::isnan(x) ? 1.0 : 0.0; }},
         {ops::isinf, [](double x) { return std::isinf(x) ? 1.0 : 0.0; }},
         {ops::isfinite, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }}},
        edges(), f32, exact);
  unary("integers",
        {{ops::neg, [](double x) { return -x; }},
         {ops::abs, [](double x) { return std::fabs(x); }},
         {ops::sign, sign_d},
         {ops::square, [](double x) { return x * x; }},
         {ops::relu, [](double x) { return x > 0 ? x : 0; }},
         {ops::bitwise_not, [](double x) { return -x - 1; }}},
        whole(-100, 100), i32, exact);
}

TEST_CASE("conversions and bounds") {
  check(
      "cast",
      [](Maker& m) {
        const Symbol N{"N"};
        const Tensor x = m.in("x", f32, {N}, between(-300, 300));
        m.out(ops::cast(x, i32));
        m.out(ops::saturating_cast(x, i8));
        m.out(ops::clamp(x, -1.5f, m.scalar("high", f32)));
        m.out(ops::scale(x, 0.5));
        m.out(ops::shift(x, 2));
      },
      {{{{50}}, {2.25}}, {{{1}}, {0}}, {{{0}}, {0}}},
      [](const Inputs& in) {
        const double high = in[1][0];
        return Results{in[0].map([](double x) { return std::trunc(x); }),
                       in[0].map([](double x) { return std::nearbyint(std::fmax(-128, std::fmin(127, x))); }),
                       in[0].map([&](double x) { return std::fmax(-1.5, std::fmin(high, x)); }),
                       in[0].map([](double x) { return x / 2; }), in[0].map([](double x) { return x + 2; })};
      },
      exact);
}

TEST_CASE("arithmetic that broadcasts") {
  struct Shapes {
    const char* name;
    std::function<std::vector<Extent>(const Symbol&, const Symbol&, const Symbol&)> a, b;
    std::vector<Run> runs;
  };
  const std::vector<Shapes> shapes = {{"one shape",
                                       [](auto& M, auto& N, auto&) { return std::vector<Extent>{M, N}; },
                                       [](auto& M, auto& N, auto&) { return std::vector<Extent>{M, N}; },
                                       {{{{3, 17}, {3, 17}}}, {{{1, 1}, {1, 1}}}, {{{0, 4}, {0, 4}}}}},
                                      {"a row",
                                       [](auto& M, auto& N, auto&) { return std::vector<Extent>{M, N}; },
                                       [](auto&, auto& N, auto&) { return std::vector<Extent>{N}; },
                                       {{{{3, 17}, {17}}}, {{{2, 0}, {0}}}}},
                                      {"both are stretched",
                                       [](auto& M, auto&, auto& K) { return std::vector<Extent>{M, 1, K}; },
                                       [](auto&, auto& N, auto&) { return std::vector<Extent>{N, 1}; },
                                       {{{{2, 1, 5}, {3, 1}}}, {{{1, 1, 1}, {1, 1}}}, {{{2, 1, 5}, {0, 1}}}}},
                                      {"one element",
                                       [](auto&, auto&, auto&) { return std::vector<Extent>{}; },
                                       [](auto& M, auto& N, auto&) { return std::vector<Extent>{M, N}; },
                                       {{{{}, {3, 5}}}}}};
  using Two = std::function<double(double, double)>;
  for (const Shapes& s : shapes)
    check(
        s.name,
        [&](Maker& m) {
          const Symbol M{"M"}, N{"N"}, K{"K"};
          const Tensor a = m.in("a", f32, s.a(M, N, K), edges()), b = m.in("b", f32, s.b(M, N, K), edges());
          m.out(ops::add(a, b)), m.out(ops::sub(a, b)), m.out(ops::mul(a, b)), m.out(ops::div(a, b));
          m.out(ops::minimum(a, b)), m.out(ops::maximum(a, b)), m.out(ops::less(a, b)), m.out(ops::equal(a, b));
          m.out(ops::not_equal(a, b)), m.out(ops::greater_equal(a, b));
          m.out(ops::where(ops::greater(a, b), a, b));
          m.out(ops::where(ops::logical_or(ops::isnan(a), ops::less_equal(a, b)), b, a));
          m.out(ops::logical_and(ops::less_equal(a, b), ops::greater_equal(a, b)));
          m.out(ops::logical_xor(ops::isnan(a), ops::isnan(b))), m.out(ops::logical_not(ops::less(a, b)));
        },
        s.runs,
        [](const Inputs& in) {
          const auto rounded = [](double v) { return double(float(v)); };
          const Two all[] = {[&](double x, double y) { return rounded(x + y); },
                             [&](double x, double y) { return rounded(x - y); },
                             [&](double x, double y) { return rounded(x * y); },
                             [&](double x, double y) { return rounded(x / y); },
                             smaller,
                             larger,
                             [](double x, double y) { return x < y ? 1.0 : 0.0; },
                             [](double x, double y) { return x == y ? 1.0 : 0.0; },
                             [](double x, double y) { return x != y ? 1.0 : 0.0; },
                             [](double x, double y) { return x >= y ? 1.0 : 0.0; },
                             [](double x, double y) { return x > y ? x : y; },
                             [](double x, double y) { return std::isnan(x) || x <= y ? y : x; },
                             [](double x, double y) { return x == y ? 1.0 : 0.0; },
                             [](double x, double y) { return std::isnan(x) != std::isnan(y) ? 1.0 : 0.0; },
                             [](double x, double y) { return x < y ? 0.0 : 1.0; }};
          Results r;
          for (const Two& f : all) r.push_back(broadcast(in[0], in[1], f));
          return r;
        },
        {0, 0, false, s.runs.size() == 3});
}

TEST_CASE("integers divide to the floor, bits, powers") {
  check(
      "integer arithmetic",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor a = m.in("a", i32, {M, N}, whole(-50, 50)), b = m.in("b", i32, {N}, whole(1, 9));
        m.out(ops::div(a, b)), m.out(ops::remainder(a, b)), m.out(ops::bitwise_and(a, b)), m.out(ops::bitwise_xor(a, b));
        m.out(ops::bitwise_or(a, b));
        m.out(ops::shift_left(a, b)), m.out(ops::shift_right(a, b)), m.out(ops::squared_difference(a, b));
        m.out(ops::broadcast_to(b, Shape::of({M, N})));
      },
      {{{{4, 9}, {9}}}, {{{0, 3}, {3}}}},
      [](const Inputs& in) {
        const auto integers = [&](std::int64_t (*f)(std::int64_t, std::int64_t)) {
          return broadcast(in[0], in[1], [f](double x, double y) {
            return static_cast<double>(f(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)));
          });
        };
        return Results{broadcast(in[0], in[1], [](double x, double y) { return std::floor(x / y); }),
                       broadcast(in[0], in[1], [](double x, double y) { return x - std::floor(x / y) * y; }),
                       integers([](std::int64_t x, std::int64_t y) { return x & y; }),
                       integers([](std::int64_t x, std::int64_t y) { return x ^ y; }),
                       integers([](std::int64_t x, std::int64_t y) { return x | y; }),
                       integers([](std::int64_t x, std::int64_t y) { return x * (std::int64_t{1} << y); }),
                       integers([](std::int64_t x, std::int64_t y) { return x >> y; }),
                       integers([](std::int64_t x, std::int64_t y) { return (x - y) * (x - y); }),
                       integers([](std::int64_t, std::int64_t y) { return y; })};
      },
      exact);
  check(
      "powers",
      [](Maker& m) {
        const Symbol N{"N"};
        const Tensor a = m.in("a", f32, {N}, between(0, 4)), b = m.in("b", f32, {N});
        m.out(ops::pow(a, b)), m.out(ops::atan2(a, b)), m.out(ops::lerp(a, b, 0.25));
      },
      {{{{60}, {60}}}, {{{0}, {0}}}},
      [](const Inputs& in) {
        return Results{broadcast(in[0], in[1], [](double x, double y) { return std::pow(x, y); }),
                       broadcast(in[0], in[1], [](double x, double y) { return std::atan2(x, y); }),
                       broadcast(in[0], in[1], [](double x, double y) { return x + 0.25 * (y - x); })};
      });
}

TEST_CASE("activations") {
  const auto build = [](Maker& m, Type t, ops_test::Values values) {
    const Symbol M{"M"}, N{"N"};
    const Tensor x = m.in("x", t, {M, N}, values), slope = m.in("slope", t, {N}, between(0, 1));
    m.out(ops::relu(x)), m.out(ops::relu6(x)), m.out(ops::leaky_relu(x, 0.125)), m.out(ops::prelu(x, slope));
    m.out(ops::elu(x, 1.5)), m.out(ops::celu(x, 2)), m.out(ops::selu(x));
    m.out(ops::gelu(x)), m.out(ops::gelu(x, ops::Gelu::tanh)), m.out(ops::silu(x)), m.out(ops::silu(x, 1.5));
    m.out(ops::softplus(x)), m.out(ops::softplus(x, 4)), m.out(ops::log_sigmoid(x)), m.out(ops::mish(x));
    m.out(ops::softsign(x)), m.out(ops::hard_tanh(x)), m.out(ops::hard_sigmoid(x)), m.out(ops::hard_swish(x));
    m.out(ops::threshold(x, 0.5, -7)), m.out(ops::tanh_shrink(x)), m.out(ops::soft_shrink(x));
  };
  const auto reference = [](const Inputs& in) {
    Results r;
    const auto add = [&](const std::function<double(double)>& f) { r.push_back(in[0].map(f)); };
    const auto clamped = [](double x, double a, double b) { return x < a ? a : x > b ? b : x; };
    add([](double x) { return x < 0 ? 0 : x; });
    add([&](double x) { return clamped(x, 0, 6); });
    add([](double x) { return x > 0 ? x : 0.125 * x; });
    r.push_back(in[0]);
    each(in[0].shape, [&](const Dims& i) {
      double& v = r.back().at(i);
      if (!(v > 0)) v *= in[1][i[1]];
    });
    add([](double x) { return x > 0 ? x : 1.5 * std::expm1(x); });
    add([](double x) { return std::isnan(x) ? x : std::fmax(x, 0) + std::fmin(2 * std::expm1(x / 2), 0); });
    add([](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); });
    add([](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); });
    add([](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); });
    add([](double x) { return x * sigmoid_d(x); });
    add([](double x) { return x * sigmoid_d(1.5 * x); });
    add(softplus_d);
    add([](double x) { return softplus_d(4 * x) / 4; });
    add([](double x) { return -softplus_d(-x); });
    add([](double x) { return x * std::tanh(softplus_d(x)); });
    add([](double x) { return x / (1 + std::fabs(x)); });
    add([&](double x) { return clamped(x, -1, 1); });
    add([&](double x) { return clamped(x / 6 + 0.5, 0, 1); });
    add([&](double x) { return x * clamped(x + 3, 0, 6) / 6; });
    add([](double x) { return x <= 0.5 ? -7 : x; });
    add([](double x) { return x - std::tanh(x); });
    add([](double x) { return x > 0.5 ? x - 0.5 : x < -0.5 ? x + 0.5 : 0 * x; });
    return r;
  };
  check("activations", [&](Maker& m) { build(m, f32, between(-9, 9)); }, {{{{7, 19}, {19}}}, {{{1, 1}, {1}}}, {{{2, 0}, {0}}}},
        reference, {2e-6, 3e-7, false, true});
  check("activations of infinities and NaN",
        [&](Maker& m) {
          build(m, f32, [](std::uint64_t r, std::int64_t) {
            const double list[] = {std::nan(""), std::numeric_limits<double>::infinity(), 0.0, -100.0, 100.0, 1e-30};
            return list[(r >> 9) % 6];
          });
        },
        {{{{4, 9}, {9}}}}, reference, {2e-6, 1e-37});
  // one rounding: half a unit of 11 and of 8 bits
  check("activations of f16", [&](Maker& m) { build(m, f16, between(-9, 9)); }, {{{{7, 19}, {19}}}}, reference,
        {4.95e-4, 4e-7});
  check("activations of bf16", [&](Maker& m) { build(m, bf16, between(-9, 9)); }, {{{{7, 19}, {19}}}}, reference,
        {3.95e-3, 4e-7});
  check(
      "gelu, its left tail",
      [](Maker& m) { m.out(ops::gelu(m.in("x", f32, {Symbol("N")}, between(-13, 0)), ops::Gelu::tail)); }, {{{{200}}}, {{{0}}}},
      [](const Inputs& in) { return Results{in[0].map([](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); })}; },
      {2e-5, 0, false, true});
  check(
      "glu",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N", {.multiple_of = 2}};
        const Tensor x = m.in("x", f32, {M, N});
        m.out(ops::glu(x));
        m.out(ops::glu(m.in("y", f32, {8, M}), 0));
        m.out(ops::swiglu(x, ops::relu(x)));
      },
      {{{{3, 10}, {8, 3}}}, {{{1, 0}, {8, 1}}}},
      [](const Inputs& in) {
        Nd a({in[0].n(0), in[0].n(1) / 2}), b({4, in[1].n(1)});
        each(a.shape, [&](const Dims& i) { a.at(i) = in[0](i[0], i[1]) * sigmoid_d(in[0](i[0], i[1] + a.n(1))); });
        each(b.shape, [&](const Dims& i) { b.at(i) = in[1](i[0], i[1]) * sigmoid_d(in[1](i[0] + 4, i[1])); });
        return Results{a, b, in[0].map([](double x) { return x * sigmoid_d(x) * (x < 0 ? 0 : x); })};
      });
}

TEST_CASE("arguments that do not fit are refused at the call, by name") {
  const auto text = refusal_of([] {
    const Symbol M{"M"}, N{"N"};
    (void)ops::add(lang::make_input("p", f32, {M, N}), lang::make_input("q", f32, {M}));
  });
  CHECK(text.find("elementwise_test.cpp:") == 0);
  CHECK(text.find("add: expected b whose dimension 0 has the extent N, as the others, or the number 1, found M") !=
        std::string::npos);
  CHECK(refusal_of([] {
          const Symbol N{"N"};
          (void)ops::mul(lang::make_input("p", f32, {N}), lang::make_input("q", f16, {N}));
        }).find("mul: expected b of f32, as a, found f16") != std::string::npos);
  CHECK(refusal_of([] {
          (void)ops::gelu(lang::make_input("p", i32, {4}));
        }).find("gelu: expected x of a floating type, found i32") != std::string::npos);
  CHECK(refusal_of([] {
          (void)ops::glu(lang::make_input("p", f32, {4}), 1);
        }).find("glu: expected an axis from -1 to 0, found 1") != std::string::npos);
  CHECK(refusal_of([] {
          (void)ops::glu(lang::make_input("p", f32, {Symbol("N")}));
        }).find("glu: expected x whose dimension 0 is a multiple of 2, found N") != std::string::npos);
  CHECK(refusal_of([] {
          (void)ops::where(lang::make_input("p", f32, {4}), lang::make_input("q", f32, {4}), lang::make_input("r", f32, {4}));
        }).find("where: expected condition of bool, found f32") != std::string::npos);
}
