// Stages inside of the loops of others, by default: products of rows of a triangle, sums of what lies anywhere, and reducers
// that give one of their terms.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

TEST_CASE("by default: rows of a triangle are summed one by one, and a factor lies with its columns last") {
  lang::DefinitionScope scope;
  const Symbol T{"T", {.min = 1}};
  const Tensor a = input("a", f32, {3, T, 20}), b = input("b", f32, {3, T, 20});
  const auto turned = [&](const char* name, const Tensor& x) {
    return compute(name, {{"h", 3}, {"t", T}, {"d", 20}},
                   [&](Var h, Var t, Var d) { return select(d < 10, x(h, t, d), x(h, t, d - 10) + x(h, t, d)); });
  };
  const Tensor A = turned("A", a), B = turned("B", b);
  const Axis d{"d", 20};
  const Tensor score = compute("score", [&](Var h, Var t, Var s) { return sum(A(h, t, d) * B(h, s, d), d); });
  const Tensor weight = compute("weight", [&](Var h, Var t, Var s) { return score(h, t, s) * score(h, t, s) / 2.0f; });
  const Tensor mixed = compute("mixed", {{"h", 3}, {"t", T}, {"e", 20}}, [&](Var h, Var t, Var e) {
    const Axis s{"s", t + 1};
    return sum(weight(h, t, s) * b(h, s, e), s);
  });
  const Tensor y = compute("y", {{"h", 3}, {"t", T}, {"e", 20}}, [&](Var h, Var t, Var e) { return mixed(h, t, e) + 1.0f; });
  const Scheduled s({a, b}, {y}, {.regroup = false});
  CAPTURE(s.by.choices.text());
  CHECK(s.has("mixed", "sums of a tile of 32"));
  CHECK(s.has("weight", "computed at t of y"));
  CHECK(s.has("score", "computed at t of y"));
  CHECK(s.has("score", "sums of a tile of 64"));
  CHECK(s.has("B", "neighbors in memory along t"));
  CHECK(s.has("B", "vectors of 16 along t"));
  for (const std::int64_t t : {1, 7, 70}) s.same({{3, t, 20}, {3, t, 20}, {3, t, 20}});
  Scheduled({a, b}, {y}).same({{3, 33, 20}, {3, 33, 20}, {3, 33, 20}});
}

TEST_CASE("by default: a search goes over lanes, and what it searches is summed of elements that lie anywhere") {
  lang::DefinitionScope scope;
  const Symbol Q{"Q"}, N{"N", {.min = 1}};
  const Tensor table = input("table", i32, {Q, 6, 16}), codes = input("codes", u8, {N, 6});
  const Axis m{"m", 6}, n{"n", N};
  const Tensor distance = compute("distance", {{"q", Q}, {"i", N}},
                                  [&](Var q, Var i) { return sum(table(q, m, in_range(codes(i, m), 0, 16)), m); });
  const auto [least, nearest] = compute("nearest", {{"q", Q}}, [&](Var q) { return argmin(distance(q, n), n); });
  for (const bool regroup : {true, false}) {
    const Scheduled s({table, codes}, {least, nearest}, {.regroup = regroup});
    CHECK(s.has("distance", "terms unrolled"));
    CHECK(s.has("nearest", "sums in"));
    s.same({{3, 6, 16}, {100, 6}, {3}, {3}});
    s.same({{2, 6, 16}, {1, 6}, {2}, {2}});
  }
}

TEST_CASE("by default: a search among floats is regrouped, since it gives one of its terms") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N", {.min = 1}};
  const Tensor x = input("x", f32, {M, N});
  const Axis n{"n", N};
  const auto [most, where] = compute("most", {{"m", M}}, [&](Var i) { return argmax(x(i, n), n); });
  const Tensor total = compute("total", {{"m", M}}, [&](Var i) { return sum(x(i, n), n); });
  const Scheduled s({x}, {most, where}, {.regroup = false}), sums({x}, {total}, {.regroup = false});
  CHECK(s.has("most", "sums in"));
  CHECK(sums.has("total", "one term after the other"));
  s.same({{3, 100}, {3}, {3}});
  s.same({{3, 5}, {3}, {3}});
}

TEST_CASE("by default: weights that have their channels first are packed") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 2}}, W{"W", {.min = 2}};
  const Tensor x = input("x", i8, {H, W, 8}), w = input("w", i8, {24, 3, 3, 8});
  const Tensor framed = boundary::constant(x, 2, {0, 1});
  const Axis dy{"dy", 3}, dx{"dx", 3}, c{"c", 8};
  const Tensor total = compute("total", {{"y", H}, {"x", W}, {"o", 24}}, [&](Var i, Var j, Var o) {
    return sum(i32(framed(i + dy - 1, j + dx - 1, c)) * i32(w(o, dy, dx, c)), {dy, dx, c});
  });
  const Tensor pooled = compute("pooled", {{"y", H / 2}, {"x", W / 2}, {"o", 24}}, [&](Var i, Var j, Var o) {
    return max(max(total(2 * i, 2 * j, o), total(2 * i, 2 * j + 1, o)),
               max(total(2 * i + 1, 2 * j, o), total(2 * i + 1, 2 * j + 1, o)));
  });
  const Scheduled s({x, w}, {pooled});
  CHECK(s.has("total", "w in blocks of"));
  CHECK(s.has("total", "sums of a tile of"));
  s.same({{7, 9, 8}, {24, 3, 3, 8}, {3, 4, 24}});
  s.same({{2, 2, 8}, {24, 3, 3, 8}, {1, 1, 24}});
}

TEST_CASE("by default: sums whose lanes would be gathered go on four rows side by side") {
  lang::DefinitionScope scope;
  const Symbol R{"R"}, N{"N"};
  const Tensor x = input("x", f64, {N}), y = input("y", f64, {N}), which = input("which", u16, {R, N});
  const Axis k{"k", N};
  const auto picked = [&](const char* name, const Tensor& of) {
    return compute(name, {{"r", R}}, [&](Var r) { return sum(of(in_range(which(r, k), 0, N)), k); });
  };
  const Tensor above = picked("above", y), below = picked("below", x);
  const Tensor ratio = compute("ratio", {{"r", R}}, [&](Var r) { return above(r) / max(below(r), 1.0); });
  for (const bool regroup : {true, false}) {  // lanes would be gathered
    const Scheduled s({x, y, which}, {ratio}, {.regroup = regroup});
    for (const char* stage : {"above", "below"}) CHECK(s.has(stage, "4 rows side by side, each one term after the other"));
    for (const std::int64_t r : {0, 1, 4, 11}) s.same({{16}, {16}, {r, 16}, {r}});
  }
}
