// Accuracy of the math functions against libm in long double, on samples over the whole range and hard cases: the bounds that
// docs/ir.md states. Over all floats: tests/codegen/ulps.cpp.
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

#include "tests/support/math_bounds.h"

using namespace ashlar;
using namespace ashlar::ir;
using math_bounds::Function;
using math_bounds::functions;
using math_bounds::ulps;

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

// Arguments at which rounding or cancellation is worst: near multiples of pi/2 (the closest float and double of all among
// them), ends of ranges, results that are subnormal, what the expansions found hard before.
const double hard[] = {0x1.33333p13,
                       0x1.6ac5b262ca1ffp849,
                       0x1.921fb6p0,
                       0x1.921fb54442d18p0,
                       0x1.921fb6p1,
                       0x1.921fb54442d18p1,
                       0x1.f9cbe2p7,
                       0x1.5f3f74p113,
                       0x1p17,
                       0x1.fffffep16,
                       0x1p40,
                       0x1.fffffffffffffp39,
                       0x1.fffffep127,
                       0x1p-126,
                       0x1p-149,
                       0x1p-1022,
                       0x1p-1074,
                       0x1.fffffffffffffp1023,
                       0x1.62e42ep6,
                       -0x1.9fe36ap6,
                       0x1.111fd2p4,
                       -0x1.fa15fcp-1,
                       0x1.f28p-140,
                       0x1.0fb782p3,
                       0x1.cfc2bep51,
                       0x1.ae4dp11,
                       0x1.98d10ap2,
                       0x1.eebcb2p1,
                       0x1.cec319593555ep5,
                       0x1.a11d9ae75bf7p4,
                       0x1.47f1b2p3,
                       0x1.677bb8p80,
                       0.5,
                       1,
                       0x1.62e42fefa39efp9,
                       -0x1.74385446d71c3p9,
                       0x1.2b708p126,
                       -0x1.e1486a45ac3f3p1023};

// Hard cases, both signs; then half spread over all numbers of the type, half within 40, where most functions turn.
std::vector<double> samples(const Function& f, Type t, int count) {
  std::mt19937_64 random(7);
  std::vector<double> xs;
  for (double x : hard) xs.push_back(x), xs.push_back(-x);
  std::uniform_real_distribution<double> uniform(-40, 40);
  for (int k = 0; k < count; k += 2) {
    xs.push_back(uniform(random));
    xs.push_back(t.bits == 64 ? std::bit_cast<double>(random())
                              : from_bits(t, random() & ((std::uint64_t{1} << t.bits) - 1)).f);
  }
  std::vector<double> inside;
  for (double x : xs)
    if (const double r = round_to(t, x); f.within(t, r)) inside.push_back(r);
  return inside;
}

}  // namespace

