// Sums inside of the loops of what reads them, by default: products in strips of the reader's rows, rows of sums in tiles of
// their own, and rows side by side that keep their order or merge costly partial results.
#include <limits>

#include "tests/schedules/by_default.h"

using namespace by_default_test;

namespace {

// Of each frame the energies of bands that go over bins of their own, of a transform of `long` samples.
Tensor bands(const Tensor& x, const Tensor& wave, const Tensor& edge, const Tensor& share) {
  const Axis n{"n", 40};
  const Tensor shown =
      compute("shown", {{"f", x.extent(0)}, {"c", 37}}, [&](Var f, Var c) { return sum(x(f, n) * wave(n, c), n); });
  const Tensor power =
      compute("power", {{"f", x.extent(0)}, {"c", 37}}, [&](Var f, Var c) { return min(shown(f, c) * shown(f, c), 9.0f); });
  const Tensor band = compute("band", {{"f", x.extent(0)}, {"m", 6}}, [&](Var f, Var m) {
    const Axis b{"b", in_range(edge(m), 0, 38), in_range(edge(m + 1), 0, 38)};
    return sum(share(m, b) * power(f, b), b);
  });
  return compute("level", {{"f", x.extent(0)}, {"m", 6}}, [&](Var f, Var m) { return sqrt(band(f, m) + 1.0f); });
}

}  // namespace

TEST_CASE("by default: a product of which each row of its reader needs all columns is summed for a strip of rows") {
  lang::DefinitionScope scope;
  const Symbol F{"F"};
  const Tensor x = input("x", f32, {F, 40}), wave = input("wave", f32, {40, 37}), edge = input("edge", i32, {7}),
               share = input("share", f32, {6, 37});
  for (const char* target : {"x86-64-v4", "x86-64-v3", "neoverse-n1"})
    for (const bool regroup : {true, false}) {
      const Scheduled s({x, wave, edge, share}, {bands(x, wave, edge, share)}, {.regroup = regroup}, target);
      const bool wide = std::string(target) == "x86-64-v4";
      CHECK(s.has("shown", "computed at fo of level"));
      CHECK(s.has("shown", wide ? "sums of a tile of 14 x 32" : "sums of a tile of "));
      CHECK(s.has("power", "computed at fi of level"));
      CHECK(s.has("band", regroup ? "sums in 1 vector" : "one term after the other"));  // no lanes of bands
      for (const std::int64_t f : {0, 1, 14, 31}) s.same({{f, 40}, {40, 37}, {7}, {6, 37}, {f, 6}});
    }
}

TEST_CASE("by default: a row of sums inside of others takes several vectors at once") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, E{"E", {.min = 1}};
  const Tensor x = input("x", f32, {N, 20}), up = input("up", f32, {E, 20, 96}), which = input("which", i32, {N});
  const Axis d{"d", 20}, h{"h", 96};
  const Tensor inner = compute("inner", {{"n", N}, {"k", 96}},
                               [&](Var n, Var k) { return sum(x(n, d) * up(in_range(which(n) % E, 0, E), d, k), d); });
  const Tensor least = compute("least", {{"n", N}}, [&](Var n) { return minimum(inner(n, h), h); });
  const Scheduled s({x, up, which}, {least}, {.regroup = false});
  CHECK(s.has("inner", "sums of a tile of 96, 16 in a vector"));
  for (const std::int64_t n : {0, 1, 9}) s.same({{n, 20}, {3, 20, 96}, {n}, {n}});
}

TEST_CASE("by default: rows of results that keep their order go on side by side") {
  lang::DefinitionScope scope;
  const Symbol R{"R"}, N{"N"};
  for (const Type type : {f32, f64}) {
    const Tensor x = input("x", type, {R, N}), y = input("y", type, {R, N});
    const Axis k{"k", N};
    const Tensor total = compute("total", {{"r", R}}, [&](Var r) { return sum(x(r, k), k); });
    const Tensor dot = compute("dot", {{"r", R}}, [&](Var r) { return strict_sum(x(r, k) * y(r, k), k); });
    const Scheduled s({x, y}, {total, dot}, {.regroup = false});
    CHECK(s.has("total", "8 rows side by side, each one term after the other"));
    CHECK(s.has("total", "ro in parallel"));
    CHECK(s.has("dot", "4 rows side by side, each one term after the other"));  // of two arrays
    for (const std::int64_t r : {0, 1, 8, 19}) s.same({{r, 13}, {r, 13}, {r}, {r}});
    CHECK_FALSE(Scheduled({x, y}, {total, dot}).has("total", "side by side"));
  }
  const Tensor few = input("few", f32, {5, N});
  const Axis k{"k", N};
  const Tensor total = compute("total", {{"r", 5}}, [&](Var r) { return sum(few(r, k), k); });
  CHECK_FALSE(Scheduled({few}, {total}, {.regroup = false}).has("total", "side by side"));
}

