// Recurrences that their readers follow, by default: one pass over the steps, no step stored for long.
#include "tests/schedules/by_default.h"
#include "tests/schedules/scheduled.h"

using namespace by_default_test;

namespace {

Tensor largest(const Tensor& x, const char* name = "largest") {
  return scan(name, {x.extent(0), x.extent(1)}, Along{0}, Combine::max, [&](Var t, Var s) { return x(t, s); });
}
Tensor faded(const Tensor& x, const char* name, int keep) {
  return recur(
      name, {x.extent(0), x.extent(1)}, Along{0}, Lag{1}, [&](Var t, Var s) { return x(t, s); },
      [&](Prior y, Var t, Var s) { return min(y(t - 1, s), ir::cast(x.type(), Expr(keep))) + x(t, s); });
}
Tensor halfway(const Tensor& a, const Tensor& b) {
  return compute("fit", {a.extent(0), a.extent(1)}, [&](Var t, Var s) { return a(t, s) + b(t, s) * 2; });
}
Tensor farthest(const Tensor& x, const Tensor& fit) {
  const Axis t{"t", x.extent(0)};
  return compute("farthest", {x.extent(1)}, [&](Var s) { return maximum(abs(x(t, s) - fit(t, s)), t).from(0); });
}

bool one_pass(const Scheduled& s, const char* recurrence, const char* reader) {
  return s.has(recurrence, std::string("computed at a step of ") + reader);
}

}  // namespace

TEST_CASE("by default: a recurrence, a result of its steps and a reduction over them are one pass") {
  lang::DefinitionScope scope;
  const Symbol T{"T", {.min = 1}}, S{"S"};
  for (const bool regroup : {true, false})
    for (const Type type : {f32, i32, i16}) {
      const Tensor x = input("x", type, {T, S});
      const Tensor before = largest(x);
      const Tensor after = scan("after", {T, S}, Along{0}.backwards(), Combine::min, [&](Var t, Var s) { return x(t, s); });
      const Tensor fit = halfway(before, after);
      const Scheduled s({x}, {fit, farthest(x, fit)}, {.regroup = regroup});
      CAPTURE(s.by.choices.text());
      CHECK(one_pass(s, "largest", "farthest"));
      CHECK(s.has("largest", "a ring of 2 steps"));
      CHECK(one_pass(s, "fit", "farthest"));
      CHECK(s.has("farthest", type == i16 ? "one pass with largest, pieces of 1024" : "one pass with largest, pieces of 512"));
      CHECK(s.has("farthest", "i0o in parallel"));
      CHECK(s.has("after", "pieces of i1"));  // its steps come in the other order
      for (const auto& [t, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 37}, {3, 1030}, {4, 0}})
        s.same({{t, n}, {t, n}, {n}});
    }
}

TEST_CASE("by default: readers that look a few steps back, and recurrences that read each other") {
  lang::DefinitionScope scope;
  const Symbol T{"T", {.min = 1}}, S{"S"};
  const Tensor x = input("x", i32, {T, S});
  const Tensor before = largest(x);
  const Scheduled gap(
      {x}, {compute("gap", {T, S}, [&](Var t, Var s) { return before(t, s) - select(t > 2, before(t - 3, s), 0) + x(t, s); })});
  CHECK(one_pass(gap, "largest", "gap"));
  CHECK(gap.has("largest", "a ring of 4 steps"));

  const Tensor fast = faded(x, "fast", 3), slow = faded(x, "slow", 9), slower = faded(slow, "slower", 5);
  const Scheduled apart({x}, {compute("apart", {T, S}, [&](Var t, Var s) { return fast(t, s) - slower(t, s); })});
  CAPTURE(apart.by.choices.text());
  for (const char* each : {"fast", "slow", "slower"}) CHECK(one_pass(apart, each, "apart"));

  const Scheduled chain({x}, {faded(faded(x, "first", 4), "second", 6)});
  CHECK(one_pass(chain, "first", "second"));

  for (const Scheduled* s : {&gap, &apart, &chain})
    for (const auto& [t, n] : {std::pair<std::int64_t, std::int64_t>{1, 3}, {2, 40}, {9, 530}}) s->same({{t, n}, {t, n}});
}

TEST_CASE("by default: steps inside of other dimensions, and a recurrence that is a result") {
  lang::DefinitionScope scope;
  const Symbol B{"B"}, T{"T", {.min = 1}}, S{"S"};
  const Tensor x = input("x", f32, {B, T, S}), flat = input("flat", f32, {T, S});
  const Tensor before = scan("largest", {B, T, S}, Along{1}, Combine::max, [&](Var b, Var t, Var s) { return x(b, t, s); });
  const Axis t{"t", T};
  const Scheduled deep({x}, {compute("total", {B, S}, [&](Var b, Var s) { return sum(before(b, t, s), t); })},
                       {.regroup = false});
  CAPTURE(deep.by.choices.text());
  CHECK(one_pass(deep, "largest", "total"));
  CHECK(deep.has("total", "i0 in parallel"));
  for (const std::int64_t b : {0, 1, 3}) deep.same({{b, 4, 70}, {b, 70}});

  const Tensor kept = largest(flat);
  const Scheduled result({flat}, {kept, farthest(flat, kept)});
  CHECK(one_pass(result, "largest", "farthest"));
  for (const std::int64_t u : {1, 7}) result.same({{u, 530}, {u, 530}, {530}});
}

