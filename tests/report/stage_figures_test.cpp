// The figures of explain() for processors, beside figures counted by hand.
#include <cmath>

#include <doctest/doctest.h>

#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/report/explain.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "report/figures_text.h"
#include "report/stage_figures.h"
#include "tests/golden.h"

using namespace ashlar;
using report::BufferFigures;
using report::LoopFigures;
using report::StageFigures;

namespace {

std::vector<StageFigures> figures(const Schedule& s, const ExplainSizes& sizes) {
  const ir::Program& p = s.scheduled().program;
  return report::stage_figures(p, s.target(), report::sizes_of(p.symbols, p.name, sizes, Where::current()));
}
const StageFigures& of(const std::vector<StageFigures>& all, const std::string& stage) {
  for (const StageFigures& f : all)
    if (f.name == stage) return f;
  FAIL("no stage " << stage);
  return all.front();
}
const LoopFigures& run_of(const StageFigures& f, const std::string& loop) {
  for (const LoopFigures& l : f.loops)
    if (l.name == loop) return l;
  FAIL("no loop " << loop);
  return f.loops.front();
}
const BufferFigures& buffer(const Schedule& s, const LoopFigures& l, const std::string& name) {
  for (const BufferFigures& b : l.buffers)
    if (s.scheduled().program.buffer(b.buffer).name == name) return b;
  FAIL("no buffer " << name);
  return l.buffers.front();
}

struct Product {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  Schedule s = [&] {
    lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); }));
    return Schedule(lang::build_program("product", {A, B, C}), Target::parse("x86-64-v3"));
  }();

  void tile_by(int rows, int columns, int depth) {
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, rows, columns);
    auto [ko, ki] = s[C].split(s[C].reduction(), depth);
    s[C].reorder(io, jo, ko, ii, ki, ji).vectorize(ji).parallel(io);
  }
};

}  // namespace

TEST_CASE("a matrix product in tiles: the footprints of the textbook") {
  Product p;
  p.tile_by(32, 64, 16);
  const auto all = figures(p.s, {{"M", 512}, {"N", 512}, {"K", 512}});
  const StageFigures& f = of(all, "C");
  CHECK(f.points == 512.0 * 512 * 512);
  CHECK(f.fma == f.points);
  CHECK((f.add == 0 && f.mul == 0 && f.other == 0));
  CHECK(f.operations() == 2 * f.points);
  REQUIRE(f.vectors.size() == 1);
  CHECK(f.vectors[0].lanes == 64);
  CHECK((f.vectors[0].used == 1 && f.vectors[0].full == 1));
  // trips and runs: io 16, jo 8, ko 32, ii 32, ki 16, ji 64
  CHECK((run_of(f, "io").trips == 16 && run_of(f, "io").runs == 1));
  CHECK((run_of(f, "jo").trips == 8 && run_of(f, "jo").runs == 16));
  CHECK((run_of(f, "ko").trips == 32 && run_of(f, "ko").runs == 16 * 8));
  CHECK((run_of(f, "ii").trips == 32 && run_of(f, "ii").runs == 16 * 8 * 32));
  CHECK((run_of(f, "ki").trips == 16 && run_of(f, "ki").runs == 16.0 * 8 * 32 * 32));
  // one run of ii: 32 x 16 of A, 16 x 64 of B, 32 x 64 of C, in lines of 16 elements without waste
  const LoopFigures& ii_ = run_of(f, "ii");
  CHECK(buffer(p.s, ii_, "A").bytes == 32 * 16 * 4);
  CHECK(buffer(p.s, ii_, "B").bytes == 16 * 64 * 4);
  CHECK(buffer(p.s, ii_, "C").bytes == 32 * 64 * 4);
  CHECK(ii_.footprint() == 32 * 16 * 4 + 16 * 64 * 4 + 32 * 64 * 4);
  // the sum goes on from memory in each step of ko: C is loaded and stored
  CHECK(ii_.loaded() == ii_.runs * ii_.footprint());
  CHECK(ii_.stored() == ii_.runs * 32 * 64 * 4);
  // one run of ko: rows of A and columns of B whole, and C stored once
  const LoopFigures& ko_ = run_of(f, "ko");
  CHECK(ko_.footprint() == 32 * 512 * 4 + 512 * 64 * 4 + 32 * 64 * 4);
  CHECK(ko_.loaded() == 16 * 8 * (32 * 512 * 4 + 512 * 64 * 4));
  CHECK(ko_.stored() == 512 * 512 * 4);
  // of jo: a panel of A, all of B; of io everything
  CHECK(run_of(f, "jo").footprint() == 32 * 512 * 4 + 512 * 512 * 4 + 32 * 512 * 4);
  CHECK(run_of(f, "io").footprint() == 3 * 512 * 512 * 4);
  // one run of ki: a row of A's tile, B's tile, a row of C's
  CHECK(run_of(f, "ki").footprint() == 16 * 4 + 16 * 64 * 4 + 64 * 4);
}

