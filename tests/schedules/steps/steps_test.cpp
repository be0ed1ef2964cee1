// Stages in the steps of recurrences, by default: what is chosen for each, and the results beside the algorithm's; compiled
// code beside the interpreter.
#include "tests/schedules/by_default.h"
#include "tests/schedules/scheduled.h"

using namespace by_default_test;

namespace {

// A recurrent layer of several gates, which are a product in the step; its state stays small and whole.
Tensor gated(const Tensor& start, const Tensor& U, const Expr& steps) {
  const Type type = start.type();
  const Expr batch = start.extent(0), units = start.extent(1);
  const Axis k{"k", units};
  return recur(
      "h", {steps + 1, batch, units}, Along{0}, Lag{1}, [&](Var, Var n, Var j) { return start(n, j); },
      [&](Prior y, Var t, Var n, Var j) {
        const Tensor gates = compute("gates", {Range{Expr(1), steps + 1}, batch, U.extent(1), units},
                                     [&](Var s, Var m, Var g, Var o) { return sum(y(s - 1, m, k) * U(k, g, o), k); });
        return min(gates(t, n, 0, j), ir::cast(type, Expr(3))) + min(gates(t, n, 1, j), y(t - 1, n, j));
      });
}

// The best predecessor of each state, and its place: two values of a reduction in the step.
std::array<Tensor, 2> best_paths(const Tensor& start, const Tensor& move, const Expr& steps) {
  const Expr S = start.extent(0);
  const Axis k{"k", S};
  return recur(
      "paths", {steps, S}, Along{0}, Lag{1}, [&](Var, Var s) { return values(start(s), i16(0)); },
      [&](Prior y, Var t, Var s) {
        const auto best =
            compute("best", {Range{Expr(1), steps}, S}, [&](Var u, Var to) { return argmax(y[0](u - 1, k) + move(k, to), k); });
        return values(best[0](t, s), i16(best[1](t, s)));
      });
}

// Bodies that attract each other: a table of weights for every pair, then sums of them in two directions.
Tensor attracted(const Tensor& at, const Expr& steps) {
  const Type type = at.type();
  const Expr N = at.extent(1);
  const Range later{Expr(1), steps + 1};
  const Axis j{"j", N};
  return recur(
      "x", {steps + 1, 2, N}, Along{0}, Lag{1}, [&](Var, Var e, Var i) { return at(e, i); },
      [&](Prior y, Var t, Var e, Var i) {
        const Tensor weight = compute("weight", {later, N, N}, [&](Var s, Var b, Var o) {
          return select(y(s - 1, 0, o) > y(s - 1, 0, b), ir::cast(type, Expr(1)), ir::cast(type, Expr(0))) + y(s - 1, 1, b);
        });
        const Tensor pull = compute("pull", {later, 2, N}, [&](Var s, Var d, Var b) {
          return sum(weight(s, b, j) * (y(s - 1, d, j) - y(s - 1, d, b)), j);
        });
        return min(abs(pull(t, e, i)), y(t - 1, e, i));
      });
}

// A matrix times the vector of the step before: rows, each with terms of its own.
Tensor powers(const Tensor& A, const Tensor& start, const Expr& steps) {
  const Expr N = start.extent(0);
  const Axis k{"k", N};
  return recur(
      "v", {steps + 1, N}, Along{0}, Lag{1}, [&](Var, Var i) { return start(i); },
      [&](Prior v, Var t, Var i) {
        const Tensor Av =
            compute("Av", {Range{Expr(1), steps + 1}, N}, [&](Var s, Var r) { return sum(A(r, k) * v(s - 1, k), k); });
        return min(Av(t, i), v(t - 1, i) + 1);
      });
}

// Columns one after the other, each less its shares of those before it.
Tensor columns(const Tensor& A, bool divided) {
  const Type type = A.type();
  const Expr M = A.extent(0), N = A.extent(1);
  return recur(
      "Q", {M, N}, Along{1}, Lag{0}, [&](Var, Var) { return ir::cast(type, Expr(0)); },
      [&](Prior q, Var i, Var j) {
        const Tensor rest = compute("rest", {M, N}, [&](Var r, Var s) {
          const Axis k{"k", s};
          return sum(-q(r, k) * A(k, s), k).from(A(r, s));
        });
        const Axis m{"m", M};
        const Tensor most = compute("most", {N}, [&](Var s) { return maximum(rest(m, s), m); });
        const Expr value = min(abs(rest(i, j)), min(abs(most(j)), ir::cast(type, Expr(2))));
        return divided ? value / (ir::cast(type, Expr(1)) + A(i, j)) / sqrt(A(i, 0) + ir::cast(type, Expr(1))) + value : value;
      });
}

// Rows, of which each element takes all of its row before it: terms between bounds that the step gives.
Tensor remembered(const Tensor& A, bool backwards) {
  const Expr M = A.extent(0), N = A.extent(1);
  const Along along = backwards ? Along{1}.backwards() : Along{1};
  return recur(
      "y", {M, N}, along, Lag{0}, [&](Var, Var) { return ir::cast(A.type(), Expr(0)); },
      [&](Prior y, Var r, Var t) {
        const Axis k = backwards ? Axis("k", t + 1, N) : Axis("k", t);
        return min(sum(y(r, k) * A(t, k), k), ir::cast(A.type(), Expr(3))) + A(r, t);
      });
}

schedules::DefaultOptions in_order() {
  schedules::DefaultOptions o;
  o.regroup = false;
  return o;
}

}  // namespace

