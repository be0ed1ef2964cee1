// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of libdevice against those of the host in a wider type, within the errors that the CUDA programming guide lists.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/ptx/corpus/corpus.h"
#include "tests/ptx/corpus/formats.h"

namespace ashlar::ptx_corpus {
namespace {

using i32 = std::int32_t;
using Wide = long double;
constexpr Wide kPi = 3.14159265358979323846264338327950288L;

Wide sine_of_pi(Wide x) { return std::sin(kPi * std::remainder(x, Wide(2))); }
Wide cosine_of_pi(Wide x) {
  const Wide r = std::fabs(std::remainder(x, Wide(2)));
  return r == 0.5L ? 0 : std::cos(kPi * r);
}

// One of the functions: F of the arguments, in the type in which T is computed for reference; its bound in ulps.
template <class T>
struct Function {
  const char* name;
  double ulps;
  std::function<Wide(T x, T p, T u)> f;
};
template <class T>
void compare(Corpus& c, const char* kernel, const std::vector<T>& x, const std::vector<T>& p,
             const std::vector<Function<T>>& functions) {
  const std::size_t n = x.size();
  std::vector<Row<T>> rows;
  for (const auto& f : functions)  // a bound is from the correctly rounded result
    rows.push_back(
        {f.name, [&x, &p, f](std::size_t i) { return static_cast<T>(f.f(x[i], p[i], x[i] / 101)); }, {.ulps = f.ulps}});
  check_rows(c, kernel, n, 96, rows, x, p);
}
template <class T>
std::vector<T> positives(Rng& rng, std::size_t n) {  // of many magnitudes
  std::vector<T> v(n);
  for (T& p : v) p = static_cast<T>(std::exp2(rng.between(-12, 12)));
  return v;
}

TEST_CASE("functions of f32") {
  Corpus c("math", 81);
  const std::size_t n = 700;
  auto x = random_values<float>(c.rng, n, -85, 85);
  for (std::size_t i = 0; i < n; i += 5) x[i] = static_cast<float>(c.rng.between(-1, 1));
  x[1] = 0, x[2] = -0.0f;
  using F = float;
  using D = double;  // of 29 more bits than f32
  compare<F>(c, "functions_32", x, positives<F>(c.rng, n),
             {{"sin", 2, [](F v, F, F) { return std::sin(D(v)); }},
              {"cos", 2, [](F v, F, F) { return std::cos(D(v)); }},
              {"tan", 4, [](F v, F, F) { return std::tan(D(v)); }},
              {"asin", 2, [](F, F, F u) { return std::asin(D(u)); }},
              {"acos", 2, [](F, F, F u) { return std::acos(D(u)); }},
              {"atan", 2, [](F v, F, F) { return std::atan(D(v)); }},
              {"sinh", 3, [](F v, F, F) { return std::sinh(D(v)); }},
              {"cosh", 2, [](F v, F, F) { return std::cosh(D(v)); }},
              {"tanh", 2, [](F, F, F u) { return std::tanh(D(u)); }},
              {"asinh", 3, [](F v, F, F) { return std::asinh(D(v)); }},
              {"acosh", 4, [](F, F p, F) { return std::acosh(D(1 + p)); }},
              {"atanh", 3, [](F, F, F u) { return std::atanh(D(u)); }},
              {"exp", 2, [](F v, F, F) { return std::exp(D(v)); }},
              {"exp2", 2, [](F v, F, F) { return std::exp2(D(v)); }},
              {"exp10", 2, [](F v, F, F) { return std::pow(10.0, D(v * 0.25f)); }},
              {"expm1", 1, [](F v, F, F) { return std::expm1(D(v)); }},
              {"log", 1, [](F, F p, F) { return std::log(D(p)); }},
              {"log2", 1, [](F, F p, F) { return std::log2(D(p)); }},
              {"log10", 2, [](F, F p, F) { return std::log10(D(p)); }},
              {"log1p", 1, [](F, F, F u) { return std::log1p(D(u)); }},
              {"rsqrt", 2, [](F, F p, F) { return 1 / std::sqrt(D(p)); }},
              {"cbrt", 1, [](F v, F, F) { return std::cbrt(D(v)); }},
              {"rcbrt", 1, [](F, F p, F) { return 1 / std::cbrt(D(p)); }},
              {"erf", 2, [](F, F, F u) { return std::erf(D(u * 3)); }},
              {"erfc", 4, [](F, F, F u) { return std::erfc(D(u * 5)); }},
              {"tgamma", 5, [](F, F, F u) { return std::tgamma(D(u * 30)); }},
              {"lgamma", 6, [](F, F p, F) { return std::lgamma(D(p)); }},
              {"pow", 4, [](F, F p, F u) { return std::pow(D(p), D(u * 8)); }},
              {"pow, whole", 4, [](F v, F, F u) { return std::pow(D(v), D(int(u * 5))); }},
              {"atan2", 3, [](F v, F, F u) { return std::atan2(D(v), D(u)); }},
              {"hypot", 3, [](F v, F p, F) { return std::hypot(D(v), D(p)); }},
              {"sinpi", 1, [](F, F, F u) { return sine_of_pi(u); }},
              {"cospi", 1, [](F v, F, F) { return cosine_of_pi(v); }},
              {"normcdf", 5, [](F, F, F u) { return std::erfc(-D(u * 4) / std::sqrt(2.0)) / 2; }},
              {"sin of large", 2, [](F v, F, F) { return std::sin(D(v * 1e6f)); }},
              {"cos of huge", 2, [](F, F p, F) { return std::cos(D(p * 1e20f)); }}});
}

TEST_CASE("functions of f64") {
  Corpus c("math", 82);
  const std::size_t n = 500;
  auto x = random_values<double>(c.rng, n, -100, 100);
  for (std::size_t i = 0; i < n; i += 5) x[i] = c.rng.between(-1, 1);
  x[1] = 0, x[2] = -0.0;
  using F = double;
  using W = Wide;
  static_assert(std::numeric_limits<W>::digits > 60, "the reference of f64 is computed in long double");
  compare<F>(c, "functions_64", x, positives<F>(c.rng, n),
             {{"sin", 2, [](F v, F, F) { return std::sin(W(v)); }},
              {"cos", 2, [](F v, F, F) { return std::cos(W(v)); }},
              {"tan", 2, [](F v, F, F) { return std::tan(W(v)); }},
              {"asin", 2, [](F, F, F u) { return std::asin(W(u)); }},
              {"acos", 2, [](F, F, F u) { return std::acos(W(u)); }},
              {"atan", 2, [](F v, F, F) { return std::atan(W(v)); }},
              {"sinh", 2, [](F v, F, F) { return std::sinh(W(v)); }},
              {"cosh", 1, [](F v, F, F) { return std::cosh(W(v)); }},
              {"tanh", 1, [](F, F, F u) { return std::tanh(W(u)); }},
              {"asinh", 3, [](F v, F, F) { return std::asinh(W(v)); }},
              {"acosh", 3, [](F, F p, F) { return std::acosh(W(1 + p)); }},
              {"atanh", 2, [](F, F, F u) { return std::atanh(W(u)); }},
              {"exp", 1, [](F v, F, F) { return std::exp(W(v)); }},
              {"exp2", 1, [](F v, F, F) { return std::exp2(W(v)); }},
              {"exp10", 1, [](F v, F, F) { return std::pow(W(10), W(v * 0.25)); }},
              {"expm1", 1, [](F v, F, F) { return std::expm1(W(v)); }},
              {"log", 1, [](F, F p, F) { return std::log(W(p)); }},
              {"log2", 1, [](F, F p, F) { return std::log2(W(p)); }},
              {"log10", 1, [](F, F p, F) { return std::log10(W(p)); }},
              {"log1p", 1, [](F, F, F u) { return std::log1p(W(u)); }},
              {"rsqrt", 1, [](F, F p, F) { return 1 / std::sqrt(W(p)); }},
              {"cbrt", 1, [](F v, F, F) { return std::cbrt(W(v)); }},
              {"erf", 2, [](F, F, F u) { return std::erf(W(u * 3)); }},
              {"erfc", 5, [](F, F, F u) { return std::erfc(W(u * 5)); }},
              {"tgamma", 10, [](F, F, F u) { return std::tgamma(W(u * 30)); }},
              {"lgamma", 4, [](F, F p, F) { return std::lgamma(W(p)); }},
              {"pow", 2, [](F, F p, F u) { return std::pow(W(p), W(u * 8)); }},
              {"atan2", 2, [](F v, F, F u) { return std::atan2(W(v), W(u)); }},
              {"hypot", 2, [](F v, F p, F) { return std::hypot(W(v), W(p)); }},
              {"sin of large", 2, [](F v, F, F) { return std::sin(W(v * 1e9)); }},
              {"cos of huge", 2, [](F, F p, F) { return std::cos(W(p * 1e25)); }}});
}

// -use_fast_math: the .approx instructions, which flush what is subnormal. Bounds: the guide's for __sinf and the like, the PTX
// document's for the instructions.
TEST_CASE("fast functions") {
  Corpus c("math_fast", 83);
  const std::size_t n = 800;
  const auto x = random_values<float>(c.rng, n, -3.14, 3.14), y = random_values<float>(c.rng, n, 0.02, 90);
  const std::vector<Row<float>> rows = {
      {"sin", [&](auto i) { return static_cast<float>(std::sin(double(x[i]))); }, {.absolute = 0x1p-21}},
      {"cos", [&](auto i) { return static_cast<float>(std::cos(double(x[i]))); }, {.absolute = 0x1p-21}},
      {"exp", [&](auto i) { return static_cast<float>(std::exp(double(x[i]))); }, {.ulps = 6}},
      {"exp2", [&](auto i) { return static_cast<float>(std::exp2(double(x[i]))); }, {.ulps = 2}},
      {"log", [&](auto i) { return static_cast<float>(std::log(double(y[i]))); }, {.ulps = 3, .absolute = 0x1p-21}},
      {"log2", [&](auto i) { return static_cast<float>(std::log2(double(y[i]))); }, {.ulps = 2, .absolute = 0x1p-22}},
      {"sqrt", [&](auto i) { return static_cast<float>(std::sqrt(double(y[i]))); }, {.ulps = 3}},
      {"rsqrt", [&](auto i) { return static_cast<float>(1 / std::sqrt(double(y[i]))); }, {.ulps = 2}},
      {"div", [&](auto i) { return static_cast<float>(double(x[i]) / double(y[i])); }, {.ulps = 2}},
      {"rcp", [&](auto i) { return static_cast<float>(1 / double(y[i])); }, {.ulps = 1}},
      {"pow", [&](auto i) { return static_cast<float>(std::pow(double(y[i]), 1.5)); }, {.ulps = 24}},
      {"tanh", [&](auto i) { return static_cast<float>(std::tanh(double(x[i]))); }, {.absolute = 0x1p-11}},
      {"saturate", [&](auto i) { return x[i] > 1   ? 1
                                        : x[i] > 0 ? x[i]
                                                   : 0.0f; }},
      {"flushed", [&](auto i) { return std::copysign(0.0f, x[i]); }},
  };
  check_rows(c, "fast_functions", n, 128, rows, x, y);
}

}  // namespace
}  // namespace ashlar::ptx_corpus