TEST_CASE("a stencil: rows that neighbors share are counted once") {
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor x = lang::make_input("x", f32, {H + 2, W + 2}), y = lang::make_output("y", f32, {H, W});
  lang::bind(y, compute("y", {{"r", H}, {"c", W}}, [&](Var r, Var c) {
               Expr e = x(r, c);
               for (int a = 0; a < 3; ++a)
                 for (int b = 0; b < 3; ++b)
                   if (a || b) e += x(r + a, c + b);
               return e * 0.5f;
             }));
  Schedule s(lang::build_program("stencil", {x, y}), Target::parse("x86-64-v3"));
  auto [r, c] = s[y].spatial<2>();
  s[y].split(r, 8);
  s[y].vectorize(c, 8);
  const auto all = figures(s, {{"H", 64}, {"W", 126}});  // rows of x: 128 elements, 8 lines
  const StageFigures& f = of(all, "y");
  CHECK(f.points == 64 * 126);
  CHECK((f.add == 8 * f.points && f.mul == f.points && f.fma == 0));
  CHECK(buffer(s, run_of(f, "ro"), "x").bytes == 66 * 128 * 4);
  CHECK(buffer(s, run_of(f, "ro"), "x").elements == 66 * 128);
  CHECK(buffer(s, run_of(f, "ri"), "x").bytes == 10 * 128 * 4);  // 8 rows and two more
  CHECK(run_of(f, "ri").loaded() == 8 * 10 * 128 * 4);           // of which two are fetched again by the next strip
  CHECK(buffer(s, run_of(f, "co"), "x").bytes == 3 * 128 * 4);   // the loop over vectors: three rows
  // 126 columns in vectors of 8: 15 whole ones and 6 lanes of another
  REQUIRE(f.vectors.size() == 1);
  CHECK(f.vectors[0].used == doctest::Approx(126.0 / 128));
  CHECK(f.vectors[0].full == doctest::Approx(120.0 / 126));
}

TEST_CASE("a cross touches no corners where it is one point, and a box of many") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f64, {66, 66}), y = lang::make_output("y", f64, {64, 64});
  lang::bind(y, compute("y", {{"r", 64}, {"c", 64}}, [&](Var r, Var c) {
               return x(r, c + 1) + x(r + 1, c) + x(r + 1, c + 1) + x(r + 1, c + 2) + x(r + 2, c + 1);
             }));
  Schedule s(lang::build_program("cross", {x, y}), Target::parse("x86-64"));
  auto [r, c] = s[y].spatial<2>();
  s[y].tile(r, c, 1, 1);
  const auto all = figures(s, {});
  CHECK(buffer(s, run_of(of(all, "y"), "ci"), "x").elements == 5);
  CHECK(buffer(s, run_of(of(all, "y"), "ro"), "x").elements == 66 * 66);
}

