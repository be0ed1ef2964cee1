// What docs/default.md says of when something is done, on both sides of each border.
#include "tests/schedules/by_default.h"

#include <algorithm>
#include <functional>

#include <ashlar/ir/print.h>

using namespace by_default_test;

namespace {

using Formula = std::function<Expr(const Tensor& x, Var i)>;

// Is a stage of the formula inlined that so many terms of each result read, from neighboring places?
bool inlined(const Formula& f, int reads) {
  lang::DefinitionScope scope;
  const Tensor x = input("x", f32, {1000});
  const Tensor stage = compute("stage", {{"i", 1000}}, [&](Var i) { return f(x, i); });
  const Tensor y = compute("y", {{"i", 980}}, [&](Var i) {
    Expr sum = stage(i);
    for (int k = 1; k < reads; ++k) sum = sum + stage(i + k);
    return sum;
  });
  return Scheduled({x}, {y}).has("stage", "inlined");
}

Family family_of(const std::vector<Tensor>& inputs, const Tensor& result) {
  return Scheduled(inputs, {result}).by.choices.stages.back().family;
}

}  // namespace

TEST_CASE("by default: what computing again costs beside memory decides what is inlined") {
  CHECK(inlined([](const Tensor& x, Var i) { return x(i) * 2.0f + 1.0f; }, 5));
  CHECK(!inlined([](const Tensor& x, Var i) { return x(i) * 2.0f + 1.0f; }, 7));
  CHECK(inlined([](const Tensor& x, Var i) { return x(i) / 3.0f; }, 2));
  CHECK(!inlined([](const Tensor& x, Var i) { return x(i) / 3.0f; }, 3));
  CHECK(inlined([](const Tensor& x, Var i) { return exp(x(i)); }, 1));
  CHECK(!inlined([](const Tensor& x, Var i) { return exp(x(i)); }, 2));
  CHECK(inlined([](const Tensor& x, Var i) { return x(clamp(i - 1, 0, 999)); }, 5));  // a bent index costs as well
  CHECK(!inlined([](const Tensor& x, Var i) { return x(clamp(i - 1, 0, 999)); }, 7));
  CHECK(inlined([](const Tensor& x, Var i) { return x(i); }, 7));
}

TEST_CASE("by default: into a product nothing is inlined that it would repeat") {
  lang::DefinitionScope scope;
  const Tensor a = input("a", u8, {64, 32});
  const Tensor wide = compute("wide", {{"i", 64}, {"k", 32}}, [&](Var i, Var k) { return f32(a(i, k)); });
  for (const int columns : {4, 8}) {
    const Tensor b = input("b", f32, {32, columns});
    CHECK(Scheduled({a, b}, {ops::matmul(wide, b)}).has("wide", "inlined") == (columns == 4));
  }
}

TEST_CASE("by default: a scatter is not computed again for every reader of its elements") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", u8, {40, 30}), counts = ops::histogram(x);
  const Scheduled s({x}, {compute("y", {{"b", 256}}, [&](Var b) { return f32(counts(b)) * 0.5f; })});
  CHECK(!s.has(s.by.choices.stages.back().stage, "computed at"));
  CHECK(s.by.choices.stages.back().family == Family::scatter);
  s.same({{40, 30}, {256}});
}

