// What large programs cost to build, schedule, verify and lower, in counts. Twice the program is about twice the work; what
// shares its parts is as large as its nodes, however many ways lead through them.
#include "tests/support/growth_programs.h"

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>
#include <doctest/doctest.h>

#include <string>
#include <thread>

#include <ashlar/ir/work.h>

using namespace ashlar;

namespace {

struct Cost {
  std::uint64_t walked, simplified, proofs, sets, verified, text;
};

// In a thread of its own, which remembers no answers to the questions of programs before.
template <class F>
Cost alone(F&& f) {
  Cost c{};
  std::thread([&] {
    const std::size_t text = f();
    const ir::Work& w = ir::work;  // of this thread: it began at 0
    c = {w.walked, w.simplified, w.proofs, w.sets, w.verified, text};
  }).join();
  return c;
}

// Built, vectorized, printed, verified (after every step and pass) and lowered.
template <class O, class... A>
Cost cost(bool vectorized, A... a) {
  return alone([&] {
    O o(a...);
    Schedule s(o.build(), Target::parse("x86-64-v3"));
    if (vectorized) {
      auto [i] = s[o.stages.back()].template spatial<1>();
      s[o.stages.back()].vectorize(i, 8).parallel(i);
    }
    return s.text().size() + ir::text(lower(s.scheduled().program)).size();
  });
}

// From one size to the next: at most `most` times the work. Small counts may grow by a constant.
void grows(const std::string& what, std::uint64_t small, std::uint64_t large, double most) {
  CAPTURE(what);
  CAPTURE(small);
  CAPTURE(large);
  CHECK(static_cast<double>(large) <= most * static_cast<double>(small) + 64);
}
void grows(const Cost& small, const Cost& large, double most) {
  grows("nodes walked", small.walked, large.walked, most);
  grows("nodes simplified", small.simplified, large.simplified, most);
  grows("proofs", small.proofs, large.proofs, most);
  grows("questions to integer sets", small.sets, large.sets, most);
  grows("characters of text", small.text, large.text, most);
  CHECK(large.verified == small.verified);  // once a step and a pass, whatever the size
}

template <class O, class... A>
void doubles(bool vectorized, int small, A... a) {
  const Cost n = cost<O>(vectorized, small, a...), twice = cost<O>(vectorized, 2 * small, a...);
  grows(n, twice, 2.3);
  CHECK(twice.sets == 0);
}

// The kernel computes what the algorithm says.
template <class O, class... A>
void same(A... a) {
  O o(a...);
  const lang::Built built = o.build();
  for (const bool vectorized : {false, true}) {
    Schedule s(built, Target::parse("x86-64-v3"));
    if (vectorized) s[o.stages.back()].vectorize(s[o.stages.back()].template spatial<1>()[0], 8);
    const ir::Kernel kernel = lower(s.scheduled().program);
    for (const std::int64_t n : {1, 5, 16, 67}) {
      CAPTURE(n);
      interp::Arguments expected;
      expected.emplace_back(
          interp::Array::make(f32, {n}, [](std::span<const std::int64_t> i) { return static_cast<double>(i[0] * 7 % 61); }));
      expected.emplace_back(interp::Array::zeros(f32, {n}));
      interp::Arguments scheduled = expected, found = expected;
      interp::run_algorithm(built.program, expected);
      interp::run(s.scheduled().program, scheduled);
      interp::run(kernel, found);
      CHECK(interp::difference(scheduled[1].array, expected[1].array) == "");
      CHECK(interp::difference(found[1].array, expected[1].array) == "");
    }
  }
}

}  // namespace

TEST_CASE("a chain of 250, 500 and 1000 stages") {
  const Cost quarter = cost<growth::Chain>(true, 250), half = cost<growth::Chain>(true, 500),
             whole = cost<growth::Chain>(true, 1000);
  grows(quarter, half, 2.2);
  grows(half, whole, 2.2);
  CHECK(whole.sets == 0);
  CHECK(whole.walked < 1000 * 400);
  CHECK(whole.proofs < 1000 * 40);
}

TEST_CASE("a chain of stencils, whose domains follow from one another") { doubles<growth::Stencils>(false, 60); }

TEST_CASE("each step of a schedule costs as much as the program is long") {
  const auto step = [](int n, bool steps) {
    return alone([&] {
      growth::Chain o(n);
      Schedule s(o.build(), Target::parse("x86-64-v3"));
      if (!steps) return std::size_t{0};
      s[o.stages[0]].inline_();
      auto [i] = s[o.stages.back()].spatial<1>();
      s[o.stages[static_cast<std::size_t>(n) - 2]].compute_at(s[o.stages.back()].split(i, 16).outer);
      return std::size_t{0};
    });
  };
  grows(step(200, true), step(400, true), 2.3);
  CHECK(step(400, true).walked < 40 * step(400, false).walked);  // three steps
}

