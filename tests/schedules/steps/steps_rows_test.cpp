// Short steps that wait for sums in the one before, by default: rows side by side.
#include "tests/schedules/by_default.h"
#include "tests/schedules/scheduled.h"

using namespace by_default_test;

namespace {

// A filter for each row, whose `taps` weights learn from what they missed; of whole numbers that stay small.
Tensor learning(const Tensor& x, const Extent& rows, const Expr& steps, const Expr& taps, bool backwards = false) {
  const Type type = x.type();
  const auto number = [&](int n) { return ir::cast(type, Expr(n)); };
  const Axis k{"k", taps};
  return recur(
      "w", {rows, steps + 1, taps}, backwards ? Along{1}.backwards() : Along{1}, Lag{1},
      [&](Var, Var, Var) { return number(1); },
      [&](Prior w, Var r, Var t, Var j) {
        const Expr by = backwards ? t + 1 : t - 1, at = backwards ? t : t - 1;
        const Expr missed = min(sum(w(r, by, k) * x(r, at + k), k), number(3));
        return min(w(r, by, j) + missed * x(r, at + j), number(5)) - number(2);
      });
}

bool beside(const Scheduled& s, const char* many = "4") {
  return s.has("w", std::string(many) + " rows side by side along i0");
}

}  // namespace

TEST_CASE("steps by default: short steps of several rows go on side by side") {
  lang::DefinitionScope scope;
  const Symbol R{"R"}, T{"T", {.min = 1}};
  for (const bool regroup : {true, false})
    for (const bool backwards : {false, true})
      for (const Type type : {f32, i32}) {
        const Tensor x = input("x", type, {R, T + 11});
        const Scheduled s({x}, {learning(x, R, T, Expr(12), backwards)}, {.regroup = regroup});
        CHECK(beside(s));
        CHECK(s.has("w", "groups of them in parallel"));
        for (const std::int64_t r : {0, 1, 3, 4, 9})
          for (const std::int64_t t : {1, 2, 6}) s.same({{r, t + 11}, {r, t + 1, 12}});
      }
  const Tensor x = input("x", f32, {R, T + 11}), two = input("two", f32, {2, T + 11});
  CHECK(!Scheduled({x}, {learning(x, R, T, Expr(12))}, {.parallel = false}).has("w", "groups of them in parallel"));
  const Scheduled few({two}, {learning(two, 2, T, Expr(12))});
  CHECK(beside(few, "2"));
  for (const std::int64_t t : {1, 5}) few.same({{2, t + 11}, {2, t + 1, 12}});
}

TEST_CASE("steps by default: one row, long steps and steps of unknown length stay by themselves") {
  lang::DefinitionScope scope;
  const Symbol R{"R"}, T{"T", {.min = 1}}, K{"K", {.min = 1}};
  const Tensor one = input("one", f32, {1, T + 11}), far = input("far", f32, {R, T + 2047}),
               any = input("any", f32, {R, T + K - 1});
  const Scheduled alone({one}, {learning(one, 1, T, Expr(12))}), lengthy({far}, {learning(far, R, T, Expr(2048))}),
      unknown({any}, {learning(any, R, T, K)});
  for (const Scheduled* s : {&alone, &lengthy, &unknown})
    for (const char* many : {"1", "2", "4"}) CHECK(!beside(*s, many));
  alone.same({{1, 16}, {1, 6, 12}});
  unknown.same({{3, 9}, {3, 6, 5}});
}

TEST_CASE("steps by default: rows side by side share a table") {
  lang::DefinitionScope scope;
  const Symbol R{"R"}, T{"T", {.min = 1}};
  const Tensor x = input("x", i32, {R, T}), U = input("U", i32, {8, 8});
  const Axis k{"k", 8};
  const Tensor y = recur(
      "w", {R, T, 8}, Along{1}, Lag{1}, [&](Var r, Var t, Var) { return x(r, t); },
      [&](Prior w, Var r, Var t, Var j) { return min(sum(w(r, t - 1, k) * U(j, k), k), 3) + x(r, t); });
  const Scheduled s({x, U}, {y});
  CHECK(beside(s));
  for (const std::int64_t r : {1, 5})
    for (const std::int64_t t : {1, 7}) s.same({{r, t}, {8, 8}, {r, t, 8}});
}

TEST_CASE("steps by default: rows side by side, compiled, have the interpreter's bits") {
  using namespace schedules_test;
  for (const bool regroup : {true, false})
    check_scheduled("rows of steps",
                    [&](Maker& m) {
                      const Symbol R{"R"}, T{"T", {.min = 1}};
                      m.out(learning(m.in("x", f32, {R, T + 11}), R, T, Expr(12)));
                      return [=](Schedule& s) { schedule_by_default(s, {.regroup = regroup}); };
                    },
                    {{{6, 16}}, {{1, 12}}, {{4, 21}}},
                    {.relative = regroup ? 1e-4 : 0,
                     .absolute = regroup ? 1e-4 : 0,
                     .emulated = true,
                     .results = [](const std::vector<Dims>& in) { return std::vector<Dims>{{in[0][0], in[0][1] - 10, 12}}; }});
}