TEST_CASE("the error of every math function is bounded") {
  for (Type t : {f32, f64, f16, bf16})
    for (const Function& f : functions()) {
      double worst = 0, at = 0;
      for (double x : samples(f, t, t.bits < 32 ? 4000 : 20000)) {
        const double found = call(f.op, t, x);
        const Real exact = f.exact(static_cast<Real>(x));
        const double e = ulps(t, found, exact);
        if (!(e <= worst)) worst = e, at = x;
      }
      INFO(std::string(op_name(f.op)), " of ", t.bits, " bits is off by ", worst, " ulps at ", at);
      if (std::getenv("ASHLAR_SHOW_ERRORS")) MESSAGE(std::string(op_name(f.op)), " ", t.bits, ": ", worst, " at ", at);
      CHECK(worst <= f.bound(t));
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
  CHECK(worst32 <= 1);
  CHECK(worst64 <= 1);
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

// Of doubles to 1 ulp; the fast form's error grows with the exponent of the result.
TEST_CASE("pow of doubles, and its fast form") {
  std::mt19937_64 random(23);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (Type t : {f32, f64}) {
    double worst = 0, fast = 0;
    for (int k = 0; k < 20000; ++k) {
      const bool near = k % 4 == 0;  // to 1, with large exponents
      const double x = round_to(t, near ? 1 + 1e-3 * unit(random) : std::exp2(40 * unit(random)));
      const double y = round_to(t, (near ? 4e4 : 3) * unit(random) * (t.bits == 64 ? 8 : 1));
      const Real exact = std::pow(static_cast<Real>(x), static_cast<Real>(y)),
                 size = std::fabs(y * std::log2(static_cast<Real>(x)));
      worst = std::max(worst, ulps(t, call(Op::pow, t, x, y), exact));
      if (size < (t.bits == 64 ? 1020 : 124))
        fast = std::max(fast, ulps(t, call(Op::fast_pow, t, x, y), exact) / (1 + static_cast<double>(size)));
    }
    INFO("pow of ", t.bits, " bits is off by ", worst, " ulps, the fast form by ", fast, " (1 + |y log2 x|)");
    CHECK(worst <= 1);
    CHECK(fast <= (t.bits == 64 ? 9 : 4));
  }
  const double corners[] = {0.0, -0.0,     1,         -1,           2,      -2,     3,      -3,
                            0.5, infinite, -infinite, not_a_number, 1e-310, -1e300, 0x1p53, 0x1.fffffffffffffp53};
  for (double x : corners)
    for (double y : corners) {
      INFO("x = ", x, ", y = ", y);
      const double found = call(Op::pow, f64, x, y), exact = std::pow(x, y);
      CHECK(ulps(f64, found, std::pow(static_cast<Real>(x), static_cast<Real>(y))) <= 1);
      if (!std::isnan(exact)) CHECK(std::signbit(found) == std::signbit(exact));
    }
}

TEST_CASE("special arguments: zeros keep their sign, infinities and NaN go where libm sends them") {
  for (Type t : {f32, f64})
    for (const Function& f : functions())
      for (double x : {0.0, -0.0, infinite, -infinite, not_a_number}) {
        const double found = call(f.op, t, x);
        const auto exact = static_cast<double>(f.exact(static_cast<Real>(x)));
        INFO(std::string(op_name(f.op)), " of ", t.bits, " bits at ", x, ": ", found, ", expected ", exact);
        if (!f.within(t, x)) continue;
        CHECK(ulps(t, found, f.exact(static_cast<Real>(x))) <= f.bound(t));
        if (!std::isnan(exact) && accurate_form(f.op) == f.op) CHECK(std::signbit(found) == std::signbit(exact));
      }
}

TEST_CASE("circular functions of infinity are NaN, and of the largest numbers exact to their bound") {
  for (Op op : {Op::sin, Op::cos, Op::tan})
    for (Type t : {f32, f64}) CHECK(std::isnan(call(op, t, infinite)));
  CHECK(call(Op::sin, f32, 0x1.fffffep127) == doctest::Approx(-0.52187652).epsilon(1e-7));
  CHECK(call(Op::cos, f64, 0x1.fffffffffffffp1023) == doctest::Approx(-0.99998768942655998).epsilon(1e-15));
}

TEST_CASE("sigmoid has its limits exactly, and its small values to the last subnormal number") {
  for (Type t : {f32, f64}) {
    CHECK(call(Op::sigmoid, t, 0) == 0.5);
    CHECK(call(Op::sigmoid, t, 40) == 1);
    CHECK(call(Op::sigmoid, t, infinite) == 1);
    CHECK(call(Op::sigmoid, t, -infinite) == 0);
    CHECK(call(Op::sigmoid, t, -1000) == 0);
    CHECK(std::isnan(call(Op::sigmoid, t, not_a_number)));
  }
  CHECK(call(Op::sigmoid, f32, -103) == round_to(f32, std::exp(-103.0)));
}

TEST_CASE("erf has its limits exactly") {
  for (Type t : {f32, f64})
    for (double x : {6.5, 100.0, 3e38, infinite}) {
      CHECK(call(Op::erf, t, x) == 1);
      CHECK(call(Op::erf, t, -x) == -1);
      CHECK(call(Op::erfc, t, -x) == 2);
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
  for (const Function& f : functions()) {
    const Expr e = expand_math(unary(f.op, x));
    CHECK(e.type() == x.type());
    walk(e, [&](const Expr& n) {
      CHECK_FALSE((!args_of(n).empty() && is_expanded_math(op_of(n), args_of(n)[0].type())));
      CHECK((n.type().lanes == 8 || args_of(n).empty()));
      return true;
    });
  }
}
