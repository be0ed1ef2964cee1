// Steps that reduce over all steps before them, by default; and what else a step reads: rows of a table, points of its own.
#include "tests/schedules/by_default.h"
#include "tests/schedules/scheduled.h"

using namespace by_default_test;

namespace {

// The least cost of joining i .. j, split anywhere: a table that is filled from the last row up, each row to the right.
Tensor intervals(const Tensor& c) {
  const Expr N = c.extent(0);
  return recur(
      "cost", {N, N}, Along{0, 1}.backwards(0), Lag{0}, [&](Var, Var) { return ir::cast(c.type(), Expr(0)); },
      [&](Prior m, Var i, Var j) {
        const Axis k{"k", i, j};
        return select(i < j, min(minimum(m(i, k) + m(k + 1, j), k), ir::cast(c.type(), Expr(100))) + c(i, j), c(i, i));
      });
}

// A factorization by rows without its divisions, which small whole numbers keep exact.
Tensor factors(const Tensor& A) {
  const Expr N = A.extent(0);
  return recur(
      "lu", {N, N}, Along{0, 1}, Lag{0}, [&](Var, Var) { return ir::cast(A.type(), Expr(0)); },
      [&](Prior f, Var i, Var j) {
        const Axis k{"k", min(i, j)};
        return max(min(A(i, j) - sum(f(i, k) * f(k, j), k), ir::cast(A.type(), Expr(2))), ir::cast(A.type(), Expr(-2)));
      });
}

// Shares that flow along the edges of a graph, a step after the other.
Tensor flowing(const Tensor& first, const Tensor& from, const Tensor& start, const Expr& steps) {
  const Expr N = start.extent(0), Z = from.extent(0);
  return recur(
      "r", {steps + 1, N}, Along{0}, Lag{1}, [&](Var, Var i) { return start(i); },
      [&](Prior r, Var t, Var i) {
        const Tensor carried = compute("carried", {Range{Expr(1), steps + 1}, N}, [&](Var s, Var n) {
          const Axis e{"e", in_range(first(n), 0, Z + 1), in_range(first(n + 1), 0, Z + 1)};
          return sum(r(s - 1, in_range(from(e), 0, N)), e);
        });
        return min(carried(t, i), 9.0f) + start(i);
      });
}

}  // namespace

TEST_CASE("steps by default: what stands before a block of steps is summed for all of its points") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  for (const char* target : {"x86-64-v4", "x86-64-v3", "x86-64-v2"})
    for (const Type type : {f64, i32}) {
      const Tensor A = input("A", type, {N, N});
      for (const bool table : {true, false}) {
        const Scheduled s({A}, {table ? intervals(A) : factors(A)}, {.regroup = false}, target);
        CAPTURE(s.by.choices.text());
        CHECK(s.has(table ? "cost_minimum" : "lu_sum", "the terms before a block of"));
        for (const std::int64_t n : {1, 2, 7, 31, 32, 33, 70}) s.same({{n, n}, {n, n}});
      }
    }
  const Tensor A = input("A", f32, {N, N});
  const Scheduled s({A}, {factors(A)});
  CHECK(s.has("lu_sum", "the terms before a block of 32 steps apart"));
  CHECK(s.has("lu_sum", "in it those before 8"));
}

TEST_CASE("steps by default: rows of a table are summed where they are stored") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}}, Z{"Z"};
  const Tensor first = input("first", i32, {N + 1}), from = input("from", i32, {Z}), start = input("start", f32, {N});
  const Scheduled s({first, from, start}, {flowing(first, from, start, Expr(3))});
  CAPTURE(s.text());
  CHECK(s.text().find("carried_cache") == std::string::npos);
}

TEST_CASE("steps by default: what the first steps and the others read at their own point is computed in the step") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  const Tensor x = input("x", i32, {H, W});
  const auto seams = [&](const Along& along, bool down) {
    const Tensor energy = compute("energy", {H, W}, [&](Var y, Var i) {
      const auto apart = [&](int by) { return abs(x(y, min(i + by, W - 1)) - x(y, i)); };
      return apart(1) + apart(2) * 3 + apart(3) * 5;
    });
    return recur(
        "cost", {H, W}, along, Lag{1}, [&](Var y, Var i) { return energy(y, i); },
        [&](Prior c, Var y, Var i) { return energy(y, i) + (down ? c(y - 1, i) : c(y, i - 1)); });
  };
  const Scheduled rows({x}, {seams(Along{0}, true)}), columns({x}, {seams(Along{1}, false)});
  CHECK(rows.has("energy", "inlined"));
  CHECK(!columns.has("energy", "inlined"));  // steps that wait for one another do no more than they have to
  for (const Scheduled* s : {&rows, &columns})
    for (const std::int64_t w : {1, 16, 37}) s->same({{5, w}, {5, w}});
}

TEST_CASE("by default: what only later steps read is not stored") {
  lang::DefinitionScope scope;
  const Symbol R{"R", {.min = 1}}, T{"T", {.min = 1}};
  const Tensor x = input("x", i32, {R, T});
  const auto state = recur(
      "state", {R, T}, Along{1}, Lag{1}, [&](Var r, Var t) { return values(x(r, t), u8(0)); },
      [&](Prior y, Var r, Var t) {
        const Expr now = max(y[0](r, t - 1) - 3, x(r, t));
        return values(now, u8(now > x(r, t)));
      });
  const Scheduled s({x}, {compute("waits", {R, T}, [&](Var r, Var t) { return state[1](r, t); })});
  const std::string text = kernel_of(s);
  CAPTURE(text);
  CHECK(text.find("state0_carried") != std::string::npos);
  CHECK(text.find("\n      state0[") == std::string::npos);
  CHECK(text.find("\n    state0[") == std::string::npos);
  for (const std::int64_t t : {1, 2, 9}) s.same({{5, t}, {5, t}});
}