TEST_CASE("a reduction: what is summed is read once, the sum is stored once") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M});
  Axis k{"k", N};
  lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return sum(x(i, k), k); }));
  Schedule s(lang::build_program("rows", {x, y}), Target::parse("x86-64-v3"));
  const auto all = figures(s, {{"M", 100}, {"N", 1000}});
  const StageFigures& f = of(all, "y");
  CHECK((f.points == 1e5 && f.add == 1e5 && f.fma == 0 && f.mul == 0));
  CHECK(f.vectors.empty());
  CHECK(buffer(s, run_of(f, "k"), "x").bytes == 63 * 64);  // 4000 bytes are 62.5 lines
  CHECK(buffer(s, run_of(f, "k"), "y").bytes == 64);
  CHECK(run_of(f, "k").runs == 100);
  CHECK(buffer(s, run_of(f, "i"), "x").bytes == 4e5);  // whole rows follow each other
  CHECK(buffer(s, run_of(f, "i"), "y").bytes == 7 * 64);
  CHECK(run_of(f, "i").stored() == 7 * 64);
  CHECK_FALSE(buffer(s, run_of(f, "i"), "y").loaded);
}

TEST_CASE("a ragged tail: points, lanes and vectors of 100 elements by 16") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return x(i) * 2 + 1; }));
  const lang::Built built = lang::build_program("scale", {x, y});
  for (const Tail tail : {Tail::guard, Tail::peel, Tail::shift}) {
    Schedule s(built, Target::parse("x86-64-v4"));
    if (tail == Tail::shift) continue;  // needs a bound of N
    auto [o, i] = s[y].split(s[y].spatial<1>()[0], 16, tail);
    s[y].vectorize(i);
    const auto all = figures(s, {{"N", 100}});
    const StageFigures& f = of(all, "y");
    CHECK(f.points == 100);
    CHECK((f.mul == 100 && f.add == 100));
    REQUIRE(f.vectors.size() == 1);
    if (tail == Tail::guard) CHECK(f.vectors[0].used == doctest::Approx(100.0 / 112));  // 7 vectors
    CHECK(f.vectors[0].full == doctest::Approx(0.96));                                  // 6 of them whole
    CHECK(run_of(f, "io").trips == (tail == Tail::guard ? 7 : 6));
    CHECK(buffer(s, run_of(f, "io"), "x").elements == (tail == Tail::guard ? 100 : 96));
  }
  Schedule large(built, Target::parse("x86-64-v4"));  // more than are looked at one by one
  large[y].vectorize(large[y].spatial<1>()[0], 16);
  const auto all = figures(large, {{"N", 100000003}});
  CHECK(of(all, "y").points == 100000003);
  CHECK(of(all, "y").vectors[0].full == doctest::Approx(100000000.0 / 100000003));
}

TEST_CASE("a transposed read: each element of a column costs a line") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {512, 512}), y = lang::make_output("y", f32, {512, 512});
  lang::bind(y, compute("y", {{"i", 512}, {"j", 512}}, [&](Var i, Var j) { return x(j, i); }));
  const lang::Built built = lang::build_program("turned", {x, y});
  Schedule plain(built, Target::parse("x86-64-v3"));
  const auto rows = figures(plain, {});
  const StageFigures& f = of(rows, "y");
  CHECK(f.operations() == 0);
  CHECK(buffer(plain, run_of(f, "j"), "x").elements == 512);
  CHECK(buffer(plain, run_of(f, "j"), "x").bytes == 512 * 64);
  CHECK(buffer(plain, run_of(f, "j"), "y").bytes == 512 * 4);
  CHECK(run_of(f, "j").loaded() == 512.0 * 512 * 64);  // 16 times what x holds, where a cache holds one column alone
  CHECK(buffer(plain, run_of(f, "i"), "x").bytes == 512 * 512 * 4);
  Schedule tiled(built, Target::parse("x86-64-v3"));
  auto [i, j] = tiled[y].spatial<2>();
  tiled[y].tile(i, j, 16, 16);
  const auto tiles = figures(tiled, {});
  CHECK(buffer(tiled, run_of(of(tiles, "y"), "ii"), "x").bytes == 16 * 64);  // 16 rows of a line each
  CHECK(run_of(of(tiles, "y"), "ii").loaded() == 512 * 512 * 4);
}