TEST_CASE("by default: which loop is for the pool, and when there is none") {
  lang::DefinitionScope scope;
  const auto done = [&](const std::vector<Extent>& shape, const char* what) {
    const Tensor x = input("x", f32, shape);
    return Scheduled({x}, {ops::neg(x)}).has("neg", what);
  };
  CHECK(done({8, 64, 64}, "i0 in parallel"));  // the outermost one of 8
  CHECK(done({16, 64, 64}, "i0 in parallel"));
  CHECK(done({7, 64, 64}, "i1 in parallel"));
  CHECK(!done({32, 32, 16}, "i1 in parallel"));
  CHECK(!done({64, 16}, "in parallel"));  // too little work
  CHECK(done({1 << 20}, "in parallel"));
  const Symbol few{"F", {.max = 8}}, many{"M"};
  CHECK(!done({few, few}, "in parallel"));  // what a Symbol's declaration leaves
  CHECK(done({many, many}, "i0 in parallel"));
  const Tensor small = input("x", f32, {1000}), large = input("x", f32, {1 << 20});
  CHECK(!Scheduled({small}, {ops::reduce_sum(small)}).has("reduce_sum", "in parallel"));
  CHECK(Scheduled({large}, {ops::reduce_sum(large)}).has("reduce_sum", "pieces of 65536 terms in parallel"));
  CHECK(!Scheduled({large}, {ops::reduce_sum(large)}, {.parallel = false}).has("reduce_sum", "in parallel"));
  const Symbol any{"N"};
  const Tensor unknown = input("u", f32, {any});  // of a few terms, too: a piece is no longer than they are
  const Scheduled by({unknown}, {ops::reduce_sum(unknown)});
  const auto& steps = by.by.schedule.scheduled().trace;
  CHECK(std::any_of(steps.begin(), steps.end(), [](const auto& step) { return step.primitive == "tighten"; }));
}

TEST_CASE("by default: what a sum is taken for") {
  lang::DefinitionScope scope;
  const Tensor a = input("a", f32, {64, 48}), b = input("b", f32, {48, 32}), column = input("c", f32, {48, 1}),
               d = input("d", f32, {64}), image = input("x", f32, {1, 2, 12, 12});
  const Axis k{"k", 48};
  CHECK(family_of({a, b}, ops::matmul(a, b)) == Family::matmul);
  CHECK(family_of({a, b}, compute("y", {{"i", 64}, {"j", 32}},
                                  [&](Var i, Var j) { return strict_sum(a(i, k) * b(k, j), k); })) == Family::matmul);
  // a factor of one column has no dimension of its own
  CHECK(family_of({a, column}, ops::matmul(a, column)) == Family::row_reduction);
  // the largest operand says what neighbors are
  CHECK(family_of({a, d}, compute("y", {{"i", 64}}, [&](Var i) { return sum(a(i, k) + d(i), k); })) == Family::row_reduction);
  // every pair of two lists: results share their terms, unless these are few or rows have a number of their own
  const Tensor e = input("e", f32, {300});
  const Axis j{"j", 300};
  const auto count_below = [&](Var i, const Axis& all) { return sum(i32(e(all) < d(i)), all); };
  CHECK(family_of({d, e}, compute("y", {{"i", 64}}, [&](Var i) { return count_below(i, j); })) == Family::column_reduction);
  CHECK(family_of({d, e}, compute("y", {{"i", 8}}, [&](Var i) { return count_below(i, j); })) == Family::row_reduction);
  CHECK(family_of({d, e}, compute("y", {{"i", 64}}, [&](Var i) { return count_below(i, Axis{"j", 0, i + 1}); })) ==
        Family::row_reduction);
  CHECK(family_of({a}, ops::reduce_sum(a, {.axes = {0}})) == Family::column_reduction);
  // windows that lie beside each other are windows too, small ones
  CHECK(family_of({image}, ops::max_pool2d(image, {.window = {2, 2}, .stride = {2, 2}})) == Family::stencil);
}

