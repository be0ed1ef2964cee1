// Points with a few values each, by default: colors of pixels, coordinates of places. Vectors hold those of several points.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

TEST_CASE("by default: channels of several pixels are a vector, and what is computed of a pixel goes along the row") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  const Tensor gray = input("gray", i32, {H, W}), tint = input("tint", i32, {W, 3});
  const Tensor wide = boundary::mirror(gray);
  const Axis dx{"dx", -1, 2};
  const Tensor blur =
      compute("blur", {{"y", H}, {"x", W}}, [&](Var y, Var x) { return sum(wide(y, x + dx) * wide(y, x + dx), dx); });
  const Tensor rgb = compute("rgb", {{"y", H}, {"x", W}, {"c", 3}}, [&](Var y, Var x, Var c) {
    return blur(y, x) / max(tint(x, c), 1) + select(c == 1, blur(y, x), 0);
  });
  for (const char* target : {"x86-64-v4", "x86-64-v3"}) {
    CAPTURE(target);
    const Scheduled s({gray, tint}, {rgb}, {}, target);
    const std::string points = std::string(target) == "x86-64-v4" ? "4" : "2";
    CHECK(s.has("rgb", "vectors of " + points + " points along x with 3 values each"));
    CHECK(s.has("rgb", "y in parallel"));
    CHECK(s.has("blur", "computed at xoo of rgb"));
    CHECK(s.has("blur", std::string(target) == "x86-64-v4" ? "sums of a tile of 16" : "sums of a tile of 8"));
    s.same({{3, 37}, {37, 3}, {3, 37, 3}});
    s.same({{1, 1}, {1, 3}, {1, 1, 3}});
  }
}

TEST_CASE("by default: bytes of two channels, and no dimension around the points") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", u8, {N, 2}), scale = input("scale", u8, {N});
  const Tensor y =
      compute("y", {{"n", N}, {"c", 2}}, [&](Var n, Var c) { return saturate(u8, u16(x(n, c)) * u16(scale(n)) + 3); });
  const Scheduled s({x, scale}, {y});
  CHECK(s.has("y", "points along n with 2 values each"));
  CHECK(s.has("y", "noo in parallel"));
  for (const std::int64_t n : {0, 1, 31, 33, 100}) s.same({{n, 2}, {n}, {n, 2}});
}

TEST_CASE("by default: channels as many as lanes, or hardly any points, are vectors as they are") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor many = input("many", f32, {N, 16}), few = input("few", f32, {4, 3});
  const auto doubled = [](const Tensor& x) {
    const auto shape = x.shape().extents();
    return compute("y", {{"n", shape[0]}, {"c", shape[1]}}, [&](Var n, Var c) { return x(n, c) * 2.0f; });
  };
  const Scheduled a({many}, {doubled(many)}), b({few}, {doubled(few)});
  CHECK(a.has("y", "a vector of 16 along c"));
  CHECK(b.has("y", "a vector of 3 along c"));
  a.same({{5, 16}, {5, 16}});
  b.same({{4, 3}, {4, 3}});
}

TEST_CASE("by default: channels that have formulas of their own, and cost something, are in vectors of their own") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", f32, {N, 3});
  const auto turned = [&](bool much) {
    return compute("y", {{"n", N}, {"c", 3}}, [&](Var n, Var c) {
      const Expr least = min(min(x(n, 0), x(n, 1)), x(n, 2)), most = max(max(x(n, 0), x(n, 1)), x(n, 2));
      return much ? select(c == 0, most - least, select(c == 1, (most + least) * 0.5f, most))
                  : select(c == 0, 0, x(n, c) * 2.0f + 1.0f);
    });
  };
  const Scheduled dear({x}, {turned(true)}), cheap({x}, {turned(false)});
  CHECK(dear.has("y", "3 values apart, 16 points in a vector"));
  CHECK(cheap.has("y", "points along n with 3 values each"));
  for (const std::int64_t n : {1, 5, 33}) dear.same({{n, 3}, {n, 3}}), cheap.same({{n, 3}, {n, 3}});
}

