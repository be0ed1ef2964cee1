#pragma once
// The math functions with the bounds that docs/ir.md states, and what they are measured against: libm, in double for f32 and
// the narrow floats, in long double for f64. That is no proof next to a tie of roundings, but good to 1e-7 (f32) and 1e-3 (f64)
// ulps.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <ashlar/ir/math.h>

namespace math_bounds {

using ashlar::Type;
using ashlar::ir::Op;
using Real = long double;

struct Function {
  template <class F>
  Function(Op o, F f, double lowest, double highest, double bound32, double bound64, double lowest_double = 0)
      : op(o),
        exact(f),
        exact_in_double(f),
        low(lowest),
        low64(lowest_double == 0 ? lowest : lowest_double),
        high(highest),
        f32(bound32),
        f64(bound64) {}
  // of the type; a narrow float has the bound of f32, in its own much larger ulps, and its own rounding
  double bound(Type t) const {
    return t.bits == 64 ? f64 : t.bits == 32 ? f32 : 0.5 + f32 * (t.code == Type::Code::bfloat ? 0x1p-16 : 0x1p-13);
  }
  bool within(Type t, double x) const { return std::isnan(x) || ((t.bits == 64 ? low64 : low) <= x && x <= high); }
  Op op;
  Real (*exact)(Real);
  double (*exact_in_double)(double);
  double low, low64, high;  // where the bounds hold, and samples are taken; low64: of doubles
  double f32, f64;          // ulps
};

inline const double everything = std::numeric_limits<double>::infinity();

inline const auto& functions() {
  static const Function all[] = {
      {Op::exp, [](auto x) { return std::exp(x); }, -everything, everything, 1, 1},
      {Op::exp2, [](auto x) { return std::exp2(x); }, -everything, everything, 1, 1},
      {Op::expm1, [](auto x) { return std::expm1(x); }, -everything, everything, 1, 1},
      {Op::log, [](auto x) { return std::log(x); }, -everything, everything, 1, 1},
      {Op::log2, [](auto x) { return std::log2(x); }, -everything, everything, 1, 1},
      {Op::log1p, [](auto x) { return std::log1p(x); }, -everything, everything, 1, 1},
      {Op::sin, [](auto x) { return std::sin(x); }, -everything, everything, 1, 1},
      {Op::cos, [](auto x) { return std::cos(x); }, -everything, everything, 1, 1},
      {Op::tan, [](auto x) { return std::tan(x); }, -everything, everything, 1, 1},
      {Op::asin, [](auto x) { return std::asin(x); }, -everything, everything, 1, 1},
      {Op::acos, [](auto x) { return std::acos(x); }, -everything, everything, 1, 1},
      {Op::atan, [](auto x) { return std::atan(x); }, -everything, everything, 1, 1},
      {Op::sinh, [](auto x) { return std::sinh(x); }, -everything, everything, 1, 1},
      {Op::cosh, [](auto x) { return std::cosh(x); }, -everything, everything, 1, 1},
      {Op::tanh, [](auto x) { return std::tanh(x); }, -everything, everything, 1, 1},
      {Op::erf, [](auto x) { return std::erf(x); }, -everything, everything, 1.25, 1},
      {Op::erfc, [](auto x) { return std::erfc(x); }, -everything, everything, 1.25, 1.25},
      {Op::sigmoid, [](auto x) { return 1 / (1 + std::exp(-x)); }, -everything, everything, 1, 1},
      {Op::rsqrt, [](auto x) { return 1 / std::sqrt(x); }, -everything, everything, 1, 1},
      {Op::cbrt, [](auto x) { return std::cbrt(x); }, -everything, everything, 1, 1},
      // The fast forms, where results are normal numbers and the arguments of the circular ones within their range.
      {Op::fast_exp, [](auto x) { return std::exp(x); }, -86.9, everything, 3.5, 2, -708},
      {Op::fast_exp2, [](auto x) { return std::exp2(x); }, -125, everything, 3.5, 2, -1021},
      {Op::approximate_exp2, [](auto x) { return std::exp2(x); }, -125, everything, 4, 2, -1021},
      {Op::fast_expm1, [](auto x) { return std::expm1(x); }, -everything, everything, 1.5, 2},
      {Op::fast_log, [](auto x) { return std::log(x); }, 0x1p-126, everything, 5, 1, 0x1p-1022},
      {Op::fast_log2, [](auto x) { return std::log2(x); }, 0x1p-126, everything, 6, 2, 0x1p-1022},
      {Op::fast_sin, [](auto x) { return std::sin(x); }, -0x1.fffffep16, 0x1.fffffep16, 2.5, 2.5},
      {Op::fast_cos, [](auto x) { return std::cos(x); }, -0x1.fffffep16, 0x1.fffffep16, 2.5, 2.5},
      {Op::fast_tan, [](auto x) { return std::tan(x); }, -0x1.fffffep16, 0x1.fffffep16, 3.5, 3},
      {Op::fast_tanh, [](auto x) { return std::tanh(x); }, -everything, everything, 6.5, 3},
      {Op::fast_erf, [](auto x) { return std::erf(x); }, -everything, everything, 7.5, 1},
      {Op::fast_sigmoid, [](auto x) { return 1 / (1 + std::exp(-x)); }, -85, everything, 4.5, 3, -700},
      {Op::fast_rsqrt, [](auto x) { return 1 / std::sqrt(x); }, -everything, everything, 1.5, 1.5},
  };
  return all;
}

// Distance in units in the last place of the exact result, for a type of so many bits of precision whose smallest number is
// 2^least; 0 where both are NaN, and where the exact result rounds to an infinity and that was found. `largest`: the largest
// number.
template <class R>
double ulps(int precision, int least, R largest, double found, R exact) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(found) ? 0 : infinite;
  if (std::isnan(found)) return infinite;
  int e = 0;
  if (std::fabs(exact) > largest) {
    if (std::isinf(found)) return std::signbit(found) == std::signbit(exact) ? 0 : infinite;
    if (std::isinf(exact)) return infinite;
  } else if (std::isinf(found)) {  // as if the exponent went on
    std::frexp(largest, &e);
    return static_cast<double>(std::fabs(std::copysign(std::ldexp(R(1), e), R(found)) - exact) /
                               std::ldexp(R(1), e - precision));
  }
  std::frexp(exact, &e);
  if (R(found) == exact) return 0;
  return static_cast<double>(std::ldexp(std::fabs(R(found) - exact), -std::max(e - precision, least)));
}

template <class R>
double ulps(Type t, double found, R exact) {
  if (t.bits == 64) return ulps<R>(53, -1074, R(std::numeric_limits<double>::max()), found, exact);
  if (t.bits == 32) return ulps<R>(24, -149, R(std::numeric_limits<float>::max()), found, exact);
  return t.code == Type::Code::bfloat ? ulps<R>(8, -133, R(0x1.fep127), found, exact)
                                      : ulps<R>(11, -24, R(65504), found, exact);
}

}  // namespace math_bounds
