// Accuracy of the math functions against libm in long double, on samples over the whole range: the bounds that docs/ir.md
// states.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/math.h>
#include <ashlar/ir/refusal.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {

using Real = long double;
const double infinite = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

double call(Op op, Type t, double x) {
  const Value args[1] = {float_value(t, x)};
  return evaluate(op, t, args).value().f;
}
double call(Op op, Type t, double x, double y) {
  const Value args[2] = {float_value(t, x), float_value(t, y)};
  return evaluate(op, t, args).value().f;
}

// Distance in units in the last place of the exact result; 0 where both overflow or both are NaN.
double ulps(Type t, double found, Real exact) {
  const int precision = t.bits == 64 ? 53 : 24, least = t.bits == 64 ? -1074 : -149;
  if (std::isnan(exact)) return std::isnan(found) ? 0 : infinite;
  const Real largest = t.bits == 64 ? std::numeric_limits<double>::max() : static_cast<Real>(std::numeric_limits<float>::max());
  if (std::fabs(exact) > largest)
    return std::isinf(found) && std::signbit(found) == std::signbit(exact) ? 0 : std::isinf(exact) ? infinite : 0.5;
  if (!std::isfinite(found)) return infinite;
  int e = 0;
  std::frexp(exact, &e);
  const Real unit = std::ldexp(Real(1), std::max(e - precision, least));
  return static_cast<double>(std::fabs(static_cast<Real>(found) - exact) / unit);
}

struct Function {
  Op op;
  Real (*exact)(Real);
  double low, high;             // sampled range
  double f32_bound, f64_bound;  // in ulps
};

Real exact_rsqrt(Real x) { return 1 / std::sqrt(x); }

const Function functions[] = {
    {Op::exp, [](Real x) { return std::exp(x); }, -110, 90, 1, 1},
    {Op::exp2, [](Real x) { return std::exp2(x); }, -152, 129, 1, 1},
    {Op::expm1, [](Real x) { return std::expm1(x); }, -30, 89, 1.5, 2},
    {Op::log, [](Real x) { return std::log(x); }, 0, 1e30, 1, 1},
    {Op::log2, [](Real x) { return std::log2(x); }, 0, 1e30, 1, 1},
    {Op::log1p, [](Real x) { return std::log1p(x); }, -1, 1e30, 1, 1},
    {Op::sin, [](Real x) { return std::sin(x); }, -1e5, 1e5, 1.5, 1.5},
    {Op::cos, [](Real x) { return std::cos(x); }, -1e5, 1e5, 1.5, 1.5},
    {Op::tan, [](Real x) { return std::tan(x); }, -1e5, 1e5, 2.5, 3},
    {Op::asin, [](Real x) { return std::asin(x); }, -1, 1, 1, 1},
    {Op::acos, [](Real x) { return std::acos(x); }, -1, 1, 1, 1},
    {Op::atan, [](Real x) { return std::atan(x); }, -1e10, 1e10, 2, 2},
    {Op::sinh, [](Real x) { return std::sinh(x); }, -90, 90, 2, 2.5},
    {Op::cosh, [](Real x) { return std::cosh(x); }, -90, 90, 1.5, 1.5},
    {Op::tanh, [](Real x) { return std::tanh(x); }, -12, 12, 2.5, 2.5},
    {Op::erf, [](Real x) { return std::erf(x); }, -5, 5, 1.5, 1.5},
    {Op::erfc, [](Real x) { return std::erfc(x); }, -5, 11, 4, 4},
    {Op::rsqrt, exact_rsqrt, 0, 1e30, 1.5, 1.5},
    {Op::cbrt, [](Real x) { return std::cbrt(x); }, -1e30, 1e30, 0.6, 0.6},
};

// Half uniform in the range, half spread over the exponents (both signs where the range has them), plus the ends.
std::vector<double> samples(const Function& f, Type t, int count) {
  std::mt19937_64 random(7);
  std::vector<double> xs{f.low, f.high, 1, -1, 0.5, -0.5, 1e-40, 1e-30, 0x1p-126, 0x1p-149};
  std::uniform_real_distribution<double> uniform(f.low, f.high), unit(1, 2);
  std::uniform_int_distribution<int> exponent(t.bits == 64 ? -60 : -40,
                                              static_cast<int>(std::log2(std::max(std::fabs(f.low), f.high))));
  for (int k = 0; k < count / 2; ++k) {
    xs.push_back(uniform(random));
    const double x = std::ldexp(unit(random), exponent(random));
    xs.push_back(f.low < 0 && (k & 1) ? -x : x);
  }
  std::vector<double> inside;
  for (double x : xs)
    if (x >= f.low && x <= f.high) inside.push_back(round_to(t, x));
  return inside;
}

}  // namespace

TEST_CASE("the error of every math function is bounded") {
  for (Type t : {f32, f64})
    for (const Function& f : functions) {
      double worst = 0, at = 0;
      for (double x : samples(f, t, 30000)) {
        const double e = ulps(t, call(f.op, t, x), f.exact(static_cast<Real>(x)));
        if (!(e <= worst)) worst = e, at = x;
      }
      const double bound = t.bits == 32 ? f.f32_bound : f.f64_bound;
      INFO(std::string(op_name(f.op)), " of ", t.bits, " bits is off by ", worst, " ulps at ", at);
      if (std::getenv("ASHLAR_SHOW_ERRORS")) MESSAGE(std::string(op_name(f.op)), " f", t.bits, ": ", worst, " at ", at);
      CHECK(worst <= bound);
    }
}