TEST_CASE("by default: fewer points of many values are shuffled at once, so that compiling takes no minutes") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor a = input("a", u8, {N}), b = input("b", u8, {N});
  struct Expected {
    int values;
    const char *target, *said;
  };
  for (const Expected& e : {Expected{3, "x86-64-v3", "3 values apart, 32 points in a vector"},
                            Expected{6, "x86-64-v3", "6 values apart, 16 points in a vector"},
                            Expected{8, "x86-64-v3", "8 values apart, 16 points in a vector"},
                            Expected{14, "x86-64-v3", "14 values apart, 4 points in a vector"},
                            Expected{14, "x86-64-v4", "14 values apart, 16 points in a vector"}}) {
    CAPTURE(e.values);
    const Tensor y = compute("y", {{"n", N}, {"c", Expr(e.values)}}, [&](Var n, Var c) {
      Expr r = a(n) / b(n);
      for (int k = 1; k < e.values; ++k) r = select(c == k, a(n) / (b(n) + k), r);
      return r;
    });
    const Scheduled s({a, b}, {y}, {}, e.target);
    CHECK(s.has("y", e.said));
    if (e.values == 6)
      for (const std::int64_t n : {1, 15, 33}) s.same({{n}, {n}, {n, 6}});
  }
}

TEST_CASE("by default: rows shorter than a piece have no vectors of points past their end") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  const Tensor x = input("x", f32, {H, W, 3});
  const auto exp3 = compute("powers", [&](Var y, Var c, Var k) { return exp(x(clamp(y, 0, H - 1), c, k)); });
  const Tensor blur = compute("blur", {{"y", H}, {"x", W}, {"c", 3}},
                              [&](Var y, Var c, Var k) { return exp3(y - 1, c, k) + exp3(y, c, k) + exp3(y + 1, c, k); });
  const Scheduled s({x}, {blur});
  CHECK(s.has("blur", "points along x with 3 values each"));
  CHECK(s.text().find("for xoi in min(128, (W + 3) / 4 - yo_xoo % ((W + 511) / 512) * 128)") != std::string::npos);
  for (const std::int64_t w : {1, 6, 700}) s.same({{3, w, 3}, {3, w, 3}});
}

TEST_CASE("by default: sums of several pixels with all their channels are in vectors") {
  lang::DefinitionScope scope;
  const Symbol H{"H"}, W{"W"};
  const Tensor x = input("x", f32, {H + 2, W + 4, 3}), w = input("w", f32, {3, 5});
  const Axis r{"r", 3}, k{"k", 5};
  const auto window = [&](Var y, Var i, Var c) { return sum(w(r, k) * x(y + r, i + k, c), {r, k}); };
  const Tensor blurred = compute("blurred", {{"y", H}, {"i", W}, {"c", 3}}, window);
  const Scheduled s({x, w}, {blurred});
  CHECK(s.has("blurred", "sums of a tile of 48, 16 in a vector"));
  for (const std::int64_t n : {1, 16, 37}) s.same({{5, n + 4, 3}, {3, 5}, {3, n, 3}});
  // ... and what is computed of them, of bytes too
  const Tensor b = input("b", u8, {H, W + 8, 2}), v = input("v", i16, {9});
  const Axis j{"j", 9};
  const Tensor total = compute("total", {{"y", H}, {"i", W}, {"c", 2}},
                               [&](Var y, Var i, Var c) { return sum(i32(v(j)) * i32(b(y, i + j, c)), j); });
  const Scheduled t(
      {b, v}, {compute("out", {{"y", H}, {"i", W}, {"c", 2}}, [&](Var y, Var i, Var c) { return u8(total(y, i, c) >> 6); })});
  CHECK(t.has("total", "sums of a tile of 64, 16 in a vector"));
  CHECK(t.has("out", "vectors of 64 along"));
  for (const std::int64_t n : {1, 32, 45}) t.same({{2, n + 8, 2}, {9}, {2, n, 2}});
  // Weights of each channel for each term would be gathered; so would points of another stride.
  const Tensor own = input("own", f32, {5, 3});
  CHECK(!Scheduled({x, own}, {compute("of_own", {{"y", H}, {"i", W}, {"c", 3}},
                                      [&](Var y, Var i, Var c) { return sum(own(k, c) * x(y, i + k, c), k); })})
             .has("of_own", "a tile of 48"));
  CHECK(!Scheduled({x, w}, {compute("apart", {{"y", H}, {"i", W / 2}, {"c", 3}},
                                    [&](Var y, Var i, Var c) { return sum(w(0, k) * x(y, 2 * i + k, c), k); })})
             .has("apart", "a tile of 48"));
}

