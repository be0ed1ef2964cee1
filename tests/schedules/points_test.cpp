// Short rows: their points in lanes, each going over its own terms in their order.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

namespace {

const Symbol N{"N"}, B{"B"};

}  // namespace

TEST_CASE("by default: the nearest of a few centers, points in lanes, with the distances of these points") {
  lang::DefinitionScope scope;
  for (const auto& [type, centers, width] : {std::tuple(f32, 12, 8), {f64, 5, 6}, {i32, 30, 3}, {f32, 3, 20}}) {
    const Tensor x = input("x", type, {N, width}), c = input("c", type, {centers, width});
    const Axis d{"d", width}, j{"j", centers};
    const Tensor distance = compute("distance", {N, Extent(centers)},
                                    [&](Var i, Var m) { return sum((x(i, d) - c(m, d)) * (x(i, d) - c(m, d)), d); });
    const auto [least, nearest] = compute("nearest", {N}, [&](Var i) { return argmin(distance(i, j), j); });
    const Tensor l = least, n = nearest;
    for (const char* target : {"x86-64-v4", "x86-64-v3", "aarch64"}) {
      CAPTURE(target);
      const Scheduled s(
          {x, c}, {compute("y", {N}, [&](Var i) { return n(i) * 2; }), compute("z", {N}, [&](Var i) { return l(i) * 2; })}, {},
          target);
      for (const std::int64_t points : {0, 1, 15, 16, 50}) s.same({{points, width}, {centers, width}, {points}, {points}});
    }
    const Scheduled s({x, c}, {compute("y", {N}, [&](Var i) { return n(i) * 2; })});
    CHECK(s.has("nearest", "along i0i"));
    CHECK(s.has("distance", "computed at i0o of nearest"));
    CHECK(s.has("distance", "rows of x transposed, "));
  }
}

TEST_CASE("by default: which rows are short") {
  lang::DefinitionScope scope;
  const auto done = [&](std::int64_t terms, std::int64_t points, auto reduce, const schedules::DefaultOptions& o = {}) {
    const Tensor x = input("x", f32, {points, terms});
    const Axis k{"k", terms};
    const Scheduled s({x}, {compute("y", {points}, [&](Var i) { return reduce(x(i, k), k); })}, o);
    s.same({{points, terms}, {points}});
    return s.has("y", "rows of x transposed, 16 at a time");
  };
  const auto add = [](const Expr& e, const Axis& k) { return sum(e, k); };
  const auto in_order = [](const Expr& e, const Axis& k) { return strict_sum(e, k); };
  CHECK(done(2, 100, add));
  CHECK(done(15, 100, add));
  CHECK(!done(16, 100, add));  // terms fill a vector
  CHECK(done(16, 100, add, {.regroup = false}));
  CHECK(done(16, 100, in_order));
  CHECK(done(32, 100, in_order));
  CHECK(!done(33, 100, in_order));
  CHECK(done(7, 32, add));
  CHECK(!done(7, 31, add));  // too few points
}

TEST_CASE("by default: short rows of results of several dimensions, and with several values") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", i32, {B, N, 6}), w = input("w", u8, {N, 9});
  const Axis k{"k", 6}, m{"m", 9};
  {
    const Scheduled s({x}, {compute("y", {B, N}, [&](Var b, Var i) { return maximum(x(b, i, k), k); })});
    CHECK(s.has("y", "vectors of 16 along i1i"));
    s.same({{3, 37, 6}, {3, 37}});
  }
  {
    const auto [top, at] = compute("best", {N}, [&](Var i) { return argmax(w(i, m), m); });
    const Tensor t = top, p = at;
    const Scheduled s({w}, {compute("y", {N}, [&](Var i) { return i32(t(i)) * 16 + i32(p(i)); })});
    for (const std::int64_t points : {1, 64, 130}) s.same({{points, 9}, {points}});
  }
  {  // a start of its own, and a row that is read backwards, which is gathered
    const Tensor from = input("from", f32, {N}), z = input("z", f32, {N, 9});
    const Scheduled s({from, z}, {compute("y", {N}, [&](Var i) { return sum(z(i, 8 - m) * 2.0f, m).from(from(i)); })});
    CHECK(s.has("y", "vectors of 16 along i0i"));
    s.same({{40}, {40, 9}, {40}});
  }
}