TEST_CASE("by default: lanes and tiles fit what there is") {
  lang::DefinitionScope scope;
  const auto tile = [&](int rows, int columns) {
    const Tensor a = input("a", f32, {rows, 20}), b = input("b", f32, {20, columns});
    return Scheduled({a, b}, {ops::matmul(a, b)}).of("matmul").done;
  };
  const auto said = [](const std::vector<std::string>& done, const std::string& what) {
    return std::any_of(done.begin(), done.end(), [&](const auto& d) { return d.find(what) != std::string::npos; });
  };
  CHECK(said(tile(33, 50), "sums of a tile of 11 x 32, 16 in a vector"));  // three whole tiles of rows
  CHECK(said(tile(28, 50), "sums of a tile of 14 x 32, 16 in a vector"));
  CHECK(said(tile(28, 16), "sums of a tile of 14 x 16, 16 in a vector"));
  CHECK(said(tile(5, 16), "sums of a tile of 5 x 16, 16 in a vector"));
  const Tensor x = input("x", f32, {100, 5}), wide = input("w", f64, {100, 500}), rows = input("r", f32, {20, 4096}),
               narrow = input("n", f32, {100, 9});
  CHECK(Scheduled({x}, {ops::neg(x)}).has("neg", "vectors of 2 points along i0 with 5 values each"));
  CHECK(Scheduled({narrow}, {ops::neg(narrow)}).has("neg", "a vector of 9 along i1"));
  CHECK(Scheduled({wide}, {ops::cast(wide, u8)}).has("cast", "vectors of 32 along"));
  CHECK(Scheduled({rows}, {ops::reduce_sum(rows, {.axes = {1}})}).has("reduce_sum", "sums in 8 vectors of 16"));
}

TEST_CASE("by default: weights are packed for enough channels, on the pool where that may be used") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", f32, {1, 16, 12, 12});
  const auto conv = [&](int outputs, bool parallel) {
    const Tensor w = input("w", f32, {outputs, 16, 3, 3});
    return Scheduled({x, w}, {ops::conv2d(x, w)}, {.parallel = parallel});
  };
  CHECK(conv(8, true).by.choices.text().find("w in blocks of ") != std::string::npos);
  CHECK(conv(4, true).by.choices.text().find("w in blocks of ") == std::string::npos);
  CHECK(conv(32, true).text().find("parallel") != std::string::npos);
  CHECK(conv(32, false).text().find("parallel") == std::string::npos);
}

TEST_CASE("by default: weights that are constants are packed when they are compiled") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", f32, {1, 16, 12, 12});
  std::vector<float> values;
  for (int k = 0; k < 32 * 16 * 9; ++k) values.push_back(static_cast<float>(k % 17 - 8) / 8);
  const Tensor w = constant("w", f32, {32, 16, 3, 3}, values);
  const auto copies = [](const Scheduled& s) { return s.text().find("nest w_cache") != std::string::npos; };
  const Scheduled once({x}, {ops::conv2d(x, w)});
  CHECK(once.by.choices.text().find("w in blocks of ") != std::string::npos);
  CHECK(once.by.schedule.trace().find("pack_argument") != std::string::npos);
  CHECK(!copies(once));
  once.same({{1, 16, 12, 12}, {1, 32, 10, 10}});
  // two that read them may want them otherwise: each call packs them for one
  const Scheduled twice({x}, {Tensor(ops::conv2d(x, w)), Tensor(ops::conv2d(x, w, {}, {.stride = {2, 2}}))});
  CHECK(twice.by.schedule.trace().find("pack_argument") == std::string::npos);
  CHECK(copies(twice));
}

TEST_CASE("by default: neighbors that a step of a scatter changes are in lanes") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor rows = input("rows", u8, {N}), g = input("g", f32, {N, 40}), x = input("x", u8, {N});
  const Tensor table = scatter("table", {256, 40}, Combine::add, 0.f, {{"n", N}, {"d", 40}},
                               [&](Var n, Var d) { return put(g(n, d), rows(n), d); });
  const Scheduled s({rows, g}, {table});
  CHECK(s.has("table", "neighbors in lanes, blocks of them in parallel"));
  s.same({{30}, {30, 40}, {256, 40}});
  CHECK(Scheduled({rows, g}, {table}, {.parallel = false}).has("table", "neighbors in lanes"));
  // steps that change any element: parts with results of their own, on several threads alone
  const Tensor counts = scatter("counts", {256}, Combine::add, u32(0), {N}, [&](Var n) { return put(u32(1), x(n)); });
  const Scheduled parts({x}, {counts});
  CHECK(parts.has("counts", "16 parts of the steps in parallel"));
  parts.same({{500}, {256}});
  CHECK(Scheduled({x}, {counts}, {.parallel = false}).has("counts", "as it was written"));
}

