// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of IEEE 754 in kernels/math.cu, to the bit: of f32 by exact values in f64 rounded once, of f64 by the host in each
// rounding.
#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>

#include "tests/ptx/corpus/corpus.h"
#include "tests/ptx/corpus/formats.h"

namespace ashlar::ptx_corpus {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr ShortFloat kSingle{8, 23, true};
constexpr Toward kModes[] = {Toward::kEven, Toward::kZero, Toward::kUp, Toward::kDown};

float single(double v, Toward t = Toward::kEven) { return std::bit_cast<float>(encoded(v, kSingle, t)); }
float sum(double a, double b, double c, Toward t) {  // a * b + c; of opposite numbers +0, rounded down -0
  const double v = fused(a, b, c);
  return v == 0 && t == Toward::kDown && std::signbit(a * b) != std::signbit(c) ? -0.0f : single(v, t);
}
float quotient(double a, double b, Toward t) {
  const double q = a / b;
  return single(std::isfinite(q) && std::isfinite(b) ? to_odd(q, std::fma(-q, b, a) * (b < 0 ? -1 : 1)) : q, t);
}
float root(double a, Toward t) {
  const double r = std::sqrt(a);
  return single(std::isfinite(r) ? to_odd(r, std::fma(-r, r, a)) : r, t);
}
double odd(u64 v) {  // rounded to odd
  const int beyond = std::max(64 - std::countl_zero(v) - 53, 0);
  const u64 kept = v >> beyond;
  return std::ldexp(static_cast<double>(kept | u64((kept << beyond) != v)), beyond);
}
double odd(i64 v) { return v < 0 ? -odd(u64(0) - static_cast<u64>(v)) : odd(static_cast<u64>(v)); }

template <class F>
double rounded(int mode, F f) {  // by the host
  const int before = std::fegetround();
  std::fesetround(mode);
  const volatile double v = f();
  std::fesetround(before);
  return v;
}

TEST_CASE("f32 to the bit") {
  Corpus c("math", 91);
  const std::size_t n = 1200;
  auto a = any_floats<float>(c.rng, n), b = any_floats<float>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 6)
    a[i] = static_cast<float>(static_cast<int>(c.rng.below(41)) - 20) / 2;  // ties of rint and round
  for (std::size_t i = 0; i < n; i += 13) b[i] = a[i];
  const auto x = [&](std::size_t i) { return a[i]; };
  const auto y = [&](std::size_t i) { return b[i]; };
  const Toward even = Toward::kEven;
  const std::vector<Row<float>> rows = {
      {"sqrt", [&](auto i) { return root(x(i), even); }},
      {"fmod", [&](auto i) { return std::fmod(x(i), y(i)); }},
      {"remainder", [&](auto i) { return std::remainder(x(i), y(i)); }},
      {"fdim", [&](auto i) { return std::isnan(x(i)) || std::isnan(y(i)) ? NAN
                                    : x(i) > y(i)                        ? x(i) - y(i)
                                                                         : 0; }},
      {"copysign", [&](auto i) { return std::copysign(x(i), y(i)); }},
      {"nextafter", [&](auto i) { return std::nextafter(x(i), y(i)); }},
      {"ldexp", [&](auto i) { return single(std::ldexp(double(x(i)), static_cast<int>(i % 40) - 20)); }},
      {"round", [&](auto i) { return std::round(x(i)); }},
      {"rint", [&](auto i) { return std::rint(x(i)); }},
      {"trunc", [&](auto i) { return std::trunc(x(i)); }},
      {"floor", [&](auto i) { return std::floor(x(i)); }},
      {"ceil", [&](auto i) { return std::ceil(x(i)); }},
      {"fma", [&](auto i) { return sum(x(i), y(i), x(i), even); }},
      {"min", [&](auto i) { return static_cast<float>(least(x(i), y(i))); }},
      {"max", [&](auto i) { return static_cast<float>(most(x(i), y(i))); }},
      {"abs", [&](auto i) { return std::fabs(x(i)); }},
      {"neg", [&](auto i) { return -x(i); }},
      {"add", [&](auto i) { return sum(x(i), 1, y(i), even); }},
      {"sub", [&](auto i) { return x(i) - y(i); }},
      {"mul", [&](auto i) { return single(double(x(i)) * double(y(i))); }},
      {"div", [&](auto i) { return quotient(x(i), y(i), even); }},
      {"rcp", [&](auto i) { return quotient(1, x(i), even); }},
      {"frexp",
       [&](auto i) {
         int e = 0;
         return std::frexp(x(i), &e);
       }},
      {"exponent",
       [&](auto i) {
         int e = 0;
         std::frexp(x(i), &e);
         return std::isfinite(x(i)) ? static_cast<float>(e) : 0;
       }},
      {"isnan", [&](auto i) { return float(std::isnan(x(i))); }},
      {"isinf", [&](auto i) { return float(std::isinf(x(i))); }},
      {"signbit", [&](auto i) { return float(std::isnan(x(i)) ? std::bit_cast<u32>(x(i)) >> 31 : std::signbit(x(i))); }},
      {"isfinite", [&](auto i) { return float(std::isfinite(x(i))); }},
      {"less", [&](auto i) { return float(x(i) < y(i)); }},
      {"unequal", [&](auto i) { return float(x(i) != y(i)); }},
      {"not at most", [&](auto i) { return float(!(x(i) <= y(i))); }}};
  check_rows(c, "exact_32", n, 128, rows, a, b);
}