TEST_CASE("every second element: whole lines are fetched all the same") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {2048}), y = lang::make_output("y", f32, {64});
  lang::bind(y, compute("y", {{"i", 64}}, [&](Var i) { return x(2 * i) + x(32 * i + 1); }));
  Schedule s(lang::build_program("strides", {x, y}), Target::parse("x86-64"));
  const auto all = figures(s, {});
  const BufferFigures& b = buffer(s, run_of(of(all, "y"), "i"), "x");
  CHECK(b.elements == 128);            // no more than the two reads
  CHECK(b.bytes == 8 * 64 + 64 * 64);  // 127 elements in 8 lines, and 64 lines
}

TEST_CASE("a stage computed inside of another's loop, in registers") {
  lang::DefinitionScope scope;
  const std::int64_t M = 60, N = 64, K = 100;
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); }));
  Schedule s(lang::build_program("micro", {A, B, C}), Target::parse("x86-64-v4"));
  Stage acc = s.cache_write(C, Scope::registers);
  auto [i, j] = s[C].spatial<2>();
  auto [io, jo, ii, ji] = s[C].tile(i, j, 6, 32, Tail::exact);
  s[C].unroll(ii).vectorize(s[C].split(ji, 16).inner);
  acc.compute_at(jo);
  auto [ai, aj] = acc.spatial<2>();
  auto [ajo, aji] = acc.split(aj, 16);
  acc.reorder(acc.reduction(), ai, ajo, aji).unroll(ai).unroll(ajo).vectorize(aji);
  const auto all = figures(s, {});
  const StageFigures& f = of(all, "C_cache");
  CHECK(f.inside == "jo of C");
  CHECK(f.points == 60 * 64 * 100);
  CHECK(f.vector_registers == 12);  // 6 x 32 in registers of 16
  CHECK(f.at_once == 12);
  CHECK(run_of(f, "k").runs == 10 * 2);
  CHECK(run_of(f, "k").trips == 100);
  // registers pass no cache: 6 rows of 100 of A, which follow each other in 37.5 lines, and 100 rows of 32 of B
  CHECK(run_of(f, "k").footprint() == 38 * 64 + 100 * 32 * 4);
  // the loop of C around it touches what both stages do
  CHECK(run_of(of(all, "C"), "jo").footprint() == 38 * 64 + 100 * 64 * 4 + 6 * 64 * 4);
}

TEST_CASE("the points that are counted are those that are computed") {
  lang::DefinitionScope scope;
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Tensor x = lang::make_input("x", i32, {H, W}), y = lang::make_output("y", i32, {H, W});
  const Tensor wide = boundary::repeat(x);
  const Tensor across = compute("across", [&](Var r, Var c) { return wide(r, c - 1) + wide(r, c + 1); });
  lang::bind(y, compute("y", {{"r", H}, {"c", W}}, [&](Var r, Var c) { return across(r - 1, c) + across(r + 1, c); }));
  const lang::Built built = lang::build_program("blur", {x, y});
  const auto same = [&](const Schedule& s, std::int64_t h, std::int64_t w) {
    const ir::Program& p = s.scheduled().program;
    interp::Arguments args{interp::Array::zeros(i32, {h, w}), interp::Array::zeros(i32, {h, w})};
    const interp::Counters ran = interp::run(p, args);
    for (const StageFigures& f : figures(s, {{"H", h}, {"W", w}})) {
      CAPTURE(f.name);
      CHECK(f.points == static_cast<double>(ran.evaluations.at(f.stage)));
    }
  };
  const auto each = [&](auto steps) {
    Schedule s(built, Target::parse("x86-64-v3"));
    steps(s);
    same(s, 13, 21), same(s, 1, 1), same(s, 16, 32), same(s, 40, 7);
  };
  each([](Schedule&) {});
  each([&](Schedule& s) {
    auto [r, c] = s[y].spatial<2>();
    s[y].tile(r, c, 4, 8);
    auto [ar, ac] = s[across].spatial<2>();
    s[across].vectorize(s[across].fuse(ar, ac), 8);
  });
  each([&](Schedule& s) {
    auto [r, c] = s[y].spatial<2>();
    auto [co, ci] = s[y].split(c, 8, Tail::peel);
    s[y].vectorize(ci).peel(r, Peel::last);
    auto [ar, ac] = s[across].spatial<2>();
    auto [o, i] = s[across].split(ac, 5);
    s[across].tighten(i).reorder(o, ar, i);
    (void)co;
  });
  each([&](Schedule& s) { s[across].compute_at(s[y].spatial<2>()[0]); });
  // a window that slides down the rows of a strip; all but its first rows, two more, are those of the middle
  Schedule s(built, Target::parse("x86-64-v3"));
  auto [r, c] = s[y].spatial<2>();
  auto [ro, ri] = s[y].split(r, 8);
  s[y].tighten(ri);
  s[across].store_at(ro).compute_at(ri).slide(ri).fold(0, 4);
  const auto all = figures(s, {{"H", 64}, {"W", 32}});
  CHECK(of(all, "across").points == 64 * 32);
  CHECK_FALSE(of(all, "across").data_decides);
  CHECK(buffer(s, run_of(of(all, "y"), "ri"), "x").elements == 10 * 32);       // 8 rows and two more
  CHECK(run_of(of(all, "y"), "ri").loaded() == 8 * 10 * 32 * 4);               // of x alone: the ring is computed here
  CHECK(buffer(s, run_of(of(all, "y"), "ri"), "across").bytes == 4 * 32 * 4);  // the ring
}