TEST_CASE("pow and atan2") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(-1, 1);
  double worst_pow = 0, worst32 = 0, worst64 = 0;
  for (int k = 0; k < 30000; ++k) {
    const double x = round_to(f32, std::exp2(20 * unit(random))), y = round_to(f32, 40 * unit(random) * unit(random));
    worst_pow = std::max(worst_pow, ulps(f32, call(Op::pow, f32, x, y), std::pow(static_cast<Real>(x), static_cast<Real>(y))));
    const double p = unit(random) * std::exp2(30 * unit(random)), q = unit(random) * std::exp2(30 * unit(random));
    const double p32 = round_to(f32, p), q32 = round_to(f32, q);
    worst32 = std::max(worst32,
                       ulps(f32, call(Op::atan2, f32, p32, q32), std::atan2(static_cast<Real>(p32), static_cast<Real>(q32))));
    worst64 = std::max(worst64, ulps(f64, call(Op::atan2, f64, p, q), std::atan2(static_cast<Real>(p), static_cast<Real>(q))));
  }
  if (std::getenv("ASHLAR_SHOW_ERRORS")) MESSAGE("pow f32: ", worst_pow, ", atan2 f32: ", worst32, ", atan2 f64: ", worst64);
  CHECK(worst_pow <= 0.6);
  CHECK(worst32 <= 2);
  CHECK(worst64 <= 2);
  const double corners[] = {0.0,       -0.0,         1,     -1,     2,    -2,    3,        -3,      0.5, -0.5, infinite,
                            -infinite, not_a_number, 1e-40, -1e-40, 3e38, -3e38, 16777216, 16777217};
  for (double x : corners)
    for (double y : corners) {
      const double a = round_to(f32, x), b = round_to(f32, y);
      INFO("x = ", a, ", y = ", b);
      const double p = call(Op::pow, f32, a, b), exact = round_to(f32, std::pow(a, b));
      CHECK(
          (same_value(float_value(f32, p), float_value(f32, exact)) || ulps(f32, p, static_cast<Real>(std::pow(a, b))) <= 0.6));
      CHECK(std::signbit(p) == (std::isnan(exact) ? std::signbit(p) : std::signbit(exact)));
      for (Type t : {f32, f64}) {
        const double c = t == f32 ? a : x, d = t == f32 ? b : y, found = call(Op::atan2, t, c, d);
        CHECK(ulps(t, found, std::atan2(static_cast<Real>(c), static_cast<Real>(d))) <= 2);
        if (!std::isnan(found)) CHECK(std::signbit(found) == std::signbit(std::atan2(c, d)));
      }
    }
}

TEST_CASE("special arguments: zeros keep their sign, infinities and NaN go where libm sends them") {
  for (Type t : {f32, f64})
    for (const Function& f : functions)
      for (double x : {0.0, -0.0, infinite, -infinite, not_a_number}) {
        if (std::isinf(x) && (f.op == Op::sin || f.op == Op::cos || f.op == Op::tan)) continue;
        const double found = call(f.op, t, x);
        const auto exact = static_cast<double>(f.exact(static_cast<Real>(x)));
        INFO(std::string(op_name(f.op)), " of ", t.bits, " bits at ", x, ": ", found, ", expected ", exact);
        CHECK(ulps(t, found, f.exact(static_cast<Real>(x))) <= 1.5);
        if (!std::isnan(exact)) CHECK(std::signbit(found) == std::signbit(exact));
      }
}

TEST_CASE("circular functions beyond their range are NaN, not noise") {
  for (Op op : {Op::sin, Op::cos, Op::tan}) {
    CHECK(std::isnan(call(op, f32, 0x1p17)));
    CHECK(std::isnan(call(op, f64, 0x1p40)));
    CHECK(std::isnan(call(op, f32, infinite)));
  }
}

TEST_CASE("narrow floats are computed in f32 and rounded") {
  for (double x : {-3.0, -0.3, 0.0, 0.7, 5.0})
    for (Op op : {Op::exp, Op::tanh, Op::erf, Op::sin}) {
      CHECK(call(op, f16, x) == round_to(f16, call(op, f32, round_to(f16, x))));
      CHECK(call(op, bf16, x) == round_to(bf16, call(op, f32, round_to(bf16, x))));
    }
}

TEST_CASE("mod of floats is x - floor(x / y) * y, step by step") {
  CHECK(call(Op::mod, f32, -7, 2) == 1);
  CHECK(call(Op::mod, f64, 7.5, -2) == -0.5);
}

TEST_CASE("nothing but native operators remains, for vectors too") {
  const Expr x = var(1, "x", f32.with_lanes(8));
  for (const Function& f : functions) {
    const Expr e = expand_math(unary(f.op, x));
    CHECK(e.type() == x.type());
    walk(e, [&](const Expr& n) {
      CHECK_FALSE((!args_of(n).empty() && is_expanded_math(op_of(n), args_of(n)[0].type())));
      CHECK((n.type().lanes == 8 || args_of(n).empty()));
      return true;
    });
  }
}

TEST_CASE("what has no expansion is refused by name") {
  const Expr x = var(1, "x", f64);
  CHECK_THROWS_AS(expand_math(binary(Op::pow, x, x)), RefusalError);
}