TEST_CASE("by default: a few neighbors that a step of a scatter changes are in lanes, and no block goes over all steps") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, G{"G", {.min = 8}};
  const Tensor at = input("at", i32, {N}), x = input("x", f32, {N, 2});
  const auto cell = [&](const Expr& n) { return clamp(i64(at(n)), 3, i64(G) - 4); };
  const Tensor window = scatter("window", {G, 2}, Combine::add, 0.f, {N, 7, 2},
                                [&](Var n, Var d, Var c) { return put(x(n, c), cell(n) + d - 3, c); });
  const Tensor pairs =
      scatter("pairs", {G, 2}, Combine::add, 0.f, {N, 2}, [&](Var n, Var c) { return put(x(n, c), cell(n), c); });
  const Scheduled a({at, x}, {window}), b({at, x}, {pairs});
  CHECK(a.has("window", "14 neighbors in lanes"));
  CHECK(b.has("pairs", "2 neighbors in lanes"));
  for (const std::int64_t n : {0, 1, 40}) a.same({{n}, {n, 2}, {11, 2}}), b.same({{n}, {n, 2}, {11, 2}});
}

TEST_CASE("by default: a scatter without steps") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", i32, {N}), counts = scatter("counts", {5}, Combine::add, 0, {N, 3, 0},
                                                          [&](Var n, Var, Var) { return put(1, in_range(x(n), 0, 5)); });
  Scheduled({x}, {counts}).same({{7}, {5}});
}

TEST_CASE("by default: the few last steps of a scatter have no loop") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, V{"V", {.min = 2}};
  const Tensor at = input("at", i32, {N}), x = input("x", f32, {N});
  const auto node = [&](const Expr& n) { return clamp(i64(at(n)), 0, i64(V) - 2); };
  // which of two puts a step is, is a number: neither is chosen any more
  const Tensor spread = scatter("spread", {V}, Combine::add, 0.f, {N},
                                [&](Var n) { return puts(put(x(n), node(n)), put(1 - x(n), node(n) + 1)); });
  const Scheduled s({at, x}, {spread}, {.parallel = false});
  CHECK(s.has("spread", "2 steps unrolled"));
  const std::string kernel = ir::text(lower(s.by.schedule.scheduled().program, options_for(s.by.schedule.target())));
  CHECK(kernel.find("select") == kernel.npos);
  for (const std::int64_t n : {0, 1, 37}) s.same({{n}, {n}, {5}});
  // beside those in lanes; more than 16 keep their loop
  const Tensor y = input("y", f32, {N, 5, 3}), z = input("z", f32, {N, 17});
  const Tensor rows = scatter("rows", {V, 3}, Combine::max, 0.f, {N, 5, 3},
                              [&](Var n, Var k, Var c) { return put(y(n, k, c), node(n + 0 * k), c); });
  const Scheduled r({at, y}, {rows}, {.parallel = false});
  CHECK(r.has("rows", "3 neighbors in lanes"));
  CHECK(r.has("rows", "5 steps unrolled"));
  r.same({{9}, {9, 5, 3}, {4, 3}});
  const Tensor many = scatter("many", {V}, Combine::add, 0.f, {N, 17}, [&](Var n, Var k) { return put(z(n, k), node(n)); });
  const Scheduled m({at, z}, {many}, {.parallel = false});
  CHECK(!m.has("many", "unrolled"));
  m.same({{9}, {9, 17}, {4}});
}

TEST_CASE("by default: a small table is computed once, however many read it") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", i32, {N}), gain = input("gain", f32, {900}), large = input("large", f32, {50000});
  const auto curve = [&](const char* name, const Tensor& t, std::int64_t entries) {
    return compute(name, {{"b", entries}}, [&](Var b) { return t(b) / (t(b) + 1); });
  };
  const auto looked_up = [&](const char* name, const Tensor& t, std::int64_t entries) {
    return compute(name, {{"n", N}}, [&](Var n) { return t(clamp(i64(x(n)), 0, entries - 1)); });
  };
  const Scheduled small({x, gain}, {looked_up("y", curve("curve", gain, 900), 900)});
  CHECK(!small.has("curve", "inlined"));
  small.same({{70}, {900}, {70}});
  // 50000 would be more than are read, should N be small
  CHECK(Scheduled({x, large}, {looked_up("z", curve("wide", large, 50000), 50000)}).has("wide", "inlined"));
}