TEST_CASE("storage inside of a loop is used again") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {64, 64}), y = lang::make_output("y", f32, {64, 64});
  const Tensor t = compute("t", {64, 64}, [&](Var i, Var j) { return x(i, j) * 2; });
  lang::bind(y, compute("y", {{"i", 64}, {"j", 64}}, [&](Var i, Var j) { return t(i, j) + 1; }));
  Schedule s(lang::build_program("rows", {x, y}), Target::parse("x86-64-v3"));
  s[t].compute_at(s[y].spatial<2>()[0]);
  const auto all = figures(s, {});
  const BufferFigures& row = buffer(s, run_of(of(all, "y"), "i"), "t");
  CHECK(row.inside);
  CHECK((row.elements == 64 && row.bytes == 64 * 4));
  CHECK(run_of(of(all, "y"), "i").footprint() == 2 * 64 * 64 * 4 + 64 * 4);
  CHECK(run_of(of(all, "y"), "i").loaded() == 64 * 64 * 4);  // of x alone
}

TEST_CASE("an iteration past the end of a guarded split stores nothing (fuzz seed 93000379)") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {2, 1}), y = lang::make_output("y", f32, {2, 1});
  const Tensor t = compute("t", {2, 1}, [&](Var i, Var j) { return x(i, j) * 2; });
  lang::bind(y, compute("y", {{"i", 2}, {"j", 1}}, [&](Var i, Var j) { return t(i, j) + 1; }));
  Schedule s(lang::build_program("rows", {x, y}), Target::parse("x86-64-v3"));
  auto [i, j] = s[y].spatial<2>();
  s[t].compute_at(j).store_at(i);
  s[y].split(i, 8);  // its iteration in the middle has a box that ends before it begins
  const auto all = figures(s, {});
  for (const LoopFigures& l : of(all, "y").loops)
    for (const BufferFigures& b : l.buffers) CHECK((b.elements >= 0 && b.bytes >= 0 && !std::signbit(b.bytes)));
}

TEST_CASE("the text, for an engineer") {
  Product p;
  p.tile_by(32, 64, 16);
  const std::string text = explain_stages(p.s.scheduled().program, p.s.target(), {{"M", 500}, {"N", 500}, {"K", 500}});
  CHECK(golden("lower/golden/explain_stages.txt", text) == "");
  CHECK(explain(p.s, {{"M", 500}, {"N", 500}, {"K", 500}}).find(text) != std::string::npos);
  CHECK_THROWS_WITH_AS(explain_stages(p.s.scheduled().program, p.s.target(), {{"Q", 3}}),
                       doctest::Contains("explain: expected sizes of symbols of"), RefusalError);
}
