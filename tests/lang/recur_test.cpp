// Recurrences and scans: what they mean, both ways through the interpreter, and what is refused when they are defined.
#include <cstring>

#include <ashlar/analysis/verify.h>
#include <ashlar/ir/print.h>

#include "tests/support/refused.h"
#include "run.h"
#include "tests/support/recurrence_operators.h"

using namespace ashlar;
using interp::Array;

namespace {

interp::Arguments actual(const recurrences::Operator& o, int R, int T) {
  const std::vector<int> x = recurrences::input(R, T);
  interp::Arguments a;
  a.emplace_back(Array::make(i32, {R, T}, [&](std::span<const std::int64_t> at) {
    return static_cast<double>(x[static_cast<std::size_t>(at[0] * T + at[1])]);
  }));
  for (int k = 0; k < o.outputs; ++k) a.emplace_back(Array::zeros(i32, {R, T}));
  return a;
}

void check(const recurrences::Operator& o, bool apart) {
  recurrences::Made made(o, apart);
  ir::Program tree = made.built.program;
  analysis::derive_regions(tree);
  analysis::verify(tree);
  for (const auto& [R, T] : recurrences::shapes()) {
    CAPTURE(o.name);
    CAPTURE(R);
    CAPTURE(T);
    const auto expected = recurrences::expected(o, R, T, apart);
    interp::Arguments algorithm = actual(o, R, T), scheduled = algorithm;
    interp::run_algorithm(made.built.program, algorithm);
    interp::run(tree, scheduled);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const std::size_t bytes = expected[k].size() * sizeof(int);
      REQUIRE(algorithm[k + 1].array.bytes.size() == bytes);
      if (bytes == 0) continue;
      CHECK(std::memcmp(algorithm[k + 1].array.bytes.data(), expected[k].data(), bytes) == 0);
      CHECK(std::memcmp(scheduled[k + 1].array.bytes.data(), expected[k].data(), bytes) == 0);
    }
  }
}

struct Some {
  lang::DefinitionScope scope;
  Symbol R{"R"}, T{"T"};
  Tensor x = lang::make_input("x", f32, {R, T});
  // A recurrence along t whose step is `step`.
  template <class F>
  Refusal with(F step, Along along = Along{1}, Lag lag = Lag{1}) {
    return refusal([&] { recur("y", {{"r", R}, {"t", T}}, along, lag, [&](Var r, Var t) { return x(r, t); }, step); });
  }
};

}  // namespace

TEST_CASE("recurrences and scans compute what plain loops do") {
  for (const recurrences::Operator& o : recurrences::all()) {
    check(o, false);
    check(o, true);
  }
}

TEST_CASE("mean and squared deviations, online, as a state of three values of different types") {
  lang::DefinitionScope scope;
  Symbol T{"T"};
  const Tensor x = lang::make_input("x", f32, {T}), out = lang::make_output("out", f32, {T});
  const auto [n, mean, m2] = recur(
      "moments", {T}, Along{0}, Lag{1}, [&](Var t) { return values(i32(1), x(t), f32(0)); },
      [&](Prior y, Var t) {
        const Expr count = y[0](t - 1) + 1, d = x(t) - y[1](t - 1), next = y[1](t - 1) + d / f32(count);
        return values(count, next, y[2](t - 1) + d * (x(t) - next));
      });
  lang::bind(out, compute("out", {T}, [&](Var t) { return mean(t) * 1000 + m2(t) + f32(n(t)) * 100; }));
  const auto got = run({x, out}, {counting(f32, {4}), Array::zeros(f32, {4})});
  CHECK(got == std::vector<double>{1100, 1700.5, 2302, 2905});
}