TEST_CASE("by default: rows whose sums keep their order are lanes where each term takes a function") {
  lang::DefinitionScope scope;
  const Symbol B{"B"}, N{"N", {.min = 1}};
  const Axis k{"k", N};
  const auto logs = [&](const Tensor& x, const Extent& rows) {
    const Tensor top = compute("top", {{"b", B}, {"r", rows}}, [&](Var b, Var r) { return maximum(x(b, r, k), k); });
    const Tensor total =
        compute("total", {{"b", B}, {"r", rows}}, [&](Var b, Var r) { return sum(exp(x(b, r, k) - top(b, r)), k); });
    return compute("y", {{"b", B}, {"r", rows}, {"n", N}},
                   [&](Var b, Var r, Var n) { return x(b, r, n) - top(b, r) - log(total(b, r)); });
  };
  const Symbol R{"R"};
  const Tensor x = input("x", f32, {B, R, N}), four = input("x", f32, {B, 4, N}), two = input("x", f32, {B, 2, N});
  const Scheduled many({x}, {logs(x, R)}, {.regroup = false}), few({four}, {logs(four, 4)}, {.regroup = false});
  CHECK(many.has("total", "computed at ro of y"));
  CHECK(many.has("total", "rows in 16 lanes, each one term after the other"));
  CHECK(few.has("total", "computed at b of y"));
  CHECK(few.has("total", "rows in 4 lanes, each one term after the other"));
  for (const std::int64_t n : {1, 5, 40}) {
    few.same({{3, 4, n}, {3, 4, n}});
    for (const std::int64_t r : {0, 1, 16, 21}) many.same({{2, r, n}, {2, r, n}});
  }
  CHECK_FALSE(Scheduled({two}, {logs(two, 2)}, {.regroup = false}).has("total", "lanes"));
  CHECK_FALSE(Scheduled({x}, {logs(x, R)}).has("total", "one term after the other"));
}

TEST_CASE("by default: rows that a costly reducer merges go through the tree of their lanes side by side") {
  lang::DefinitionScope scope;
  const Symbol B{"B"}, R{"R"}, N{"N", {.min = 1}};
  const Axis k{"k", N};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // The largest value with the number of places that have it, and the smallest with that of its places.
  const auto extremes = reducer(
      "extremes", {f32, f32, f32, f32}, {-infinity, 0, infinity, 0},
      [](Values<4> a, Values<4> b) {
        const Expr most = select(a[0] < b[0], b[1], select(b[0] < a[0], a[1], a[1] + b[1]));
        const Expr least = select(b[2] < a[2], b[3], select(a[2] < b[2], a[3], a[3] + b[3]));
        return values(max(a[0], b[0]), most, min(a[2], b[2]), least);
      },
      Order::any);
  const auto places = [&](const Tensor& x, const Extent& rows) {
    const auto [top, tops, low, lows] = compute(
        "extremes", {{"b", B}, {"r", rows}}, [&](Var b, Var r) { return extremes(values(x(b, r, k), 1, x(b, r, k), 1), k); });
    return compute("y", {{"b", B}, {"r", rows}, {"n", N}},
                   [&, top = top, tops = tops, low = low, lows = lows](Var b, Var r, Var n) {
                     return (x(b, r, n) - top(b, r)) * tops(b, r) + (x(b, r, n) - low(b, r)) * lows(b, r);
                   });
  };
  const Tensor x = input("x", f32, {B, R, N}), two = input("x", f32, {B, 2, N});
  for (const char* target : {"x86-64-v4", "x86-64-v3"}) {
    const Scheduled s({x}, {places(x, R)}, {}, target);
    const bool wide = std::string(target) == "x86-64-v4";
    CHECK(s.has("extremes", "computed at ro of y"));
    CHECK(
        s.has("extremes", wide ? "4 rows side by side, each in a vector of 16" : "4 rows side by side, each in a vector of 8"));
    for (const std::int64_t n : {1, 5, 16, 40})
      for (const std::int64_t r : {0, 1, 4, 7}) s.same({{2, r, n}, {2, r, n}});
  }
  CHECK_FALSE(Scheduled({two}, {places(two, 2)}).has("extremes", "side by side"));  // too few
}
