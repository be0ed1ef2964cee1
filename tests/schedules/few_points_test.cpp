// A dimension of few points before the lanes: what it does not change is computed once, and indices that it picks from a
// constant are numbers. A recurrence keeps the steps that are read.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

namespace {

const std::vector<int> to_right{0, 1, 0, -1, 0, 1, -1, -1, 1}, down{0, 0, 1, 0, -1, 1, 1, -1, -1};

// What flows in from nine neighbors, whole numbers; the picture goes round.
Tensor streamed(const Tensor& f) {
  const Tensor cx = constant("cx", i32, {9}, to_right), cy = constant("cy", i32, {9}, down);
  const Expr H = f.extent(1), W = f.extent(2);
  return compute("in", {9, H, W}, [&](Var d, Var y, Var x) { return f(d, (y - cy(d)) % H, (x - cx(d)) % W); });
}

Tensor stepped(const Tensor& start, const Expr& steps) {
  const Tensor cx = constant("cx", i32, {9}, to_right), cy = constant("cy", i32, {9}, down);
  const Expr H = start.extent(1), W = start.extent(2);
  const Axis k{"k", 9};
  const Tensor f = recur(
      "f", {steps + 1, 9, H, W}, Along{0}, Lag{1}, [&](Var, Var q, Var y, Var x) { return start(q, y, x); },
      [&](Prior before, Var t, Var q, Var y, Var x) {
        const Range later{Expr(1), steps + 1};
        const Tensor in = compute("in", {later, 9, H, W}, [&](Var s, Var d, Var r, Var c) {
          return before(s - 1, d, (r - cy(d)) % H, (c - cx(d)) % W);
        });
        const Tensor density = compute("density", {later, H, W}, [&](Var s, Var r, Var c) { return sum(in(s, k, r, c), k); });
        const Expr ratio = floor(in(t, 0, y, x) / max(density(t, y, x), 1.0f) * 8.0f);
        return in(t, q, y, x) + f32(cx(q)) * ratio - f32(cy(q)) * ratio;
      });
  return compute("last", {9, H, W}, [&](Var q, Var y, Var x) { return f(steps, q, y, x); });
}

const std::vector<std::array<std::int64_t, 2>> pictures{{1, 1}, {2, 3}, {3, 15}, {2, 16}, {4, 17}, {3, 33}, {2, 75}};

}  // namespace

TEST_CASE("few points: indices from a constant are numbers") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  for (const char* target : {"x86-64-v4", "x86-64-v3", "aarch64"}) {
    const Tensor f = input("f", f32, {9, H, W});
    const Scheduled s({f}, {streamed(f)}, {.parallel = false}, target);
    CHECK(s.has("in", "9 points along i0 unrolled: their indices are numbers"));
    const std::string kernel = kernel_of(s);
    CAPTURE(kernel);
    CHECK(kernel.find("index(cx[") == std::string::npos);
    for (const auto& [h, w] : pictures) s.same({{9, h, w}, {9, h, w}});
  }
}

TEST_CASE("few points: a loop that runs in parallel is not unrolled") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  const Tensor f = input("f", f32, {9, H, W});
  const Scheduled s({f}, {streamed(f)});
  CHECK(s.text().find("parallel") != std::string::npos);
  CHECK_FALSE(s.has("in", "unrolled"));
  for (const auto& [h, w] : pictures) s.same({{9, h, w}, {9, h, w}});
}

TEST_CASE("few points: they share what does not change along them, in a step of a recurrence") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  for (const char* target : {"x86-64-v4", "x86-64-v3"}) {
    const Tensor f = input("f", f32, {9, H, W});
    const Scheduled s({f}, {stepped(f, Expr(3))}, {}, target);
    CHECK(s.has("f", "9 points along i1 share what they compute"));
    CHECK(s.has("f", "a ring of 2 steps along i0"));
    CHECK(s.has("in", "9 points along i1 unrolled"));
    for (const auto& [h, w] : pictures) s.same({{9, h, w}, {9, h, w}});
  }
}

TEST_CASE("few points: cheap values are not shared") {
  lang::DefinitionScope scope;
  const Symbol W{"W", {.min = 1}};
  const Tensor x = input("x", f32, {W}), y = input("y", f32, {3, W});
  const Tensor z = compute("z", {3, W}, [&](Var c, Var i) { return y(c, i) * (x(i) + 1.0f); });
  const Scheduled s({x, y}, {z}, {.parallel = false});
  CHECK_FALSE(s.has("z", "share"));
}

TEST_CASE("few points: a recurrence whose steps are all read says that no ring is kept") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}}, T{"T", {.min = 1}};
  const Tensor x = input("x", f32, {T, N});
  const Tensor r = recur(
      "r", {T, N}, Along{0}, Lag{1}, [&](Var t, Var i) { return x(t, i); },
      [&](Prior before, Var t, Var i) { return before(t - 1, i) + x(t, i); });
  const Axis t{"t", T};
  const Tensor all = compute("all", {N}, [&](Var i) { return maximum(r(t, i) * r(T - 1 - t, i), t); });
  const Scheduled s({x}, {all}, {.parallel = false});
  CAPTURE(s.by.choices.text());
  CHECK(s.by.choices.text().find("not a ring of 2 steps along i0 (fold expects") != std::string::npos);
  s.same({{5, 9}, {9}});
}
