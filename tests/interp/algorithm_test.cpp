// The oracle: stage definitions evaluated on demand, independent of any schedule.
#include <cmath>

#include <doctest/doctest.h>

#include <ashlar/interp/interpreter.h>

#include "build_programs.h"

using namespace ashlar;
using interp::Array;
using interp::RunError;
using test::Maker, test::ramp;

TEST_CASE("a matrix product accumulates by fma, in the order of k") {
  test::Matmul m;
  interp::Arguments args{ramp(f32, {5, 7}), ramp(f32, {7, 4}), Array::zeros(f32, {5, 4})};
  args[0].array.set(std::vector<std::int64_t>{0, 0}, ir::float_value(f32, 1 + 0x1p-12));
  const interp::Counters n = interp::run_algorithm(m.p, args);
  CHECK(n.evaluations.at(m.product) == 5 * 4 * 7);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < 7; ++k)
        sum = std::fma(static_cast<float>(args[0].array.real({i, k})), static_cast<float>(args[1].array.real({k, j})), sum);
      CHECK(args[2].array.real({i, j}) == static_cast<double>(sum));
    }
}

TEST_CASE("a stage without a stated domain is computed where its readers read, once each") {
  test::Blur b;
  interp::Arguments args{Array::make(i32, {6}, [](auto at) { return static_cast<double>(at[0] * at[0]); }),
                         Array::zeros(i32, {6})};
  const interp::Counters n = interp::run_algorithm(b.p, args);
  CHECK(n.evaluations.at(b.p_stage) == 8);  // [-1, 7)
  CHECK(args[1].array.integer({0}) == 2 * (0 + 0 + 1));
  CHECK(args[1].array.integer({3}) == 2 * (4 + 9 + 16));
  CHECK(args[1].array.integer({5}) == 2 * (16 + 25 + 25));
}

TEST_CASE("the arm of select that is not taken is not read") {
  Maker m;
  const Expr N = m.symbol("N");
  const ir::Id in = m.input("in", i32, {N}), out = m.output("out", i32, {N});
  const ir::IterVar i = m.spatial("i", N);
  const Expr left = m.at(in, {ir::sub(Maker::of(i), ir::index(1))});
  SUBCASE("guarded by select") {
    m.stage(out, {i}, ir::select(ir::gt(Maker::of(i), ir::index(0)), left, ir::int_const(i32, -1)));
    interp::Arguments args{ramp(i32, {4}), Array::zeros(i32, {4})};
    interp::run_algorithm(m.p, args);
    CHECK(args[1].array.integer({0}) == -1);
    CHECK(args[1].array.integer({1}) == args[0].array.integer({0}));
  }
  SUBCASE("not guarded: reported with the stage, the iteration and the index") {
    m.stage(out, {i}, left);
    interp::Arguments args{ramp(i32, {4}), Array::zeros(i32, {4})};
    CHECK_THROWS_WITH_AS(interp::run_algorithm(m.p, args), "stage `out` at i = 0 reads in[-1], outside its extents [4]",
                         RunError);
  }
}

TEST_CASE("reading a stage outside its stated domain is reported") {
  Maker m;
  const Expr N = m.symbol("N");
  const ir::Id out = m.output("out", i32, {N}), t = m.temporary("t", i32, 1);
  const ir::IterVar ti = m.spatial("i", N), i = m.spatial("i", N);
  m.stage(t, {ti}, ir::cast(i32, Maker::of(ti)));
  m.stage(out, {i}, m.at(t, {ir::add(Maker::of(i), ir::index(1))}));
  interp::Arguments args{Array::zeros(i32, {3})};
  CHECK_THROWS_WITH_AS(interp::run_algorithm(m.p, args), "stage `out` at i = 2 reads t[3], outside its domain [0, 3)",
                       RunError);
}

TEST_CASE("reductions: minimum of a triangle, with the domain of k depending on i") {
  Maker m;
  const Expr N = m.symbol("N");
  const ir::Id in = m.input("in", f32, {N}), out = m.output("out", f32, {N});
  const ir::IterVar i = m.spatial("i", N);
  const ir::IterVar k = m.iter("k", ir::IterKind::reduce, ir::index(0), ir::add(Maker::of(i), ir::index(1)));
  m.stage(out, {i, k}, m.at(in, {Maker::of(k)}), ir::ReducerKind::minimum, ir::float_const(f32, INFINITY));
  interp::Arguments args{ramp(f32, {9}), Array::zeros(f32, {9})};
  interp::run_algorithm(m.p, args);
  double least = INFINITY;
  for (std::int64_t x = 0; x < 9; ++x) {
    least = std::min(least, args[0].array.real({x}));
    CHECK(args[1].array.real({x}) == least);
  }
}

TEST_CASE("symbols are solved from derived extents and checked everywhere") {
  Maker m;
  const Expr N = m.symbol("N", 1);
  const ir::Id x = m.input("x", f32, {ir::add(N, ir::index(4))}), y = m.output("y", f32, {N});
  const ir::IterVar i = m.spatial("i", N);
  m.stage(y, {i}, m.at(x, {ir::add(Maker::of(i), ir::index(4))}));
  interp::Arguments good{ramp(f32, {10}), Array::zeros(f32, {6})};
  interp::run_algorithm(m.p, good);
  CHECK(good[1].array.real({5}) == good[0].array.real({9}));
  interp::Arguments wrong{ramp(f32, {10}), Array::zeros(f32, {5})};
  CHECK_THROWS_WITH_AS(interp::run_algorithm(m.p, wrong), "y, dimension 0: expected extent 6, found 5", RunError);
  interp::Arguments fact{ramp(f32, {4}), Array::zeros(f32, {0})};
  CHECK_THROWS_WITH_AS(interp::run_algorithm(m.p, fact), "the symbol N is 0, which contradicts its declaration", RunError);
  interp::Arguments type{ramp(i32, {4}), Array::zeros(f32, {0})};
  CHECK_THROWS_WITH_AS(interp::run_algorithm(m.p, type), "x: expected elements of f32, found i32", RunError);
}

TEST_CASE("in_range is checked") {
  Maker m;
  const Expr N = m.symbol("N");
  const ir::Id at = m.input("at", i32, {N}), out = m.output("out", i32, {N});
  const ir::IterVar i = m.spatial("i", N);
  const Expr limits[3] = {ir::cast(ir::index_type, m.at(at, {Maker::of(i)})), ir::index(0), N};
  m.stage(out, {i}, m.at(at, {ir::make(ir::Op::in_range, ir::index_type, limits)}));
  interp::Arguments args{Array::make(i32, {3}, [](auto p) { return p[0] == 2 ? 7.0 : 1.0; }), Array::zeros(i32, {3})};
  CHECK_THROWS_WITH_AS(interp::run_algorithm(m.p, args), "stage `out` at i = 2: in_range promised [0, 3), found 7", RunError);
}

TEST_CASE("differences between arrays") {
  Array a = Array::zeros(f32, {2, 2}), b = a;
  CHECK(interp::difference(a, b) == "");
  b.set(std::vector<std::int64_t>{1, 0}, ir::float_value(f32, 1e-7));
  CHECK(interp::difference(a, b) == "[1, 0]: 0, expected 1e-07; 1 of 4 differ");
  CHECK(interp::difference(a, b, 0, 1e-6) == "");
}
