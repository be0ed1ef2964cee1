// Whole operators, written as a library would write them and run against plain loops: a blur with an inferred domain, a matrix
// product with an epilogue, a softmax of any rank, a convolution whose input has a derived extent.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <ashlar/ashlar.h>

#include "tests/lang/run.h"

using namespace ashlar;
using interp::Array;
using V = std::vector<double>;

TEST_CASE("a separable binomial blur of bytes, edges repeated") {
  const lang::DefinitionScope scope;
  static constexpr int weight[5] = {1, 4, 6, 4, 1};
  Symbol H{"H"}, W{"W"};
  const Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u8, {H, W});
  const Tensor wide = boundary::repeat(in);
  const Tensor across = compute("across", [&](Var y, Var x) {
    Expr total = u16(0);
    for (int t = 0; t < 5; ++t) total += u16(wide(y, x + (t - 2))) * weight[t];
    return total;
  });
  const Tensor down = compute("down", [&](Var y, Var x) {
    Expr total = u16(0);
    for (int t = 0; t < 5; ++t) total += across(y + (t - 2), x) * weight[t];
    return total;
  });
  lang::bind(out, compute("out", [&](Var y, Var x) { return u8((down(y, x) + 128) >> 8); }));

  const int h = 7, w = 5;
  const auto pixel = [](int y, int x) { return (y * 37 + x * 91) % 256; };
  V expected;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int total = 0;
      for (int r = 0; r < 5; ++r)
        for (int c = 0; c < 5; ++c)
          total += weight[r] * weight[c] * pixel(std::clamp(y + r - 2, 0, h - 1), std::clamp(x + c - 2, 0, w - 1));
      expected.push_back((total + 128) >> 8);
    }
  CHECK(run({in, out}, {Array::make(u8, {h, w}, [&](auto i) { return pixel(static_cast<int>(i[0]), static_cast<int>(i[1])); }),
                        Array::zeros(u8, {h, w})}) == expected);
}

TEST_CASE("gelu(A B + bias): numbers take the type they meet") {
  const lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
               bias = lang::make_input("bias", f32, {N}), C = lang::make_output("C", f32, {M, N});
  Axis k{"k", A.extent(1)};
  const Tensor product =
      compute("product", {A.extent(0), B.extent(1)}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  const auto gelu = [](const Expr& x) { return 0.5 * x * (1 + erf(x * 0.70710678118654752)); };
  lang::bind(C, compute("C", {M, N}, [&](Var i, Var j) { return gelu(product(i, j) + bias(j)); }));
  const auto a = [](std::int64_t i, std::int64_t j) { return static_cast<double>((i * 3 + j) % 5 - 2); };
  const V found = run({A, B, bias, C}, {Array::make(f32, {3, 4}, [&](auto i) { return a(i[0], i[1]); }),
                                        Array::make(f32, {4, 2}, [&](auto i) { return a(i[1], i[0]) / 4; }),
                                        Array::make(f32, {2}, [](auto i) { return 0.25 * static_cast<double>(i[0]); }),
                                        Array::zeros(f32, {3, 2})});
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 2; ++j) {
      double x = 0.25 * static_cast<double>(j);
      for (std::int64_t r = 0; r < 4; ++r) x += a(i, r) * a(j, r) / 4;
      CHECK(found[static_cast<std::size_t>(i * 2 + j)] ==
            doctest::Approx(0.5 * x * (1 + std::erf(x * std::sqrt(0.5)))).epsilon(1e-5));
    }
}

TEST_CASE("softmax over the last dimension, whatever the rank") {
  struct Softmax {
    Tensor peak, weight, total, result;
  };  // an operator that is to be scheduled returns its stages
  const auto softmax = [](const Tensor& x) {
    Softmax o;
    const int last = x.rank() - 1;
    Axis k{"k", x.extent(last)};
    o.peak = compute("peak", x.shape().drop(last), [&](Indices i) { return maximum(x(i.with(last, k)), k); });
    o.weight = compute("weight", x.shape(), [&](Indices i) { return exp(x(i) - o.peak(i.drop(last))); });
    o.total = compute("total", x.shape().drop(last), [&](Indices i) { return sum(o.weight(i.with(last, k)), k); });
    o.result = compute("softmax", x.shape(), [&](Indices i) { return o.weight(i) / o.total(i.drop(last)); });
    return o;
  };
  const lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{4}, {2, 3}, {2, 2, 3}}) {
    std::vector<Extent> extents;
    for (std::int64_t n : shape) extents.push_back(n);
    const Tensor x = lang::make_input("x", f32, extents), y = lang::make_output("y", f32, extents);
    lang::bind(y, softmax(x).result);
    const V found = run({x, y}, {counting(f32, shape), Array::zeros(f32, shape)});
    const auto n = static_cast<std::size_t>(shape.back());
    for (std::size_t row = 0; row < found.size(); row += n) {
      double total = 0;
      for (std::size_t k = 0; k < n; ++k) total += std::exp(static_cast<double>(k));
      for (std::size_t k = 0; k < n; ++k)
        CHECK(found[row + k] == doctest::Approx(std::exp(static_cast<double>(k)) / total).epsilon(1e-6));
    }
  }
}

TEST_CASE("a convolution: the symbol is solved from a derived extent, the types vary") {
  for (Type t : {f16, bf16, f32, f64, i8, u16, i32}) {
    CAPTURE(static_cast<int>(t.bits));
    const lang::DefinitionScope scope;
    const int taps = 3;
    Symbol N{"N", {.min = 1}}, B{"B"};
    const Tensor x = lang::make_input("x", t, {B, N + (taps - 1)}), w = lang::make_input("w", t, {taps}),
                 y = lang::make_output("y", t, {B, N});
    const Expr gain = lang::make_scalar("gain", f32);
    Axis k{"t", taps};
    const Tensor acc = compute("acc", {B, N}, [&](Var b, Var n) { return sum(f32(x(b, n + k)) * f32(w(k)), k); });
    lang::bind(y, compute("y", {B, N}, [&](Var b, Var n) { return t(acc(b, n) * gain / taps); }));
    // x = 1 .. 12 in rows of 6, w = 1 2 3: acc = x + 2 (x + 1) + 3 (x + 2) = 6 x + 8; times 1.5, by 3: 3 x + 4
    CHECK(run({x, w, gain, y}, {counting(t, {2, 6}), counting(t, {3}), ir::float_value(f32, 1.5), Array::zeros(t, {2, 4})}) ==
          V{7, 10, 13, 16, 25, 28, 31, 34});
  }
}
