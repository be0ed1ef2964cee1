// Stages of a step that read earlier steps: computed between the steps of their recurrence.
#include <cstring>

#include <ashlar/analysis/verify.h>
#include <ashlar/ir/recurrence.h>

#include "tests/support/refused.h"
#include "run.h"
#include "tests/support/recurrence_cells.h"

using namespace ashlar;
using interp::Array;

TEST_CASE("a step with stages of its own computes what plain loops do") {
  cells::Whole w;
  ir::Program tree = w.built.program;
  analysis::derive_regions(tree);
  analysis::verify(tree);
  for (const auto& [T, N] : {std::pair{0, 3}, {4, 0}, {1, 1}, {1, 5}, {6, 4}}) {
    CAPTURE(T);
    CAPTURE(N);
    std::vector<int> x, m;
    for (int i = 0; i < T * N; ++i) x.push_back(i * 7 % 11 - 5);
    for (int i = 0; i < N * N; ++i) m.push_back(i * 5 % 7 - 3);
    const auto of = [](const std::vector<int>& v, std::int64_t columns) {
      return [&v, columns](std::span<const std::int64_t> at) {
        return static_cast<double>(v[static_cast<std::size_t>(at[0] * columns + at[1])]);
      };
    };
    interp::Arguments algorithm;
    algorithm.emplace_back(Array::make(i32, {T, N}, of(x, N)));
    algorithm.emplace_back(Array::make(i32, {N, N}, of(m, N)));
    algorithm.emplace_back(Array::zeros(i32, {T, N}));
    interp::Arguments scheduled = algorithm;
    interp::run_algorithm(w.built.program, algorithm);
    interp::run(tree, scheduled);
    const std::vector<int> expected = cells::Whole::plain(x, m, T, N);
    if (expected.empty()) continue;
    CHECK(std::memcmp(algorithm[2].array.bytes.data(), expected.data(), expected.size() * 4) == 0);
    CHECK(std::memcmp(scheduled[2].array.bytes.data(), expected.data(), expected.size() * 4) == 0);
  }
}

TEST_CASE("what a recurrence reads of itself, it reads through the stages inside of it as well") {
  cells::Whole w;
  const ir::Program& p = w.built.program;
  const ir::Stage& y = p.stage(w.built.stage_of.at(w.y.id()));
  CHECK(ir::self_reads(y).empty());
  const auto reads = ir::self_reads(p, y);
  REQUIRE(reads.size() == 1);
  CHECK(reads[0].back == std::vector<std::optional<std::int64_t>>{1, std::nullopt});
  CHECK(ir::stages_inside(p, y).size() == 2);
}

TEST_CASE("such stages are read by their step alone, and read steps before") {
  lang::DefinitionScope scope;
  Symbol T{"T"};
  const Tensor x = lang::make_input("x", f32, {T}), out = lang::make_output("out", f32, {T}),
               more = lang::make_output("more", f32, {T});
  Tensor inside;
  const auto defined = [&](int back) {
    return recur(
        "y", {T}, Along{0}, Lag{1}, [&](Var t) { return x(t); },
        [&](Prior y, Var t) {
          inside = compute("inside", {T}, [&](Var s) { return select(s > 0, y(s - back), 0) + x(s); });
          return inside(t) + 1;
        });
  };
  lang::bind(out, defined(1));
  const Tensor other = compute("other", {T}, [&](Var t) { return inside(t); });
  lang::bind(more, other);
  const Refusal elsewhere = refusal([&] { lang::build_program("p", {x, out, more}); });
  CHECK(elsewhere.found == "inside, which is read elsewhere as well");
  CHECK(refusal([&] { lang::build_program("p", {x, more, out}); }).found == "inside, which is read elsewhere as well");
  const Tensor same = lang::make_output("same", f32, {T});
  lang::bind(same, defined(0));
  const Refusal found = refusal([&] { lang::build_program("p", {x, same}); });
  CHECK(found.found == "y[i0], of the same step");
}
