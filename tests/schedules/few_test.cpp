// Extents of a few, known when the program is compiled: matrices of 3 x 3, components of a force, rows of a few vectors.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

namespace {

const Symbol N{"N", {.min = 1}};

bool loops_over(const std::string& kernel, int iterations) {
  return kernel.find("in [0, +" + std::to_string(iterations) + ")") != std::string::npos;
}

}  // namespace

TEST_CASE("by default: the terms of a small matrix by a vector are statements, not a loop") {
  lang::DefinitionScope scope;
  const Tensor m = input("m", f32, {N, 3, 3}), x = input("x", f32, {N, 3});
  const Axis k{"k", 3};
  const Tensor y = compute("y", {N, 3}, [&](Var i, Var r) { return sum(m(i, r, k) * x(i, k), k); });
  for (const bool regroup : {true, false}) {
    const Scheduled s({m, x}, {y}, {.regroup = regroup});
    CHECK(s.has("y", "9 terms unrolled"));
    CHECK(!loops_over(kernel_of(s), 3));
    for (const std::int64_t n : {1, 2, 7, 40}) s.same({{n, 3, 3}, {n, 3}, {n, 3}});
  }
  // inside of the loops of its reader
  const Tensor z = compute("z", {N, 3}, [&](Var i, Var r) { return y(i, r) / sqrt(y(i, 0) * y(i, 0) + 1); });
  const Scheduled inside({m, x}, {z});
  CHECK(inside.has("y", "9 terms unrolled"));
  for (const std::int64_t n : {1, 5, 33}) inside.same({{n, 3, 3}, {n, 3}, {n, 3}});
  // what would be many statements stays a loop: 6 x 6 results have 36
  const Tensor large = input("large", f32, {N, 6, 6}), of = input("of", f32, {N, 6});
  const Axis c{"c", 6};
  const Scheduled rows({large, of}, {compute("rows", {N, 6}, [&](Var i, Var r) { return sum(large(i, r, c) * of(i, c), c); })});
  CHECK(rows.has("rows", "6 terms unrolled"));
  rows.same({{3, 6, 6}, {3, 6}, {3, 6}});
}

TEST_CASE("by default: results of a row that each divide are in lanes") {
  lang::DefinitionScope scope;
  const Symbol most{"most", {.min = 1}};
  const auto force = [&](Type type, auto term) {
    const Tensor at = input("at", type, {3, N}), count = input("count", i32, {N}), near = input("near", i32, {N, most});
    const Tensor f = compute("force", {3, N}, [&](Var d, Var i) {
      const Axis k{"k", clamp(count(i), 0, most)};
      const Expr j = clamp(near(i, k), 0, N - 1);
      return sum(term(at, d, i, j), k);
    });
    return Scheduled({at, count, near}, {f}, {.regroup = false});
  };
  const auto divided = [](const Tensor& at, const Expr& d, const Expr& i, const Expr& j) {
    return (at(d, j) - at(d, i)) / (at(0, j) + at(1, j) + 1);
  };
  const Scheduled lanes = force(f32, divided);
  CHECK(lanes.has("force", "the results of a row in lanes, its terms one after the other"));
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 9}, {20, 16}})
    lanes.same({{3, n}, {n}, {n, m}, {3, n}});
  // a quotient that all share is computed once; integers have no vectors of quotients
  CHECK(force(f32, [](const Tensor& at, const Expr& d, const Expr&, const Expr& j) {
          return at(d, j) * (1 / (at(0, j) + 1));
        }).has("force", "the results of a row at once"));
  CHECK(force(i32, divided).has("force", "the results of a row at once"));
}

TEST_CASE("by default: results of rows of blocks have a sum for each term of a block, where sums may be regrouped") {
  lang::DefinitionScope scope;
  const Symbol Z{"Z", {.min = 1}};
  const Tensor first = input("first", i32, {N + 1}), col = input("col", i32, {Z}), block = input("block", f64, {Z, 3, 3}),
               x = input("x", f64, {N, 3});
  const Axis c{"c", 3};
  const Tensor y = compute("y", {N, 3}, [&](Var i, Var r) {
    const Axis e{"e", in_range(min(first(i), first(i + 1)) % (Z + 1), 0, Z + 1), in_range(first(i + 1) % (Z + 1), 0, Z + 1)};
    return sum(block(e, r, c) * x(in_range(col(e) % N, 0, N), c), {e, c});
  });
  for (const bool regroup : {true, false}) {
    const Scheduled s({first, col, block, x}, {y}, {.regroup = regroup});
    CHECK(s.has("y", regroup ? "the results of a row at once, a sum for each c"
                             : "the results of a row at once, its terms one after the other"));
    CHECK(!loops_over(kernel_of(s), 3));
    for (const std::int64_t n : {1, 2, 9}) s.same({{n + 1}, {20}, {20, 3, 3}, {n, 3}, {n, 3}});
  }
}

TEST_CASE("by default: a recurrence keeps a row of a few vectors in registers") {
  lang::DefinitionScope scope;
  const auto sums = [](int width) {
    const Tensor x = input("x", i32, {N, width});
    return Scheduled({x}, {recur(
                              "y", {N, width}, Along{0}, Lag{1}, [&](Var t, Var i) { return x(t, i); },
                              [&](Prior y, Var t, Var i) { return y(t - 1, i) * 3 + x(t, i); })});
  };
  for (const int width : {20, 48, 56, 100}) {
    const Scheduled s = sums(width);
    CAPTURE(width);
    CHECK(s.has("y", "vectors of a row in registers"));
    const std::string kernel = kernel_of(s);
    CAPTURE(kernel);
    const std::size_t loop = kernel.find("for i0 in [1,");  // loads x, and of y what lies in registers
    REQUIRE(loop != std::string::npos);
    CHECK(kernel.find("carried", loop) != std::string::npos);
    CHECK(kernel.find("for i1", loop) == std::string::npos);
    for (const std::int64_t n : {1, 2, 9}) s.same({{n, width}, {n, width}});
  }
  for (const int width : {16, 400}) {  // one vector, and too many of them
    const Scheduled s = sums(width);
    CHECK(!s.has("y", "vectors of a row in registers"));
    s.same({{5, width}, {5, width}});
  }
}

TEST_CASE("by default: vectors of half a register where those leave no lane of a row empty") {
  lang::DefinitionScope scope;
  for (const auto& [width, lanes] : {std::pair(24, 8), {56, 8}, {48, 16}, {50, 16}, {72, 16}}) {
    const Tensor x = input("x", f32, {N, width});
    const Scheduled s({x}, {compute("y", {N, Extent(width)}, [&](Var i, Var j) { return x(i, j) * 2 + 1; })});
    CAPTURE(width);
    CHECK(s.has("y", "vectors of " + std::to_string(lanes) + " along i1"));
    for (const std::int64_t n : {1, 6}) s.same({{n, width}, {n, width}});
  }
}
