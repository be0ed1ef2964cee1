// Steps that reduce over all earlier ones: what they compute, both ways through the interpreter, and what is refused.
#include <ashlar/analysis/verify.h>
#include <ashlar/ir/recurrence.h>

#include "tests/support/refused.h"
#include "run.h"
#include "tests/support/recurrence_solves.h"

using namespace ashlar;

namespace {

struct Some {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor b = lang::make_input("b", f32, {N}), L = lang::make_input("L", f32, {N, N});
  template <class F>
  Refusal with(F step, Along along = Along{0}, Lag lag = Lag{0}) {
    return refusal([&] {
      const Tensor out = lang::make_output("out", f32, {N});
      lang::bind(out, recur("x", {{"t", N}}, along, lag, [&](Var t) { return b(t); }, step));
      lang::build_program("p", {b, L, out});
    });
  }
  template <class F>
  Refusal of_table(F step, Along along) {
    return refusal([&] {
      const Tensor table = lang::make_output("out", f32, {N, N});
      lang::bind(table, recur("m", {{"i", N}, {"j", N}}, along, Lag{0}, [&](Var, Var) { return f32(0); }, step));
      lang::build_program("p", {b, L, table});
    });
  }
};

}  // namespace

TEST_CASE("steps that reduce over earlier ones compute what plain loops do") {
  for (const solves::Problem& problem : solves::all()) {
    CAPTURE(problem.name);
    solves::Made made(problem);
    ir::Program tree = made.built.program;
    analysis::derive_regions(tree);
    analysis::verify(tree);
    for (int n : {0, 1, 2, 5, 8}) {
      CAPTURE(n);
      interp::Arguments algorithm = solves::arguments(problem, n), scheduled = algorithm;
      interp::run_algorithm(made.built.program, algorithm);
      REQUIRE_NOTHROW(interp::run(tree, scheduled));
      const interp::Array expected = solves::expected(problem, n);
      CHECK(interp::difference(algorithm.back().array, expected) == "");
      CHECK(interp::difference(scheduled.back().array, expected) == "");
    }
  }
}

TEST_CASE("a reduction in a step is a stage over the Vars that it uses, once where it is written twice") {
  solves::Made m(solves::named("cholesky"));
  const ir::Program& p = m.built.program;
  const ir::Stage& l = p.stage(m.built.stage_of.at(m.result.id()));
  std::map<std::string, std::size_t> ranks;
  for (ir::Id id : ir::stages_inside(p, l)) ranks[p.stage(id).name] = p.stage(id).iters.size();
  CHECK(ranks == std::map<std::string, std::size_t>{{"L_sum", 2}, {"L_sum2", 3}});  // with the reduction's own
  for (const ir::SelfRead& r : ir::self_reads(p, l)) {
    CHECK(!r.back[1]);
    CHECK(r.least[1] == 1);
  }
}

TEST_CASE("a lag that gives all elements leaves no step to reduce in") {
  lang::DefinitionScope scope;
  const Tensor b = lang::make_input("b", f32, {2, 3}), out = lang::make_output("out", f32, {2, 3});
  const Axis k{"k", 3};
  lang::bind(out, recur(
                      "x", {{"t", 2}, {"i", 3}}, Along{0}, Lag{3}, [&](Var t, Var i) { return b(t, i) + 1; },
                      [&](Prior x, Var t, Var i) { return sum(x(t - 3, k) * b(0, k), k) + b(t, i); }));
  const lang::Built built = lang::build_program("p", {b, out});
  ir::Program tree = built.program;
  analysis::derive_regions(tree);
  analysis::verify(tree);
  interp::Arguments a{interp::Array::make(f32, {2, 3}, [](auto at) { return static_cast<double>(at[0] * 3 + at[1]); }),
                      interp::Array::zeros(f32, {2, 3})};
  REQUIRE_NOTHROW(interp::run(tree, a));
  const interp::Array expected =
      interp::Array::make(f32, {2, 3}, [](auto at) { return static_cast<double>(at[0] * 3 + at[1] + 1); });
  CHECK(interp::difference(a.back().array, expected) == "");
}