TEST_CASE("steps by default: products are summed in tiles of their own, as wide as leaves the fewest lanes empty") {
  lang::DefinitionScope scope;
  const Symbol T{"T", {.min = 1}}, B{"B", {.min = 1}}, H{"H", {.min = 1}};
  const auto layer = [&](Type type, const Extent& units) {
    const Tensor start = input("start", type, {B, units}), U = input("U", type, {units, 2, units});
    const Tensor h = gated(start, U, T);
    return Scheduled({start, U}, {compute("last", {T, B, units}, [&](Var t, Var n, Var j) { return h(t + 1, n, j); })});
  };
  const Scheduled number = layer(f32, 72), few = layer(f64, 19), any = layer(f32, H);
  CHECK(number.has("gates", "tiles of their own"));
  CHECK(number.has("gates", "sums of a tile of 80, 16 in a vector"));
  CHECK(number.has("h", "vectors of 16 along i2"));
  CHECK(few.has("gates", "sums of a tile of 24, 8 in a vector"));
  CHECK(any.has("gates", "sums of a tile of 64, 16 in a vector"));
}

TEST_CASE("steps by default: several values of a reduction are computed a tile of the step at a time") {
  lang::DefinitionScope scope;
  const Symbol S{"S", {.min = 1}};
  for (const Type type : {i32, f32}) {
    const Tensor start = input("start", type, {S}), move = input("move", type, {S, S});
    const auto paths = best_paths(start, move, Expr(4));
    const Scheduled s({start, move}, {paths[0], paths[1]});
    CHECK(s.has("paths", "tiles of 64 along i1"));
    CHECK(s.has("best", "sums of a tile of 64, 16 in a vector"));
    s.same({{47}, {47, 47}, {4, 47}, {4, 47}});
    s.same({{130}, {130, 130}, {4, 130}, {4, 130}});
    s.same({{1}, {1, 1}, {4, 1}, {4, 1}});
  }
}

TEST_CASE("steps by default: what sums in lanes read lies beside each other, rows share it") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  for (const Type type : {f64, i32}) {
    const Tensor at = input("at", type, {2, N});
    const Scheduled s({at}, {attracted(at, Expr(3))});
    const std::string lanes = type == f64 ? "8" : "16";
    CHECK(s.has("weight", "neighbors along i1"));
    CHECK(s.has("weight", "vectors of " + lanes + " along i1"));
    CHECK(s.has("pull", "sums of a tile of 2 x " + std::string(type == f64 ? "32, " : "64, ") + lanes + " in a vector"));
    s.same({{2, 21}, {4, 2, 21}});
    s.same({{2, 70}, {4, 2, 70}});
    s.same({{2, 1}, {4, 2, 1}});
  }
}

TEST_CASE("steps by default: of a sum over a window that a step computes one of, the terms are in lanes") {
  lang::DefinitionScope scope;
  const Symbol C{"C", {.min = 1}}, T{"T", {.min = 1}};
  const Tensor far = input("far", i32, {C, T + 31}), mic = input("mic", i32, {C, T});
  const Axis k{"k", 32};
  const Tensor w = recur(
      "w", {C, T + 1, 32}, Along{1}, Lag{1}, [&](Var, Var, Var) { return i32(0); },
      [&](Prior before, Var c, Var t, Var j) {
        const Expr error = mic(c, t - 1) - sum(before(c, t - 1, k) * far(c, t - 1 + k), k);
        return (before(c, t - 1, j) + error * far(c, t - 1 + j)) & 15;
      });
  const Scheduled s({far, mic}, {w});
  CHECK(s.has("w_sum", "of 16"));
  CHECK(!s.has("w_sum", "tile"));
  for (const std::int64_t t : {1, 2, 9}) s.same({{3, t + 31}, {3, t}, {3, t + 1, 32}});
}

