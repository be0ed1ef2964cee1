// What recurrences get by default: pieces of columns, rows side by side, wavefronts, and steps of several in one pass.
#include "by_default.h"

#include <ashlar/ir/print.h>

#include "tests/support/text_parts.h"

using namespace ashlar;
using namespace by_default_test;

namespace {

using text_parts::count;

Tensor average(const char* name, const Tensor& x, int by, bool backwards = false) {
  const Expr n = x.extent(0);
  return recur(
      name, {n}, backwards ? Along{0}.backwards() : Along{0}, Lag{1}, [&](Var t) { return x(t); },
      [&](Prior y, Var t) { return y(backwards ? t + 1 : t - 1) * by - x(t); });
}

}  // namespace

TEST_CASE("by default: the steps of columns choose and mask nothing, but for the first one and the last columns") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, M{"M"};
  const Tensor x = lang::make_input("x", f32, {N, M});
  const Scheduled s({x}, {recur(
                             "y", {N, M}, Along{0}, Lag{2}, [&](Var t, Var i) { return x(t, i); },
                             [&](Prior y, Var t, Var i) { return x(t, i) + 2.0f * y(t - 1, i) - y(t - 2, i); })});
  CHECK(s.has("y", "pieces of i1 in parallel"));
  const std::string text = kernel_of(s);
  CAPTURE(text);
  const std::string rest = "for i0 in [min(N, 2), +-min(2 - N, 0))";
  CHECK(count(text, rest) == 1);
  CHECK(count(text, "select(") == 0);
  const std::size_t steps = text.find(rest), loop = text.find("for i1ioo in", steps), line = text.find('\n', loop) + 1;
  const std::string inner = text.substr(line, text.find('\n', line) - line);
  CHECK(count(inner, " < ") == 0);
  CHECK(count(inner, "[ramp16(") == 4);  // the store, and a vector of each step that is read
  s.same({{9, 33}, {9, 33}});
  s.same({{1, 600}, {1, 600}});
  s.same({{3, 1100}, {3, 1100}});
}

TEST_CASE("by default: a table is computed in wavefronts, four rows at once") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor a = lang::make_input("a", i32, {M}), b = lang::make_input("b", i32, {N});
  const auto table = [&](bool cross) {
    return recur(
        "d", {M + 1, N + 1}, Along{0, 1}, Lag{1}, [&](Var i, Var j) { return i32(i + j); },
        [&](Prior p, Var i, Var j) {
          const Expr up = cross ? p(i - 1, min(j + 1, N)) : p(i - 1, j);
          return min(min(up, p(i, j - 1)) + 1, p(i - 1, j - 1) + select(a(i - 1) == b(j - 1), 0, 1));
        });
  };
  const Scheduled s({a, b}, {table(false)});
  CHECK(s.has("d", "4 rows side by side, each a column behind the one above, tiles of a diagonal in parallel"));
  const std::string text = kernel_of(s);
  CAPTURE(text);
  CHECK(count(text, "  registers ") >= 4);  // one or more for each of the rows
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 9}, {70, 3}, {3, 600}, {41, 530}})
    s.same({{m}, {n}, {m + 1, n + 1}});
  const Scheduled alone({a, b}, {table(false)}, {.parallel = false});
  CHECK(alone.text().find("parallel") == std::string::npos);
  CHECK(alone.has("d", "4 rows side by side, each a column behind the one above"));
  alone.same({{41}, {530}, {42, 531}});
  CHECK(!Scheduled({a, b}, {table(true)}).has("d", "side by side"));  // what it reads to the right is in the next tile
}

TEST_CASE("by default: rows that wait for the element above and to the right are two columns behind each other") {
  for (const bool backwards : {false, true}) {
    CAPTURE(backwards);
    lang::DefinitionScope scope;
    const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
    const Tensor seed = lang::make_input("seed", i32, {H, W});
    const int s = backwards ? 1 : -1;
    const auto inside = [&](const Expr& e, const Symbol& n, int step) { return step < 0 ? e > 0 : e < n - 1; };
    const Tensor far = recur(
        "far", {H, W}, backwards ? Along{0, 1}.backwards() : Along{0, 1}, Lag{0}, [&](Var, Var) { return i32(0); },
        [&](Prior d, Var y, Var x) {
          const Expr rows = inside(y, H, s);
          const Expr before = select(inside(x, W, s), d(y, x + s), 90), above = select(rows, d(y + s, x), 90),
                     beside = select(rows && inside(x, W, -s), d(y + s, x - s), 90);
          return select(seed(y, x) == 3, 0, min(min(before + 3, above + 3), beside + 4));
        });
    const Scheduled by({seed}, {far});
    CHECK(by.has("far", "4 rows side by side, each 2 columns behind the one above"));
    for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 1}, {4, 9}, {9, 40}, {33, 7}})
      by.same({{h, w}, {h, w}});
  }
}