TEST_CASE("what a step reduces over lies before it, or is refused with a point") {
  Some s;
  const auto upto = [&](auto&& end) {
    return s.with([&](Prior x, Var t) {
      const Axis k{"k", end(t)};
      return s.b(t) - sum(s.L(t, k) * x(k), k);
    });
  };
  CHECK(upto([](Var t) { return Expr(t); }).expected.empty());
  CHECK(upto([](Var t) { return t - 3; }).expected.empty());
  const Refusal same = upto([](Var t) { return t + 1; });
  CHECK(same.expected == "elements of steps before, along t");
  CHECK(same.found == "x[k], which may be of the same step");
  CHECK(same.conflict == "x[0] reads x[0], of the same step");
  CHECK(std::string(same.where.file_name()).find("recur_reduce_test.cpp") != std::string::npos);
  const Refusal later = upto([&](Var) { return Expr(s.N); });
  CHECK(later.found == "k in x[k], which is not known to be one");
  CHECK(later.expected.find("an earlier step along t, as t - 1 or k of Axis k{\"k\", t}") != std::string::npos);
  CHECK(later.conflict == "x[0] reads x[0], of the same step");
}

TEST_CASE("bounds, conditions of an axis and of a select show that an element lies before") {
  Some s;
  const auto sums = [&](auto&& f) { return s.with([&](Prior x, Var t) { return f(x, t); }); };
  CHECK(sums([&](Prior x, Var t) {
          const Axis k{"k", s.N};
          return sum(x(k), k.where(k < t)) + 0;
        }).expected.empty());
  CHECK(sums([&](Prior x, Var t) {
          const Axis k{"k", s.N};
          return sum(select(k < t, x(k), 0), k) + 0;
        }).expected.empty());
  CHECK(sums([&](Prior x, Var t) {
          const Axis k{"k", s.N};
          return sum(select(k <= t, x(k), 0), k) + 0;
        }).conflict == "x[0] reads x[0], of the same step");
  CHECK(sums([&](Prior x, Var t) {  // the bounds of the terms say nothing of the init
          const Axis k{"k", t};
          return sum(x(k), k).from(x(0)) + 0;
        })
            .conflict == "x[0] reads x[0], of the same step");
  CHECK(sums([&](Prior x, Var t) { return select(t > 0, x(clamp(t / 2, 0, t - 1)), 0); }).expected.empty());
  CHECK(sums([&](Prior x, Var t) { return select(t > 0, x(in_range(i32(s.b(t)), 0, t)), 0); }).expected.empty());
  CHECK(s.with([&](Prior x, Var t) { return select(t < 5, x(t + 1), 0); }, Along{0}.backwards()).found ==
        "0");  // nothing says that t + 1 is there
  CHECK(s.with([&](Prior x, Var t) { return select(t < s.N - 1, x(t + 1), 0); }, Along{0}.backwards()).expected.empty());
}

TEST_CASE("a stage inside is computed for a box, whatever condition it is read under") {
  Some s;
  const auto rows = [&](Along along) {
    return s.of_table(
        [&](Prior m, Var i, Var j) {
          const Axis k{"k", j};
          return select(j <= i, s.L(i, j) - sum(m(i, k) * m(j, k), k), 0);
        },
        along);
  };
  CHECK(rows(Along{1}).expected.empty());
  CHECK(rows(Along{1, 0}).expected.empty());
  CHECK(rows(Along{0, 1}).conflict == "m[0, 1] reads m[1, 0], of a later step");
  // The diagonal of the same column: a condition around the read itself.
  const auto pivots = [&](Along along) {
    return s.of_table([&](Prior m, Var i, Var j) { return select(i > j, s.L(i, j) / m(j, j), s.L(i, j)); }, along);
  };
  CHECK(pivots(Along{0, 1}).expected.empty());
  CHECK(pivots(Along{1, 0}).expected.empty());
  CHECK(pivots(Along{1}).found == "m[j, j], of the same step");
}

TEST_CASE("only a step reduces where it stands, over its own Vars") {
  Some s;
  const Axis k{"k", s.N};
  const auto plain = [&] { return compute("y", {s.N}, [&](Var i) { return sum(s.L(i, k), k) + s.b(i); }); };
  const Refusal found = refusal(plain);
  CHECK(found.expected ==
        "a name for it, since a reduction is a whole stage: compute(\"total\", ...), and total(...) in its place");
  CHECK(std::string(found.where.file_name()).find("recur_reduce_test.cpp") != std::string::npos);
  CHECK(s.with([&](Prior x, Var t) {
           const Tensor y = compute("y", {s.N}, [&](Var i) { return sum(s.L(i, k), k) + s.b(i); });
           return y(t) + select(t > 0, x(t - 1), 0);
         }).found == "a reduction as a part of a value");
  CHECK(refusal(plain).found == "a reduction as a part of a value");  // after a step that was refused
}