TEST_CASE("by default: recurrences that stay by themselves") {
  lang::DefinitionScope scope;
  const Symbol T{"T", {.min = 1}}, S{"S", {.min = 1}};
  const Tensor x = input("x", i32, {T, S}), small = input("small", i32, {64, 96});
  const auto alone = [](const Scheduled& s) {
    CAPTURE(s.by.choices.text());
    CHECK(s.text().find("largest") != std::string::npos);
    for (const std::string& text : s.of("largest").done) CHECK(text.find("computed at a step of") == std::string::npos);
  };
  const auto by = [&](const Tensor& of, const char* name, const std::function<Expr(const Tensor&, Var, Var)>& formula) {
    const Tensor before = largest(of);
    return compute(name, {of.extent(0), of.extent(1)}, [&](Var t, Var s) { return formula(before, t, s); });
  };
  // all of it fits the cache
  const Scheduled fits({small}, {by(small, "y", [&](const Tensor& m, Var t, Var s) { return m(t, s) + small(t, s); })});
  alone(fits);
  fits.same({{64, 96}, {64, 96}});
  // neighbors, of which the next piece has one
  const Scheduled stencil({x}, {by(x, "y", [&](const Tensor& m, Var t, Var s) { return m(t, max(s - 1, 0)) + m(t, s); })});
  alone(stencil);
  stencil.same({{3, 40}, {3, 40}});
  // steps that are still to come
  const Scheduled mirrored({x}, {by(x, "y", [&](const Tensor& m, Var t, Var s) { return m(T - 1 - t, s); })});
  alone(mirrored);
  mirrored.same({{3, 40}, {3, 40}});
  // the other order
  const Tensor down = scan("largest", {T, S}, Along{0}.backwards(), Combine::max, [&](Var t, Var s) { return x(t, s); });
  const Scheduled backwards({x}, {halfway(down, x)});
  alone(backwards);
  backwards.same({{3, 40}, {3, 40}});
  // what the reader would store in its place
  const Tensor between = halfway(largest(x), x);
  const Scheduled temporary({x}, {compute("z", {T, S}, [&](Var t, Var s) { return between(T - 1 - t, s) + between(t, s); })});
  alone(temporary);
  temporary.same({{3, 40}, {3, 40}});
  // less than a vector of columns
  const Tensor narrow = input("narrow", i32, {T, 3});
  const Scheduled few({narrow}, {halfway(largest(narrow), narrow)});
  alone(few);
  few.same({{5, 3}, {5, 3}});
  // two readers
  const Tensor before = largest(x);
  const auto plus = [&](int n) { return compute("y", {T, S}, [&](Var t, Var s) { return before(t, s) + n; }); };
  const Scheduled two({x}, {plus(1), plus(2)});
  alone(two);
  two.same({{3, 40}, {3, 40}, {3, 40}});
}

TEST_CASE("by default: what follows a recurrence, compiled, has the interpreter's bits") {
  using namespace schedules_test;
  check_scheduled("one pass",
                  [&](Maker& m) {
                    const Symbol T{"T", {.min = 1}}, S{"S"};
                    const Tensor x = m.in("x", f32, {T, S});
                    const Tensor fit = halfway(largest(x), faded(x, "faded", 3));
                    m.out(fit), m.out(farthest(x, fit));
                    return [](Schedule& s) { schedule_by_default(s); };
                  },
                  {{{9, 530}}, {{1, 3}}, {{4, 16}}}, {.emulated = true, .results = [](const std::vector<Dims>& in) {
                                                        return std::vector<Dims>{in[0], {in[0][1]}};
                                                      }});
}

TEST_CASE("by default: the ring of a recurrence that a reduction looks back in") {
  lang::DefinitionScope scope;
  const Symbol T{"T", {.min = 1}}, S{"S"};
  const Tensor x = input("x", i32, {T, S});
  const Tensor before = largest(x);
  const Axis t{"t", T};
  const Tensor total = compute("total", {S}, [&](Var s) { return sum(before(t, s) - select(t > 2, before(t - 3, s), 0), t); });
  const Scheduled s({x}, {total});
  CAPTURE(s.by.choices.text());
  CHECK(one_pass(s, "largest", "total"));
  CHECK(s.has("largest", "a ring of 4 steps"));
  CHECK(s.text().find("% 4") != std::string::npos);
  for (const std::int64_t steps : {1, 3, 4, 9}) s.same({{steps, 37}, {37}});
}

TEST_CASE("by default: of few columns a costly reader keeps its threads, and the choice says so") {
  lang::DefinitionScope scope;
  const Symbol T{"T", {.min = 1}};
  const Tensor x = input("x", f32, {T, 64}), y = input("y", f32, {T, 64});
  const Tensor before = largest(x);
  const Tensor gap = compute("gap", {T, 64}, [&](Var t, Var s) { return exp(before(t, s)) * tanh(y(t, s)); });
  const auto scheduled = [&](bool parallel) { return Scheduled({x, y}, {gap}, {.parallel = parallel, .extent = 100000}); };
  const Scheduled threads = scheduled(true), one = scheduled(false);
  CAPTURE(threads.by.choices.text());
  CHECK(one_pass(one, "largest", "gap"));
  CHECK(threads.has("gap", "i0 in parallel"));
  CHECK(threads.by.choices.text().find("not one pass with largest, which a thread would have for itself") != std::string::npos);
}