TEST_CASE("by default: rows whose lengths stand in a table") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, Z{"Z"}, N{"N"};
  const Tensor first = input("first", u8, {M + 1}), col = input("col", u8, {Z}), val = input("val", f32, {Z}),
               x = input("x", f32, {N});
  const auto row = [&](Var i) { return Axis{"p", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)}; };
  const Tensor product = compute("product", {{"i", M}}, [&](Var i) {
    const Axis p = row(i);
    return sum(val(p) * x(in_range(col(p), 0, N)), p);
  });
  CHECK(Scheduled({first, col, val, x}, {product}).has("product", "one term after the other"));
  const Tensor exps = compute("exps", {{"i", M}}, [&](Var i) {
    const Axis p = row(i);
    return sum(exp(val(p)), p);
  });
  CHECK(Scheduled({first, val}, {exps}).has("exps", "sums in 1 vector of 16"));
}

TEST_CASE("by default: points of one quotient are a vector") {
  lang::DefinitionScope scope;
  const Symbol H{"H"}, W{"W"};
  const Tensor x = input("x", f32, {H, W});
  const auto larger = [&](int by) {
    return compute("y", {{"i", H}, {"j", W}}, [&](Var i, Var j) { return x(i / by, j / by); });
  };
  for (const int by : {2, 3, 8}) {
    const Scheduled s({x}, {larger(by)});
    CHECK(s.has("y", "a vector of " + std::to_string(by) + " along"));
    s.same({{7, 25}, {7, 25}});
  }
  CHECK(Scheduled({x}, {larger(17)}).has("y", "vectors of 16 along j"));
}

TEST_CASE("by default: the phases of a transposed convolution are one product") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", f32, {1, 8, 20, 20}), w = input("w", f32, {8, 16, 4, 4});
  const ops::Convolution y = ops::conv_transpose2d(x, w, {}, {.stride = {2, 2}, .padding = {1, 1}});
  const Scheduled s({x, w}, {y});
  CHECK(s.has("phases", "sums of a tile of "));
  CHECK(!s.has("phases", "computed at"));
  s.same({{1, 8, 20, 20}, {8, 16, 4, 4}, {1, 16, 40, 40}});
}

TEST_CASE("by default: rows that neighbors need lie in a ring") {
  lang::DefinitionScope scope;
  const Symbol H{"H"};
  const Tensor x = input("x", f32, {H, 64});
  const Tensor root = compute("root", {{"y", H}, {"x", 64}}, [&](Var r, Var c) { return sqrt(exp(x(r, c))); });
  const Tensor y = compute("y", {{"y", H}, {"x", 64}}, [&](Var r, Var c) {
    return root(clamp(r - 1, 0, H - 1), c) + root(r, c) + root(clamp(r + 1, 0, H - 1), c);
  });
  const Scheduled s({x}, {y});
  CHECK(s.has("root", "sliding"));
  CHECK(s.has("root", "a ring of 4 rows"));
  s.same({{70, 64}, {70, 64}});
}

TEST_CASE("by default: how much of a row is computed at once") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", f32, {40, 5000}), of = input("of", f32, {5000}), line = input("l", f32, {1 << 20});
  const Tensor root = compute("root", {{"y", 40}, {"x", 5000}}, [&](Var r, Var c) { return sqrt(exp(x(r, c))); });
  const Tensor of_column = compute("of_column", {{"x", 5000}}, [&](Var c) { return exp(of(c)); });
  const Tensor alone = compute("alone", {{"y", 40}, {"x", 5000}}, [&](Var r, Var c) { return x(r, c) * of_column(c); });
  const Tensor window = compute("window", {{"y", 34}, {"x", 5000}}, [&](Var r, Var c) { return root(r, c) * root(r + 6, c); });
  CHECK(Scheduled({x, of}, {alone}).has("alone", "x by 1024"));
  CHECK(Scheduled({x}, {window}).has("window", "y by 32, x by 512"));
  CHECK(Scheduled({line}, {ops::neg(line)}).has("neg", "i0 by 16384"));
}

