// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References of kernels/halves.cu: exact values in f64, rounded once.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/ptx/corpus/corpus.h"
#include "tests/ptx/corpus/formats.h"

namespace ashlar::ptx_corpus {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// Bits of a format: all patterns, and often numbers about 1.
std::vector<u16> short_floats(Rng& rng, std::size_t n, const ShortFloat& f) {
  std::vector<u16> v(n);
  for (u16& x : v) x = static_cast<u16>(rng.below(3) == 0 ? rng.next() : encoded(rng.between(-4, 4), f));
  return v;
}
std::vector<u32> pairs_of(const std::vector<u16>& v) {
  std::vector<u32> p(v.size() / 2);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = v[2 * i] | u32(v[2 * i + 1]) << 16;
  return p;
}

double clamped(double v) { return std::isnan(v) ? 0 : v > 1 ? 1 : v > 0 ? v : 0; }
double positive(double v) { return std::isnan(v) || v > 0 ? v : 0; }

// NaN are told apart by nobody: all become one. Of pairs, in each half.
template <class U>
std::vector<U> with_one_nan(std::vector<U> v, const ShortFloat& f) {
  for (U& x : v)
    for (unsigned at = 0; at < sizeof(U) * 8; at += 16)
      if (((x >> at) & (f.sign() - 1)) > f.infinity()) x = static_cast<U>((x & ~(U(0xffff) << at)) | U(f.nan()) << at);
  return v;
}
template <class U>
void expect_bits(const char* kernel, const std::vector<U>& got, std::size_t n, std::vector<Row<U>> rows, const ShortFloat& f) {
  for (Row<U>& row : rows)
    row.want = [want = row.want, f](std::size_t i) { return with_one_nan(std::vector<U>{want(i)}, f)[0]; };
  expect_rows(kernel, with_one_nan(got, f), n, rows);
}

void on_both(std::uint64_t seed, void (*test)(Corpus&)) {  // the headers take other ways for newer devices
  for (const char* file : {"halves", "halves_90"}) {
    Corpus c(file, seed);
    INFO(std::string(file));
    test(c);
  }
}

struct Three {  // inputs of a format and their values
  Three(Rng& rng, std::size_t n, const ShortFloat& format)
      : f(format), a(short_floats(rng, n, f)), b(short_floats(rng, n, f)), c(short_floats(rng, n, f)) {
    for (std::size_t i = 0; i < n; i += 9) b[i] = a[i];
  }
  double x(std::size_t i) const { return decoded(a[i], f); }
  double y(std::size_t i) const { return decoded(b[i], f); }
  double z(std::size_t i) const { return decoded(c[i], f); }
  Row<u16> row(const char* name, std::function<double(std::size_t)> v) const {
    return {name, [v, g = f](std::size_t i) { return static_cast<u16>(encoded(v(i), g)); }};
  }
  ShortFloat f;
  std::vector<u16> a, b, c;
};

void half_arithmetic(Corpus& c) {
  const std::size_t n = 1500;
  const Three t(c.rng, n, kHalf);
  const auto x = [&](std::size_t i) { return t.x(i); };
  const auto y = [&](std::size_t i) { return t.y(i); };
  const auto z = [&](std::size_t i) { return t.z(i); };
  const auto flag = [](const char* name, std::function<bool(std::size_t)> f) {
    return Row<u16>{name, [f](std::size_t i) { return u16(f(i)); }};
  };
  const std::vector<Row<u16>> rows = {
      t.row("add", [&](auto i) { return fused(x(i), 1, y(i)); }),
      t.row("sub", [&](auto i) { return fused(y(i), -1, x(i)); }),
      t.row("mul", [&](auto i) { return x(i) * y(i); }),
      t.row("fma", [&](auto i) { return fused(x(i), y(i), z(i)); }),
      t.row("fma.relu", [&](auto i) { return positive(fused(x(i), y(i), z(i))); }),
      t.row("div", [&](auto i) { return x(i) / y(i); }),
      t.row("neg", [&](auto i) { return -x(i); }),
      t.row("abs", [&](auto i) { return std::fabs(x(i)); }),
      t.row("min", [&](auto i) { return least(x(i), y(i)); }),
      t.row("max", [&](auto i) { return most(x(i), y(i)); }),
      t.row("min.NaN",
            [&](auto i) {
              return std::isnan(x(i) + y(i)) && (std::isnan(x(i)) || std::isnan(y(i))) ? kNothing : least(x(i), y(i));
            }),
      t.row("max.NaN", [&](auto i) { return std::isnan(x(i)) || std::isnan(y(i)) ? kNothing : most(x(i), y(i)); }),
      t.row("add.sat", [&](auto i) { return clamped(fused(x(i), 1, y(i))); }),
      t.row("mul.sat", [&](auto i) { return clamped(x(i) * y(i)); }),
      t.row("fma.sat", [&](auto i) { return clamped(fused(x(i), y(i), z(i))); }),
      flag("eq", [&](auto i) { return x(i) == y(i); }),
      flag("lt", [&](auto i) { return x(i) < y(i); }),
      flag("ge", [&](auto i) { return x(i) >= y(i); }),
      flag("neu", [&](auto i) { return !(x(i) == y(i)); }),
      flag("ltu", [&](auto i) { return !(x(i) >= y(i)); }),
      flag("isnan", [&](auto i) { return std::isnan(x(i)); }),
      // 1 and -1 by the sign, in any width
      {"isinf", [&](auto i) { return std::isinf(x(i)) ? static_cast<u16>(x(i) > 0 ? 1 : -1) : u16(0); }},
      t.row("operators", [&](auto i) { return fused(x(i), 1, decoded(to_half(y(i) * z(i)), kHalf)); }),
  };
  const auto out = c.make<u16>(rows.size() * n);
  c.launch("half_arithmetic", grid_of(n, 128), c.put(t.a), c.put(t.b), c.put(t.c), out, static_cast<i32>(n));
  expect_bits("half_arithmetic", c.get(out), n, rows, kHalf);
}
TEST_CASE("f16: arithmetic") { on_both(11, half_arithmetic); }

// The headers compute in f32 and round; for single arguments they add a unit of the last place, by which the device's
// approximation misses: the nearest value of ex2.approx is a unit and a half off there.
void half_functions(Corpus& c) {
  const std::size_t n = 1200;
  const std::vector<u16> a = short_floats(c.rng, n, kHalf);
  struct Function {
    const char* name;
    double (*f)(double);
  };
  const std::vector<Function> functions = {{"rcp", [](double v) { return 1 / v; }},
                                           {"sqrt", [](double v) { return std::sqrt(v); }},
                                           {"rsqrt", [](double v) { return 1 / std::sqrt(v); }},
                                           {"exp", [](double v) { return std::exp(v); }},
                                           {"exp2", [](double v) { return std::exp2(v); }},
                                           {"log", [](double v) { return std::log(v); }},
                                           {"log2", [](double v) { return std::log2(v); }},
                                           {"log10", [](double v) { return std::log10(v); }},
                                           {"sin", [](double v) { return std::sin(v); }},
                                           {"cos", [](double v) { return std::cos(v); }},
                                           {"tanh", [](double v) { return std::tanh(v); }},
                                           {"floor", [](double v) { return std::floor(v); }},
                                           {"ceil", [](double v) { return std::ceil(v); }},
                                           {"trunc", [](double v) { return std::trunc(v); }},
                                           {"rint", [](double v) { return std::rint(v); }}};
  const auto out = c.make<u16>(functions.size() * n);
  c.launch("half_functions", grid_of(n, 192), c.put(a), out, static_cast<i32>(n));
  const std::vector<u16> got = c.get(out);
  for (std::size_t k = 0; k < functions.size(); ++k) {
    std::size_t at = n;
    double g = 0, want = 0;
    for (std::size_t i = 0; i < n && at == n; ++i) {
      g = decoded(got[k * n + i], kHalf), want = functions[k].f(decoded(a[i], kHalf));
      const double near = decoded(to_half(want), kHalf);
      const double ulp = std::ldexp(1.0, std::max(std::isfinite(near) && near != 0 ? std::ilogb(near) : -14, -14) - 10);
      const bool same = std::isnan(want) ? std::isnan(g) : g == near || std::fabs(g - want) <= (k >= 11 ? 0 : 2 * ulp);
      if (!same) at = i;
    }
    judge(functions[k].name, at, at == n ? "" : shown(g), at == n ? "" : shown(want));
  }
}
TEST_CASE("f16: functions, within two units of the last place") { on_both(12, half_functions); }

void half_conversions(Corpus& c) {
  const std::size_t n = 900;
  std::vector<u16> a = short_floats(c.rng, n, kHalf);
  std::vector<float> f = any_floats<float>(c.rng, n);
  std::vector<double> d = any_floats<double>(c.rng, n);
  const std::vector<i32> k = edgy_values<i32>(c.rng, n);
  for (std::size_t i = 0; i < n; i += 2)
    f[i] = static_cast<float>(std::ldexp(c.rng.between(-2, 2), static_cast<int>(c.rng.below(44)) - 28));
  for (std::size_t i = 0; i < n; i += 7)
    f[i] = static_cast<float>(decoded(a[i], kHalf) + 0x1p-12), a[i] = static_cast<u16>(a[i] | 0x5800);
  const auto V = [&](const char* name, std::function<double(std::size_t)> v, Toward t = Toward::kEven) {
    return Row<u16>{name, [v, t](std::size_t i) { return static_cast<u16>(encoded(v(i), kHalf, t)); }};
  };
  const std::vector<Row<u16>> rows = {
      V("float rn", [&](auto i) { return double(f[i]); }),
      V(
          "float rz", [&](auto i) { return double(f[i]); }, Toward::kZero),
      V(
          "float ru", [&](auto i) { return double(f[i]); }, Toward::kUp),
      V(
          "float rd", [&](auto i) { return double(f[i]); }, Toward::kDown),
      V("double", [&](auto i) { return d[i]; }),
      V("int rn", [&](auto i) { return double(k[i]); }),
      V(
          "int rz", [&](auto i) { return double(k[i]); }, Toward::kZero),
      V(
          "unsigned ru", [&](auto i) { return double(static_cast<u32>(k[i])); }, Toward::kUp),
      V(
          "short rd", [&](auto i) { return double(static_cast<std::int16_t>(k[i])); }, Toward::kDown),
      V("long long rn", [&](auto i) { return double(k[i]) * double(k[i]); }),
  };
  const auto v = [&](std::size_t i) { return decoded(a[i], kHalf); };
  const std::vector<Row<i64>> wholes = {
      {"int rn", [&](auto i) { return whole<i32>(std::nearbyint(v(i))); }},
      {"int rz", [&](auto i) { return whole<i32>(std::trunc(v(i))); }},
      {"int ru", [&](auto i) { return whole<i32>(std::ceil(v(i))); }},
      {"int rd", [&](auto i) { return whole<i32>(std::floor(v(i))); }},
      {"unsigned rn", [&](auto i) { return whole<u32>(std::nearbyint(v(i))); }},
      {"short rz", [&](auto i) { return whole<std::int16_t>(std::trunc(v(i))); }},
      {"unsigned short rd", [&](auto i) { return whole<u16>(std::floor(v(i))); }},
      {"long long rn", [&](auto i) { return whole<i64>(std::nearbyint(v(i))); }},
      {"unsigned long long rz", [&](auto i) { return whole<std::uint64_t>(std::trunc(v(i))); }},
      {"char rz", [&](auto i) { return whole<std::int8_t>(std::trunc(v(i))); }},
      {"unsigned char rz", [&](auto i) { return whole<u8>(std::trunc(v(i))); }},
  };
  const auto out = c.make<u16>(rows.size() * n);
  const auto wide = c.make<float>(n);
  const auto whole_out = c.make<i64>(wholes.size() * n);
  c.launch("half_conversions", grid_of(n, 64), c.put(a), c.put(f), c.put(d), c.put(k), out, wide, whole_out,
           static_cast<i32>(n));
  expect_bits("half_conversions", c.get(out), n, rows, kHalf);
  expect_rows<float>("half_conversions", c.get(wide), n, {{"to float", [&](auto i) { return static_cast<float>(v(i)); }}});
  expect_rows("half_conversions", c.get(whole_out), n, wholes);
}
TEST_CASE("f16: conversions") { on_both(13, half_conversions); }

using Pairwise = std::function<double(double, double, double)>;
Row<u32> both(const char* name, const Three& t, Pairwise f) {  // of the values of element i: 2i and 2i + 1
  return {name, [&t, f](std::size_t i) {
            const u32 low = encoded(f(t.x(2 * i), t.y(2 * i), t.z(2 * i)), t.f),
                      high = encoded(f(t.x(2 * i + 1), t.y(2 * i + 1), t.z(2 * i + 1)), t.f);
            return low | high << 16;
          }};
}

void half_pairs(Corpus& c) {
  const std::size_t n = 701;
  const Three t(c.rng, 2 * n, kHalf);
  const auto a = pairs_of(t.a), b = pairs_of(t.b);
  const auto mask = [&](std::size_t i, auto f) {
    return (f(t.x(2 * i), t.y(2 * i)) ? 0xffffu : 0u) | (f(t.x(2 * i + 1), t.y(2 * i + 1)) ? 0xffff0000u : 0u);
  };
  const std::vector<Row<u32>> rows = {
      both("add", t, [](double x, double y, double) { return fused(x, 1, y); }),
      both("sub", t, [](double x, double y, double) { return fused(y, -1, x); }),
      both("mul", t, [](double x, double y, double) { return x * y; }),
      both("fma", t, fused),
      both("fma.relu", t, [](double x, double y, double z) { return positive(fused(x, y, z)); }),
      both("min", t, [](double x, double y, double) { return least(x, y); }),
      both("max.NaN", t, [](double x, double y, double) { return std::isnan(x) || std::isnan(y) ? kNothing : most(x, y); }),
      both("neg", t, [](double x, double, double) { return -x; }),
      both("abs", t, [](double x, double, double) { return std::fabs(x); }),
      {"swapped", [&](auto i) { return a[i] << 16 | a[i] >> 16; }},
      {"low halves", [&](auto i) { return (a[i] & 0xffff) | b[i] << 16; }},
      both("gt", t, [](double x, double y, double) { return x > y ? 1.0 : 0.0; }),
      {"eq mask", [&](auto i) { return mask(i, [](double x, double y) { return x == y; }); }},
      {"ltu mask", [&](auto i) { return mask(i, [](double x, double y) { return !(x >= y); }); }},
      {"le of both", [&](auto i) { return u32(t.x(2 * i) <= t.y(2 * i) && t.x(2 * i + 1) <= t.y(2 * i + 1)); }},
      {"of floats",
       [&](auto i) {
         const u32 low = to_half(static_cast<float>(t.x(2 * i)) * 0.37f),
                   high = to_half(static_cast<float>(t.y(2 * i + 1)) * 3.0f);
         return low | high << 16;
       }},
      both("fma.sat", t, [](double x, double y, double z) { return clamped(fused(x, y, z)); }),
  };
  const auto out = c.make<u32>(rows.size() * n);
  c.launch("half_pairs", grid_of(n, 96), c.put(a), c.put(b), c.put(pairs_of(t.c)), out, static_cast<i32>(n));
  expect_bits("half_pairs", c.get(out), n, rows, kHalf);
}
TEST_CASE("f16x2") { on_both(14, half_pairs); }

void brains(Corpus& c) {
  const std::size_t n = 640;
  const Three t(c.rng, 2 * n, kBrain);
  const std::vector<float> f = any_floats<float>(c.rng, 2 * n);
  const auto x = [&](std::size_t i) { return t.x(i); };
  const auto y = [&](std::size_t i) { return t.y(i); };
  const auto V = [&](const char* name, Toward toward) {
    return Row<u16>{name, [&f, toward](std::size_t i) { return static_cast<u16>(encoded(double(f[i]), kBrain, toward)); }};
  };
  const std::vector<Row<u16>> rows = {
      t.row("add", [&](auto i) { return fused(x(i), 1, y(i)); }),
      t.row("sub", [&](auto i) { return fused(y(i), -1, x(i)); }),
      t.row("mul", [&](auto i) { return x(i) * y(i); }),
      t.row("fma", [&](auto i) { return fused(x(i), y(i), t.z(i)); }),
      t.row("fma.relu", [&](auto i) { return positive(fused(x(i), y(i), t.z(i))); }),
      t.row("neg", [&](auto i) { return -x(i); }),
      t.row("abs", [&](auto i) { return std::fabs(x(i)); }),
      t.row("min", [&](auto i) { return least(x(i), y(i)); }),
      t.row("max", [&](auto i) { return most(x(i), y(i)); }),
      t.row("max.NaN", [&](auto i) { return std::isnan(x(i)) || std::isnan(y(i)) ? kNothing : most(x(i), y(i)); }),
      V("float rn", Toward::kEven),
      V("float rz", Toward::kZero),
      V("float ru", Toward::kUp),
      {"lt", [&](auto i) { return u16(x(i) < y(i)); }},
      {"geu", [&](auto i) { return u16(!(x(i) < y(i))); }},
      {"to short", [&](auto i) { return static_cast<u16>(whole<std::int16_t>(std::trunc(x(i)))); }},
  };
  const auto out = c.make<u16>(rows.size() * 2 * n);
  const auto wide = c.make<float>(2 * n);
  c.launch("bf16_arithmetic", grid_of(2 * n, 128), c.put(t.a), c.put(t.b), c.put(t.c), c.put(f), out, wide,
           static_cast<i32>(2 * n));
  expect_bits("bf16_arithmetic", c.get(out), 2 * n, rows, kBrain);
  expect_rows<float>("bf16_arithmetic", c.get(wide), 2 * n, {{"to float", [&](auto i) { return static_cast<float>(x(i)); }}});

  const auto a = pairs_of(t.a), b = pairs_of(t.b);
  const std::vector<Row<u32>> pairs = {
      both("add", t, [](double p, double q, double) { return fused(p, 1, q); }),
      both("mul", t, [](double p, double q, double) { return p * q; }),
      both("fma", t, fused),
      both("fma.relu", t, [](double p, double q, double r) { return positive(fused(p, q, r)); }),
      both("min", t, [](double p, double q, double) { return least(p, q); }),
      both("max.NaN", t, [](double p, double q, double) { return std::isnan(p) || std::isnan(q) ? kNothing : most(p, q); }),
      both("neg", t, [](double p, double, double) { return -p; }),
      both("abs", t, [](double p, double, double) { return std::fabs(p); }),
      {"of floats", [&](auto i) { return to_brain(double(f[i])) | u32(to_brain(-double(f[i]))) << 16; }},
      {"gt mask",
       [&](auto i) { return (x(2 * i) > y(2 * i) ? 0xffffu : 0u) | (x(2 * i + 1) > y(2 * i + 1) ? 0xffff0000u : 0u); }},
      {"high twice", [&](auto i) { return (a[i] & 0xffff0000u) | a[i] >> 16; }},
  };
  const auto pair_out = c.make<u32>(pairs.size() * n);
  c.launch("bf16_pairs", grid_of(n, 256), c.put(a), c.put(b), c.put(pairs_of(t.c)), c.put(f), pair_out, static_cast<i32>(n));
  expect_bits("bf16_pairs", c.get(pair_out), n, pairs, kBrain);
}
TEST_CASE("bf16 and bf16x2") { on_both(15, brains); }

void f8(Corpus& c) {
  const std::size_t n = 1111;
  std::vector<u16> a = short_floats(c.rng, n, kHalf);
  std::vector<u8> e(n);
  std::vector<float> f = any_floats<float>(c.rng, n);
  for (std::size_t i = 0; i < n; ++i) {
    e[i] = static_cast<u8>(i);
    if (i % 2 == 0) f[i] = static_cast<float>(std::ldexp(c.rng.between(-2, 2), static_cast<int>(c.rng.below(30)) - 16));
    if (i % 5 == 0) f[i] = static_cast<float>(decoded(e[i], kE4) * 1.0625);  // ties
  }
  const auto V = [](const char* name, const ShortFloat& g, std::function<double(std::size_t)> v) {
    return Row<u8>{name, [g, v](std::size_t i) {
                     const u32 bits = encoded(v(i), g, Toward::kEven, true);
                     return static_cast<u8>(bits);
                   }};
  };
  const std::vector<Row<u8>> rows = {V("float to e4m3", kE4, [&](auto i) { return double(f[i]); }),
                                     V("float to e5m2", kE5, [&](auto i) { return double(f[i]); }),
                                     V("half to e4m3", kE4, [&](auto i) { return decoded(a[i], kHalf); }),
                                     V("half to e5m2", kE5, [&](auto i) { return decoded(a[i], kHalf); }),
                                     V("pair, low", kE4, [&](auto i) { return double(f[i]); }),
                                     V("pair, high", kE4, [&](auto i) { return -double(f[i]); })};
  const std::vector<Row<u16>> wides = {{"e4m3 to half", [&](auto i) { return to_half(decoded(e[i], kE4)); }},
                                       {"e5m2 to half", [&](auto i) { return to_half(decoded(e[i], kE5)); }}};
  const auto out = c.make<u8>(rows.size() * n);
  const auto wide = c.make<u16>(wides.size() * n);
  c.launch("f8_conversions", grid_of(n, 128), c.put(f), c.put(a), c.put(e), out, wide, static_cast<i32>(n));
  auto got = c.get(out);
  for (u8& x : got)
    if ((x & 0x7f) == 0x7f) x = 0x7f;  // one NaN, as above; infinities of e5m2 do not come out
  expect_rows("f8_conversions", got, n, rows);
  expect_bits("f8_conversions", c.get(wide), n, wides, kHalf);
}

TEST_CASE("f8: by software on sm_80, by instructions on sm_90") { on_both(16, f8); }

}  // namespace
}  // namespace ashlar::ptx_corpus