TEST_CASE("steps by default: rows are side by side, their terms in order or in lanes") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  const auto of = [&](Type type, const schedules::DefaultOptions& o) {
    const Tensor A = input("A", type, {N, N}), start = input("start", type, {N});
    return Scheduled({A, start}, {powers(A, start, Expr(2))}, o);
  };
  const std::string together = "8 results side by side along i1";
  for (const Scheduled& s : {of(f32, in_order()), of(f64, in_order())}) {
    CHECK(s.has("Av", together));
    for (const std::int64_t n : {1, 7, 8, 21}) s.same({{n, n}, {n}, {3, n}});
  }
  for (const Type type : {f32, f64}) {
    const Scheduled s = of(type, {});
    CHECK(s.has("Av", "4 results at once, each in a vector of " + std::string(type == f64 ? "8" : "16")));
    for (const std::int64_t n : {1, 3, 4, 21, 40}) s.same({{n, n}, {n}, {3, n}});
  }
}

TEST_CASE("steps by default: sums that begin with elements are side by side, and costly results are computed in lanes") {
  lang::DefinitionScope scope;
  const Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}};
  for (const bool divided : {true, false}) {
    const Tensor A = input("A", f32, {M, M});
    const Scheduled s({A}, {columns(A, divided)});
    CHECK(s.has("rest", "8 results side by side along i0"));
    const Choice* done = s.by.choices.find("Q");
    CHECK((done && !done->done.empty() && done->done.front() == "vectors of 16 along i0") == divided);
    for (const std::int64_t n : {1, 4, 20}) s.same({{n, n}, {n, n}});
  }
}

TEST_CASE("steps by default: rows that take all of their elements before") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  for (const Type type : {f32, f64, i32})
    for (const bool backwards : {false, true}) {
      const Tensor A = input("A", type, {N, N});
      const Scheduled s({A}, {remembered(A, backwards)});
      CAPTURE(s.by.choices.text());
      CHECK(s.has("y_sum", "sums in 4 vectors of"));
      for (const std::int64_t n : {1, 5, 37}) s.same({{n, n}, {n, n}});
      Scheduled lowered({A}, {remembered(A, backwards)});
      const Target& target = lowered.by.schedule.target();
      schedule::finish(lowered.by.schedule.scheduled(), target);
      (void)lower(lowered.by.schedule.scheduled().program, options_for(target));
    }
}

TEST_CASE("steps by default: compiled code has the interpreter's bits") {
  using namespace schedules_test;
  const auto by_default = [](Schedule& s) { schedule_by_default(s, {.regroup = false}); };
  check_scheduled("bodies",
                  [&](Maker& m) {
                    const Symbol N{"N", {.min = 1}};
                    m.out(attracted(m.in("at", f64, {2, N}), Expr(2)));
                    return by_default;
                  },
                  {{{2, 13}}, {{2, 40}}},
                  {.results = [](const std::vector<Dims>& in) { return std::vector<Dims>{{3, 2, in[0][1]}}; }});
  check_scheduled("powers",
                  [&](Maker& m) {
                    const Symbol N{"N", {.min = 1}};
                    const Tensor A = m.in("A", f64, {N, N}), start = m.in("start", f64, {N});
                    m.out(powers(A, start, Expr(2)));
                    return by_default;
                  },
                  {{{19, 19}, {19}}, {{5, 5}, {5}}},
                  {.results = [](const std::vector<Dims>& in) { return std::vector<Dims>{{3, in[1][0]}}; }});
  check_scheduled("columns",
                  [&](Maker& m) {
                    const Symbol N{"N", {.min = 1}};
                    m.out(columns(m.in("A", f32, {N, N}), false));
                    return by_default;
                  },
                  {{{19, 19}}, {{3, 3}}});
  check_scheduled("gates",
                  [&](Maker& m) {
                    const Symbol B{"B", {.min = 1}};
                    const Tensor start = m.in("start", f32, {B, 21}), U = m.in("U", f32, {21, 2, 21});
                    m.out(gated(start, U, Expr(2)));
                    return by_default;
                  },
                  {{{3, 21}, {21, 2, 21}}},
                  {.results = [](const std::vector<Dims>& in) { return std::vector<Dims>{{3, in[0][0], 21}}; }});
}
