// Points with a few values each, by default: colours of pixels, coordinates of places. Vectors hold those of several points.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

TEST_CASE("by default: channels of several pixels are a vector, and what is computed of a pixel goes along the row") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  const Tensor grey = input("grey", i32, {H, W}), tint = input("tint", i32, {W, 3});
  const Tensor wide = boundary::mirror(grey);
  const Axis dx{"dx", -1, 2};
  const Tensor blur =
      compute("blur", {{"y", H}, {"x", W}}, [&](Var y, Var x) { return sum(wide(y, x + dx) * wide(y, x + dx), dx); });
  const Tensor rgb = compute("rgb", {{"y", H}, {"x", W}, {"c", 3}}, [&](Var y, Var x, Var c) {
    return blur(y, x) / max(tint(x, c), 1) + select(c == 1, blur(y, x), 0);
  });
  for (const char* target : {"x86-64-v4", "x86-64-v3"}) {
    CAPTURE(target);
    const Scheduled s({grey, tint}, {rgb}, {}, target);
    const std::string points = std::string(target) == "x86-64-v4" ? "4" : "2";
    CHECK(s.has("rgb", "vectors of " + points + " points along xi with 3 values each"));
    CHECK(s.has("rgb", "y in parallel"));
    CHECK(s.has("blur", "computed at xo of rgb"));
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
  CHECK(s.has("y", "points along ni with 2 values each"));
  CHECK(s.has("y", "no in parallel"));
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