TEST_CASE("by default: what is computed outside of the loop for the pool is computed before it") {
  lang::DefinitionScope scope;
  for (const int rows : {7, 8}) {
    const Tensor x = input("x", f32, {rows}), w = input("w", f32, {rows, 64}), z = input("z", f32, {rows, 64, 64});
    const Tensor of_i = compute("of_i", {{"i", rows}}, [&](Var i) { return exp(x(i)); });
    const Tensor of_j = compute("of_j", {{"i", rows}, {"j", 64}}, [&](Var i, Var j) { return exp(w(i, j)); });
    const Tensor y = compute("y", {{"i", rows}, {"j", 64}, {"k", 64}},
                             [&](Var i, Var j, Var k) { return of_i(i) * of_j(i, j) * z(i, j, k); });
    const Scheduled s({x, w, z}, {y});
    CHECK(s.has("y", rows == 7 ? "j in parallel" : "i in parallel"));
    CHECK(s.has("of_j", "computed at j of y"));
    CHECK(s.has("of_i", "computed at i of y") == (rows == 8));
    s.same({{rows}, {rows, 64}, {rows, 64, 64}, {rows, 64, 64}});
  }
}

TEST_CASE("by default: families that take a stage whole, and one thread for recurrences") {
  lang::DefinitionScope scope;
  for (const int channels : {3, 4}) {
    const Tensor x = input("x", f32, {1, 9, 11, channels}), w = input("w", f32, {3, 3, channels, 1});
    const Scheduled s({x, w}, {ops::depthwise_conv2d(x, w, {}, {.layout = ops::Layout::channels_last})});
    CHECK(s.has("depthwise_conv2d", "schedules::stencil") == (channels == 4));
  }
  const Tensor x = input("x", f32, {200, 500});
  CHECK(Scheduled({x}, {ops::cumsum(x, 0)}).text().find("parallel") != std::string::npos);
  CHECK(Scheduled({x}, {ops::cumsum(x, 0)}, {.parallel = false}).text().find("parallel") == std::string::npos);
}

TEST_CASE("by default: a ragged row is summed along its elements, whatever tables say where it begins") {
  lang::DefinitionScope scope;
  const Tensor first = input("first", i32, {9}), x = input("x", f32, {40});
  const Scheduled s({first, x}, {compute("total", {{"r", 8}}, [&](Var r) {
                      const Axis k{"k", in_range(first(r), 0, 41), in_range(first(r + 1), 0, 41)};
                      return sum(x(k), k);
                    })});
  const schedules::Choice& total = s.by.choices.stages.back();
  CHECK(total.family == Family::row_reduction);
  CHECK(s.has(total.stage, "sums in 1 vector of 16"));  // rows may be short
  s.same({{9}, {40}, {8}});
}

TEST_CASE("by default: a recurrence whose last steps alone are read says that it keeps these, and no other one does") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", f32, {64, 100});
  const Tensor y = recur(
      "y", {64, 100}, Along{0}, Lag{1}, [&](Var t, Var i) { return x(t, i); },
      [&](Prior b, Var t, Var i) { return b(t - 1, i) * 0.5f + x(t, i); });
  CHECK(Scheduled({x}, {compute("last", {100}, [&](Var i) { return y(63, i); })}).has("y", "a ring of 2 steps along i0"));
  CHECK(!Scheduled({x}, {compute("all", {64, 100}, [&](Var t, Var i) { return y(63 - t, i); })}).has("y", "a ring of"));
}