TEST_CASE("f32 in all roundings") {
  Corpus c("math", 92);
  const std::size_t n = 900;
  auto a = any_floats<float>(c.rng, n), b = any_floats<float>(c.rng, n), d = any_floats<float>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 17) b[i] = -a[i];
  for (std::size_t i = 5; i < n; i += 19) d[i] = -a[i] * b[i];
  std::vector<Row<float>> rows;
  const auto row = [&](const char* name, Toward t, std::function<float(double, double, double, Toward)> f) {
    rows.push_back({name, [&, t, f](std::size_t i) { return f(a[i], b[i], d[i], t); }});
  };
  for (const Toward t : kModes) row("add", t, [](double x, double y, double, Toward m) { return sum(x, 1, y, m); });
  for (const Toward t : {Toward::kZero, Toward::kUp})
    row("sub", t, [](double x, double y, double, Toward m) { return sum(x, 1, -y, m); });
  for (const Toward t : kModes) row("mul", t, [](double x, double y, double, Toward m) { return single(x * y, m); });
  for (const Toward t : kModes) row("fma", t, [](double x, double y, double z, Toward m) { return sum(x, y, z, m); });
  for (const Toward t : kModes) row("div", t, [](double x, double y, double, Toward m) { return quotient(x, y, m); });
  for (const Toward t : kModes) row("rcp", t, [](double x, double, double, Toward m) { return quotient(1, x, m); });
  for (const Toward t : kModes) row("sqrt", t, [](double x, double, double, Toward m) { return root(x, m); });
  check_rows(c, "rounded_32", n, 64, rows, a, b, d);
}