TEST_CASE("by default: a vector of a step holds a register of the widest that is computed, where rows have borders") {
  lang::DefinitionScope scope;
  const Symbol T{"T"}, W{"W", {.min = 1}};
  const Tensor start = lang::make_input("start", i8, {W});
  const Scheduled s({start}, {recur(
                                 "cells", {T, W}, Along{0}, Lag{1}, [&](Var, Var x) { return start(x); },
                                 [&](Prior c, Var t, Var x) {
                                   const Expr h = (u32(t) * 7u + u32(x)) * 2654435761u;
                                   return select((x + t) % 2 == 0 && (h >> 30) == 0u, -c(t - 1, x),
                                                 c(t - 1, (x - 1) % W) + c(t - 1, (x + 1) % W));
                                 })});
  CHECK(s.has("cells", "vectors of 16 along"));
  const std::string text = kernel_of(s);
  CAPTURE(text);
  CHECK(count(text, "% x16(W)") == 0);  // at the borders points one after the other, and between them no remainder
  for (const std::int64_t w : {1, 2, 3, 16, 40, 114}) s.same({{w}, {5, w}});
}

TEST_CASE("by default: two rows side by side, however many arrays a step reads") {
  lang::DefinitionScope scope;
  const Symbol R{"R"}, T{"T"};
  std::vector<Tensor> in;
  for (const char* name : {"a", "b", "c", "d", "e"}) in.push_back(lang::make_input(name, i32, {R, T}));
  const Scheduled s(in, {recur(
                            "y", {R, T}, Along{1}, Lag{1}, [&](Var r, Var t) { return in[0](r, t); },
                            [&](Prior y, Var r, Var t) {
                              return (y(r, t - 1) * in[1](r, t) + in[2](r, t)) * in[3](r, t) - in[4](r, t) * in[0](r, t);
                            })});
  CHECK(s.has("y", "2 rows side by side"));
  const std::vector<std::int64_t> shape{5, 7};
  s.same({shape, shape, shape, shape, shape, shape});
}

TEST_CASE("by default: rows side by side are counted of arrays that have rows and are stored") {
  lang::DefinitionScope scope;
  const Symbol R{"R"}, T{"T", {.min = 1}};
  const Tensor x = lang::make_input("x", i32, {R, T}), start = lang::make_input("start", i32, {R}),
               c = lang::make_input("c", i32, {3}), table = lang::make_input("table", i32, {8});
  const auto state = recur(
      "y", {R, T}, Along{1}, Lag{1}, [&](Var r, Var) { return values(start(r), c(2)); },
      [&](Prior y, Var r, Var t) {
        return values(min(y[0](r, t - 1) * c(0), 9) + table(in_range(x(r, t) % 8, 0, 8)), y[1](r, t - 1) / 2 + c(1) * x(r, t));
      });
  const Tensor sum = compute("sum", {R, T}, [&](Var r, Var t) { return state[0](r, t) + state[1](r, t); });
  const Scheduled one({x, start, c, table}, {state[0]}), both({x, start, c, table}, {sum});
  CHECK(one.has("y", "4 rows side by side"));   // x and the first value: the second one is carried
  CHECK(both.has("y", "2 rows side by side"));  // x and two values
  for (const Scheduled* s : {&one, &both})
    for (const auto& [r, t] : {std::pair<std::int64_t, std::int64_t>{1, 3}, {5, 1}, {9, 6}})
      s->same({{r, t}, {r}, {3}, {8}, {r, t}});
}

TEST_CASE("by default: recurrences over the same steps of one input share a pass, forwards and backwards") {
  for (const bool backwards : {false, true}) {
    lang::DefinitionScope scope;
    const Symbol N{"N"};
    const Tensor x = lang::make_input("x", i32, {N});
    const Scheduled s({x}, {average("fast", x, 3, backwards), average("slow", x, 5, backwards)});
    CHECK(s.has("slow", "step by step with fast"));
    const std::string text = kernel_of(s);
    CAPTURE(text);
    CHECK(count(text, "for i0 in [1, +N - 1)") == 1);  // one loop, in which each has its register
    CHECK(count(text, "registers ") == 2);
    for (const std::int64_t n : {0, 1, 2, 50}) s.same({{n}, {n}, {n}});
  }
}

TEST_CASE("by default: other directions, other inputs and scans in lanes have a pass each") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N}), z = lang::make_input("z", i32, {N});
  const Scheduled both({x}, {average("fast", x, 3), average("slow", x, 5, true)});
  CHECK(!both.has("slow", "step by step"));
  both.same({{9}, {9}, {9}});
  CHECK(!Scheduled({x, z}, {average("fast", x, 3), average("slow", z, 5)}).has("slow", "step by step"));
  const Tensor sums = scan("sums", {N}, Along{0}, Combine::add, [&](Var t) { return x(t); });
  const Scheduled lanes({x}, {average("fast", x, 3), sums});
  CHECK(!lanes.has("sums", "step by step"));
  lanes.same({{90}, {90}, {90}});
}