TEST_CASE("by default: the few results of a row of its own length are computed together, each with its terms in order") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}}, most{"most", {.min = 1}}, Z{"Z", {.min = 1}};
  const Tensor at = input("at", i32, {3, N}), count = input("count", i32, {N}), near = input("near", i32, {N, most});
  const Tensor force = compute("force", {3, N}, [&](Var d, Var i) {
    const Axis k{"k", clamp(count(i), 0, most)};
    const Expr j = clamp(near(i, k), 0, N - 1);
    return sum((at(0, j) + at(1, j) + at(2, j)) * (at(d, j) - at(d, i)), k);
  });
  const Scheduled s({at, count, near}, {force});
  CHECK(s.has("force", "the results of a row at once, its terms one after the other"));
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 9}, {20, 16}})
    s.same({{3, n}, {n}, {n, m}, {3, n}});
  // blocks of 3 by 3, inside of a reader's loop
  const Tensor first = input("first", i32, {N + 1}), block = input("block", i32, {Z, 3, 3}), x = input("x", i32, {N, 3});
  const Axis c{"c", 3};
  const Tensor product = compute("product", {N, 3}, [&](Var i, Var r) {
    const Axis e{"e", clamp(first(i), 0, Z), clamp(first(i + 1), 0, Z)};
    return sum(block(e, r, c) * x(clamp(first(e % (N + 1)), 0, N - 1), c), {e, c});
  });
  const Tensor less = compute("less", {N, 3}, [&](Var i, Var r) { return x(i, r) - product(i, r) * 3; });
  const Scheduled inside({first, block, x}, {less});
  CHECK(inside.has("product", "the results of a row at once, its terms one after the other"));
  for (const std::int64_t n : {1, 4, 9}) inside.same({{n + 1}, {17, 3, 3}, {n, 3}, {n, 3}});
  // results that share nothing, and rows of one length
  const Tensor apart = compute("apart", {N, 3}, [&](Var i, Var r) {
    const Axis e{"e", clamp(first(i), 0, Z), clamp(first(i + 1), 0, Z)};
    return sum(block(e, r, 0), e);
  });
  CHECK(!Scheduled({first, block}, {apart}).has("apart", "the results of a row at once"));
}

TEST_CASE("by default: terms over a flattened table are neighbors") {
  lang::DefinitionScope scope;
  const Symbol B{"B", {.min = 1}}, W{"W", {.min = 1}};
  const Tensor x = input("x", i32, {B, 4, W});
  const Tensor scaled = compute("scaled", {B, 4, W}, [&](Var b, Var k, Var w) { return x(b, k, w) * x(b, 3 - k, w); });
  const Tensor flat = view::reshape(scaled, {B, 4 * W});
  const Axis c{"c", 4 * W};
  const auto best = compute("best", {B}, [&](Var b) { return argmax(flat(b, c), c); });
  const Scheduled s({x}, {best[0], best[1]});
  CHECK(s.has("best", "vectors of 16"));
  for (const auto& [b, w] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 7}, {2, 100}}) s.same({{b, 4, w}, {b}, {b}});
}

TEST_CASE("by default: results of a window with weights of their own have terms in lanes") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", f32, {N + 39}), own = input("own", f32, {N, 40}), shared = input("shared", f32, {40});
  const Axis k{"k", 40};
  const auto window = [&](const char* name, auto weight) {
    return compute(name, {{"n", N}}, [&](Var n) { return sum(weight(n) * x(n + k), k); });
  };
  const Scheduled s({x, own}, {window("guess", [&](Var n) { return own(n, k); })});
  CHECK(s.of("guess").family == Family::row_reduction);
  CHECK(s.has("guess", "sums in 1 vector of 8"));  // 40 terms leave no lane empty
  for (const std::int64_t n : {0, 1, 37}) s.same({{n + 39}, {n, 40}, {n}});
  CHECK(Scheduled({x, shared}, {window("filtered", [&](Var) { return shared(k); })}).of("filtered").family == Family::stencil);
}