TEST_CASE("f64 to the bit") {
  Corpus c("math", 93);
  const std::size_t n = 700;
  auto a = any_floats<double>(c.rng, n), b = any_floats<double>(c.rng, n);
  const auto d = any_floats<double>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 6) a[i] = (static_cast<int>(c.rng.below(41)) - 20) / 2.0;
  const auto x = [&](std::size_t i) { return a[i]; };
  const auto y = [&](std::size_t i) { return b[i]; };
  const auto z = [&](std::size_t i) { return d[i]; };
  const std::vector<Row<double>> rows = {
      {"sqrt", [&](auto i) { return std::sqrt(x(i)); }},
      {"fmod", [&](auto i) { return std::fmod(x(i), y(i)); }},
      {"fdim", [&](auto i) { return std::isnan(x(i)) || std::isnan(y(i)) ? NAN
                                    : x(i) > y(i)                        ? x(i) - y(i)
                                                                         : 0; }},
      {"copysign", [&](auto i) { return std::copysign(x(i), y(i)); }},
      {"rint", [&](auto i) { return std::rint(x(i)); }},
      {"trunc", [&](auto i) { return std::trunc(x(i)); }},
      {"floor", [&](auto i) { return std::floor(x(i)); }},
      {"ceil", [&](auto i) { return std::ceil(x(i)); }},
      {"round", [&](auto i) { return std::round(x(i)); }},
      {"min", [&](auto i) { return least(x(i), y(i)); }},
      {"max", [&](auto i) { return most(x(i), y(i)); }},
      {"neg", [&](auto i) { return -x(i); }},
      {"abs", [&](auto i) { return std::fabs(x(i)); }},
      {"add", [&](auto i) { return x(i) + y(i); }},
      {"sub", [&](auto i) { return x(i) - y(i); }},
      {"mul", [&](auto i) { return x(i) * y(i); }},
      {"div", [&](auto i) { return x(i) / y(i); }},
      {"fma", [&](auto i) { return std::fma(x(i), y(i), z(i)); }},
      {"add.rz",
       [&](auto i) {
         return rounded(FE_TOWARDZERO, [&] {
           const volatile double p = x(i), q = y(i);
           return p + q;
         });
       }},
      {"add.rp",
       [&](auto i) {
         return rounded(FE_UPWARD, [&] {
           const volatile double p = x(i), q = y(i);
           return p + q;
         });
       }},
      {"mul.rm",
       [&](auto i) {
         return rounded(FE_DOWNWARD, [&] {
           const volatile double p = x(i), q = y(i);
           return p * q;
         });
       }},
      {"fma.rp",
       [&](auto i) {
         return rounded(FE_UPWARD, [&] {
           const volatile double p = x(i), q = y(i), r = z(i);
           return std::fma(p, q, r);
         });
       }},
      {"div.rz",
       [&](auto i) {
         return rounded(FE_TOWARDZERO, [&] {
           const volatile double p = x(i), q = y(i);
           return p / q;
         });
       }},
      {"sqrt.rm",
       [&](auto i) {
         return rounded(FE_DOWNWARD, [&] {
           const volatile double p = x(i);
           return std::sqrt(p);
         });
       }},
      {"rcp.rp", [&](auto i) {
         return rounded(FE_UPWARD, [&] {
           const volatile double p = 1, q = x(i);
           return p / q;
         });
       }}};
  check_rows(c, "exact_64", n, 96, rows, a, b, d);
}

TEST_CASE("floats to integers") {
  Corpus c("math", 94);
  const std::size_t n = 1000;
  auto f = any_floats<float>(c.rng, n);
  auto d = any_floats<double>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 3)
    f[i] = static_cast<float>(std::ldexp(c.rng.between(-2, 2), static_cast<int>(c.rng.below(66))));
  for (std::size_t i = 0; i < n; i += 3) d[i] = std::ldexp(c.rng.between(-2, 2), static_cast<int>(c.rng.below(66)));
  for (std::size_t i = 1; i < n; i += 7)
    f[i] = static_cast<float>(c.rng.below(99)) / 2, d[i] = static_cast<double>(c.rng.below(99)) / 2;
  const auto x = [&](std::size_t i) { return double(f[i]); };
  const auto y = [&](std::size_t i) { return d[i]; };
  const std::vector<Row<i64>> rows = {
      {"int rn", [&](auto i) { return whole<i32>(std::rint(x(i))); }},
      {"int rz", [&](auto i) { return whole<i32>(std::trunc(x(i))); }},
      {"int ru", [&](auto i) { return whole<i32>(std::ceil(x(i))); }},
      {"int rd", [&](auto i) { return whole<i32>(std::floor(x(i))); }},
      {"unsigned rn", [&](auto i) { return whole<u32>(std::rint(x(i))); }},
      {"unsigned rz", [&](auto i) { return whole<u32>(std::trunc(x(i))); }},
      {"long long rn", [&](auto i) { return whole<i64>(std::rint(x(i))); }},
      {"long long rd", [&](auto i) { return whole<i64>(std::floor(x(i))); }},
      {"unsigned long long ru", [&](auto i) { return whole<u64>(std::ceil(x(i))); }},
      {"double, int rn", [&](auto i) { return whole<i32>(std::rint(y(i)), true); }},
      {"double, int rd", [&](auto i) { return whole<i32>(std::floor(y(i)), true); }},
      {"double, unsigned rz", [&](auto i) { return whole<u32>(std::trunc(y(i)), true); }},
      {"double, long long rn", [&](auto i) { return whole<i64>(std::rint(y(i)), true); }},
      {"double, long long ru", [&](auto i) { return whole<i64>(std::ceil(y(i)), true); }},
      {"double, unsigned long long rz", [&](auto i) { return whole<u64>(std::trunc(y(i)), true); }},
      {"bits", [&](auto i) { return i64(std::bit_cast<i32>(f[i])); }},
      {"bits of double", [&](auto i) { return std::bit_cast<i64>(d[i]); }},
      {"high word", [&](auto i) { return std::bit_cast<i64>(d[i]) >> 32; }},
      {"low word", [&](auto i) { return i64(static_cast<i32>(static_cast<u32>(std::bit_cast<u64>(d[i])))); }}};
  check_rows(c, "to_integers", n, 128, rows, f, d);
}