TEST_CASE("by default: values of points that lie in planes are read apart") {
  lang::DefinitionScope scope;
  const Symbol H{"H"}, W{"W"};
  const Tensor planes = input("planes", f32, {3, H, W}), pixels = input("pixels", u8, {H, W, 3});
  const Scheduled to({planes}, {compute("to", {{"y", H}, {"x", W}, {"c", 3}},
                                        [&](Var y, Var x, Var c) { return u8(i32(planes(c, y, x) * 4.f)); })});
  CHECK(to.has("to", "3 values apart, 32 points in a vector"));
  const Scheduled from({pixels}, {compute("from", {{"c", 3}, {"y", H}, {"x", W}},
                                          [&](Var c, Var y, Var x) { return f32(pixels(y, x, c)) * 0.5f; })});
  CHECK(from.has("from", "vectors of 16 along x"));
  const Scheduled turned(
      {pixels}, {compute("turned", {{"y", H}, {"x", W}, {"c", 3}}, [&](Var y, Var x, Var c) { return pixels(y, x, 2 - c); })});
  CHECK(turned.has("turned", "points along x with 3 values each"));
  for (const std::int64_t w : {1, 5, 64, 150}) {
    to.same({{3, 2, w}, {2, w, 3}});
    from.same({{2, w, 3}, {3, 2, w}});
    turned.same({{2, w, 3}, {2, w, 3}});
  }
}

TEST_CASE("by default: sums at a border that is repeated are together, under a stride apart, elsewhere their terms in lanes") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  const Tensor x = input("x", f32, {N, 2}), w = input("w", f32, {24}), own = input("own", f32, {24, 2});
  const Axis k{"k", 24};
  const auto sums = [&](const char* name, auto term) {
    return compute(name, {{"n", N}, {"c", 2}}, [&](Var n, Var c) { return sum(term(n, c), k); });
  };
  const auto clamped = [&](const Expr& i) { return clamp(i, 0, N - 1); };
  const Scheduled border({x, w}, {sums("border", [&](Var n, Var c) { return w(k) * x(clamped(n + k - 12), c); })});
  CHECK(border.has("border", "sums of a tile of 64, 16 in a vector"));
  const Scheduled each({x, own}, {sums("each", [&](Var n, Var c) { return own(k, c) * x(clamped(n + k), c); })});
  CHECK(each.has("each", "sums of a tile of 2 x 32, 16 in a vector"));
  const Scheduled halved({x, w}, {sums("halved", [&](Var n, Var c) { return w(k) * x(clamped(2 * n + k), c); })});
  CHECK(halved.has("halved", "sums of a tile of 2 x 32, 16 in a vector"));
  const Scheduled anywhere({x, w}, {sums("anywhere", [&](Var n, Var c) { return w(k) * x(clamped(n * 160 / 147 + k), c); })});
  CHECK(anywhere.has("anywhere", "sums in 1 vector of 8"));
  for (const std::int64_t n : {1, 33, 100}) {
    border.same({{n, 2}, {24}, {n, 2}});
    each.same({{n, 2}, {24, 2}, {n, 2}});
    halved.same({{n, 2}, {24}, {n, 2}});
    anywhere.same({{n, 2}, {24}, {n, 2}});
  }
}