TEST_CASE("a scan begins with the identity, goes either way, and takes bits and bools") {
  lang::DefinitionScope scope;
  Symbol T{"T"};
  const Tensor x = lang::make_input("x", i32, {T});
  const auto value = [&](const Tensor& t) {
    const Tensor to = lang::make_output("to", i32, {T});
    lang::bind(to, t);
    return run({x, to}, {counting(i32, {4}), Array::zeros(i32, {4})});
  };
  const auto id = [&](Var t) { return x(t); };
  using Row = std::vector<double>;
  CHECK(value(scan("s", {T}, Along{0}, Combine::add, id)) == Row{1, 3, 6, 10});
  CHECK(value(scan("s", {T}, Along{0}, Combine::add, id, Scan::exclusive)) == Row{0, 1, 3, 6});
  CHECK(value(scan("s", {T}, Along{0}.backwards(), Combine::add, id)) == Row{10, 9, 7, 4});
  CHECK(value(scan("s", {T}, Along{0}.backwards(), Combine::add, id, Scan::exclusive)) == Row{9, 7, 4, 0});
  CHECK(value(scan("s", {T}, Along{0}, Combine::multiply, id, Scan::exclusive)) == Row{1, 1, 2, 6});
  CHECK(value(scan("s", {T}, Along{0}, Combine::min, id)) == Row{1, 1, 1, 1});
  CHECK(value(scan("s", {T}, Along{0}, Combine::bit_or, id)) == Row{1, 3, 3, 7});
  CHECK(value(scan("s", {T}, Along{0}, Combine::bit_and, id, Scan::exclusive)) == Row{-1, 1, 0, 0});
  CHECK(value(scan("s", {T}, Along{0}, Combine::bit_xor, id)) == Row{1, 3, 0, 4});
  const Tensor any = scan("any", {T}, Along{0}, Combine::bit_or, [&](Var t) { return x(t) == 2; });
  CHECK(any.type() == bool_);
  CHECK(value(compute("n", {T}, [&](Var t) { return i32(any(t)); })) == Row{0, 1, 1, 1});
}

TEST_CASE("a step reads elements before it, along the dimensions it runs along") {
  Some s;
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t); }).text().find("of the same step") != std::string::npos);
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r - 1, t); }).found == "y[r - 1, t], of the same step");
  const Refusal later = s.with([&](Prior y, Var r, Var t) { return y(r, t + 1); });
  CHECK(later.expected == "elements of steps before, along t");
  CHECK(later.found == "y[r, t + 1], of a later step");
  CHECK(later.conflict == "t = t + 1 is computed after t");
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t - 1); }, Along{1}.backwards()).found ==
        "y[r, t - 1], of a later step");
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t / 2); }).expected ==
        "an earlier step along t, as t - 1 or k of Axis k{\"k\", t}");
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t - 1, 0); }).found == "3");
  CHECK(s.with([&](Prior y, Var r, Var t) { return y[1](r, t - 1); }).found == "1");
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t - 1) > 0; }).text().find("f32") != std::string::npos);
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t - 1); }, Along{2}).found == "Along 2");
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t - 1); }, Along{1, 1}).found == "1 twice");
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t + 1); }, Along{1}.backwards(0))
            .text()
            .find("expected backwards(d) of a dimension to run along, found backwards(0)") != std::string::npos);
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t - 1); }, Along{1}, Lag{0}).found == "0");
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r, t - 1); }, Along{1}, Lag{1, 1}).found == "2");
  // Where an earlier dimension has moved, the others may be anywhere.
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(s.R - 1 - r, t - 1); }).expected.empty());
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r - 1, t + 3); }, Along{0, 1}).expected.empty());
  CHECK(s.with([&](Prior y, Var r, Var t) { return y(r - 1, t + 3); }, Along{1, 0}).found ==
        "y[r - 1, t + 3], of a later step");
}

TEST_CASE("the state of several values is read by component, at the user's line") {
  Some s;
  const Refusal found = refusal([&] {
    recur(
        "y", {s.R, s.T}, Along{1}, Lag{1}, [&](Var, Var) { return values(f32(0), f32(1)); },
        [&](Prior y, Var r, Var t) { return values(y(r, t - 1), y[1](r, t - 1)); });
  });
  CHECK(found.expected == "a component of the state, as in y[0](…)");
  CHECK(std::string(found.where.file_name()).find("recur_test.cpp") != std::string::npos);
}

TEST_CASE("the tree of a recurrence runs along its order where a plain dimension would break it") {
  recurrences::Made diffusion(recurrences::named("diffusion")), smooth(recurrences::named("smooth"));
  const auto outermost = [](const recurrences::Made& m) {
    const ir::Stmt& nest = m.built.program.body.front();
    return m.built.program.axis(nest.body().front().get<ir::LoopStmt>().axis).name;
  };
  CHECK(outermost(smooth) == "r");
  CHECK(outermost(diffusion) == "t");
  CHECK(ir::text(smooth.built.program).find("along t: ") != std::string::npos);
}