TEST_CASE("integers to floats, and between floats") {
  Corpus c("math", 95);
  const std::size_t n = 900;
  const auto k = edgy_values<i32>(c.rng, n);
  auto l = edgy_values<i64>(c.rng, n);
  auto d = any_floats<double>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 3) d[i] = std::ldexp(c.rng.between(-2, 2), static_cast<int>(c.rng.below(300)) - 160);
  for (std::size_t i = 0; i < n; i += 4) l[i] = static_cast<i64>(c.rng.next() >> c.rng.below(63));
  const auto ups = [](u64 v) {  // the least double that is not less
    const int beyond = std::max(64 - std::countl_zero(v) - 53, 0);
    const u64 kept = (v >> beyond) + u64(beyond > 0 && (v << (64 - beyond)) != 0);
    return std::ldexp(static_cast<double>(kept), beyond);
  };
  const auto u = [&](std::size_t i) { return static_cast<u64>(l[i]); };
  const std::vector<Row<float>> rows = {{"int rn", [&](auto i) { return single(k[i]); }},
                                        {"int rz", [&](auto i) { return single(k[i], Toward::kZero); }},
                                        {"int ru", [&](auto i) { return single(k[i], Toward::kUp); }},
                                        {"int rd", [&](auto i) { return single(k[i], Toward::kDown); }},
                                        {"unsigned rn", [&](auto i) { return single(static_cast<u32>(k[i])); }},
                                        {"unsigned ru", [&](auto i) { return single(static_cast<u32>(k[i]), Toward::kUp); }},
                                        {"long long rn", [&](auto i) { return single(odd(l[i])); }},
                                        {"long long rz", [&](auto i) { return single(odd(l[i]), Toward::kZero); }},
                                        {"unsigned long long ru", [&](auto i) { return single(odd(u(i)), Toward::kUp); }},
                                        {"double rn", [&](auto i) { return single(d[i]); }},
                                        {"double rz", [&](auto i) { return single(d[i], Toward::kZero); }},
                                        {"double ru", [&](auto i) { return single(d[i], Toward::kUp); }},
                                        {"double rd", [&](auto i) { return single(d[i], Toward::kDown); }}};
  const std::vector<Row<double>> wide = {
      {"int", [&](auto i) { return double(k[i]); }},
      {"unsigned", [&](auto i) { return double(static_cast<u32>(k[i])); }},
      {"long long rn",
       [&](auto i) {
         return rounded(FE_TONEAREST, [&] {
           const volatile i64 v = l[i];
           return static_cast<double>(v);
         });
       }},
      {"long long rd",
       [&](auto i) {
         return l[i] < 0 ? -ups(u64(0) - u(i))
                         : rounded(
                               FE_DOWNWARD,
                               [&] {
                                 const volatile i64 v = l[i];
                                 return static_cast<double>(v);
                               });
       }},
      {"unsigned long long ru", [&](auto i) { return ups(u(i)); }},
      {"of two words",
       [&](auto i) { return std::bit_cast<double>(u64(static_cast<u32>(k[i])) << 32 | static_cast<u32>(u(i))); }},
      {"by way of float", [&](auto i) { return double(single(d[i])); }}};
  const auto out = c.make<float>(rows.size() * n);
  const auto wide_out = c.make<double>(wide.size() * n);
  c.launch("from_integers", grid_of(n, 128), c.put(k), c.put(l), c.put(d), out, wide_out, i32(n));
  expect_rows("from_integers", c.get(out), n, rows);
  expect_rows("from_integers, wide", c.get(wide_out), n, wide);
}

}  // namespace
}  // namespace ashlar::ptx_corpus