TEST_CASE("an expression 125, 250 and 500 deep") {
  const Cost quarter = cost<growth::Deep>(true, 125), half = cost<growth::Deep>(true, 250),
             whole = cost<growth::Deep>(true, 500);
  grows(quarter, half, 2.2);
  grows(half, whole, 2.2);
  CHECK(whole.walked < 500 * 400);
}

TEST_CASE("a nest of 3, 6 and 12 loops") {
  const auto nest = [](int loops) {
    return alone([&] {
      lang::DefinitionScope scope;
      Symbol M{"M"}, N{"N"}, K{"K"};
      Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N});
      Tensor C = lang::make_output("C", f32, {M, N});
      Axis k{"k", K};
      lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); }));
      Schedule s(lang::build_program("nest", {A, B, C}), Target::parse("x86-64-v3"));
      for (int split = 3; split < loops; ++split) {
        const std::vector<Loop> all = s[C].nest();
        s[C].split(all[static_cast<std::size_t>(split) * 5 % all.size()], 2);
      }
      if (static_cast<int>(s[C].nest().size()) != loops) throw InternalError("another number of loops");
      return ir::text(lower(s.scheduled().program)).size();
    });
  };
  const Cost three = nest(3), six = nest(6), twelve = nest(12);
  CHECK(three.verified < six.verified);  // each split is a step, and every step goes over all loops
  grows("nodes walked", three.walked, six.walked, 8), grows("nodes walked", six.walked, twelve.walked, 8);
  grows("proofs", three.proofs, six.proofs, 8), grows("proofs", six.proofs, twelve.proofs, 8);
  grows("characters of text", three.text, twelve.text, 12);
  CHECK(twelve.sets == 0);
  CHECK(twelve.proofs < 6000);
  CHECK(twelve.simplified < 100'000);
}

TEST_CASE("e + e, sixty times") { doubles<growth::Doubled>(true, 30); }
TEST_CASE("sixty choices by data, each between two uses of the one before") { doubles<growth::Choices>(true, 30, false); }
TEST_CASE("sixty choices by the index") { doubles<growth::Choices>(true, 30, true); }
TEST_CASE("an index chosen sixty times over") { doubles<growth::Positions>(false, 30); }
TEST_CASE("sums of an index and a bound on it") { doubles<growth::Sums>(false, 30); }
TEST_CASE("2^n i") { doubles<growth::Multiples>(false, 20, false); }
TEST_CASE("i to the 2^n") { doubles<growth::Multiples>(false, 30, true); }
TEST_CASE("conditions of conditions") { doubles<growth::Conditions>(true, 30); }
TEST_CASE("choices that guard what they read") { doubles<growth::Guarded>(false, 30); }

TEST_CASE("what is shared has the value that it has where it is written out") {
  same<growth::Doubled>(40);
  same<growth::Choices>(60, false);
  same<growth::Choices>(60, true);
  same<growth::Positions>(60);
  same<growth::Sums>(6);
  same<growth::Conditions>(60);
  same<growth::Guarded>(6);
  same<growth::Guarded>(60);
}

TEST_CASE("a read under many conditions of which one does not guard it is refused") {
  growth::Operator o;
  o.stages.push_back(compute("reads", {o.N}, [&](Var i) {
    const Expr next = o.x(i + 1);
    Expr e = select(i + 1 < o.N, next, 0.0f);
    for (int k = 2; k < 40; ++k) e = select(o.x(i) < static_cast<float>(k), select(i + k < o.N, next + e, e), e * 0.5f);
    return e + next;
  }));
  CHECK_THROWS_WITH_AS(Schedule(o.build(), Target::parse("x86-64-v3")), doctest::Contains("past its end N"), RefusalError);
}

TEST_CASE("derivatives of what is shared") {
  const auto derivative = [](int n) {
    return alone([&] {
      lang::DefinitionScope scope;
      Symbol N{"N", {.min = 1}};
      Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
      const Tensor e = compute("e", {N}, [&](Var i) {
        Expr a = x(i);
        for (int k = 0; k < n; ++k) a = select(x(i) < static_cast<float>(k), a * a, max(a, a * 0.5f));
        return a;
      });
      Axis k{"k", N};
      auto [d] = gradient(compute("loss", [&] { return sum(e(k), k); }), {x});
      lang::bind(y, d);
      Schedule s(lang::build_program("derivative", {x, y}), Target::parse("x86-64-v3"));
      return s.text().size() + ir::text(lower(s.scheduled().program)).size();
    });
  };
  grows(derivative(30), derivative(60), 2.3);
}
