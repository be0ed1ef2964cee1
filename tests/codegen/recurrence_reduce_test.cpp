// Steps that reduce over all earlier ones, compiled: bit for bit what the interpreter says of the same program, under schedules
// that keep the order of sums and under those that regroup them.
#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/recurrence_solves.h"
#include "tests/uses/tensors.h"

using namespace ashlar;

namespace {

ashlar_tensor tensor_of(interp::Array& a) {
  ashlar_tensor t{};
  t.data = a.bytes.data(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(a.shape.size());
  t.type_code = a.type.is_float() ? 2 : 0, t.type_bits = static_cast<std::uint8_t>(a.type.bits), t.type_lanes = 1;
  t.shape = a.shape.data();
  return t;
}

// `ordered`: terms keep their order, so that results are those of the plain loops.
void check(const char* name, void (*schedule)(Schedule&, const solves::Made&), bool ordered = false) {
  CAPTURE(std::string(name));
  const solves::Problem& problem = solves::named(name);
  for (const Target& target : kernels::runnable({"host"})) {
    solves::Made made(problem);
    Schedule s(made.built, target);
    schedule(s, made);
    schedule::finish(s.scheduled(), target);
    const ir::Program& p = s.scheduled().program;
    const codegen::Compiled code = codegen::compile(lower(p, options_for(target)), target);
    for (int n : {0, 1, 2, 7, 33, 70}) {
      CAPTURE(n);
      interp::Arguments found = solves::arguments(problem, n), expected = found, tree = found;
      interp::run_algorithm(p, expected);
      if (n <= 33) {
        interp::run(p, tree);
        CHECK(interp::difference(tree.back().array, expected.back().array) == "");
      }
      std::vector<ashlar_tensor> tensors;
      for (auto& a : found) tensors.push_back(tensor_of(a.array));
      std::vector<const void*> arguments;
      for (const ashlar_tensor& t : tensors) arguments.push_back(&t);
      REQUIRE(code.call(arguments) == ASHLAR_OK);
      CHECK(interp::difference(found.back().array, expected.back().array) == "");
      if (ordered || p.stages.size() == made.built.program.stages.size())
        CHECK(interp::difference(found.back().array, solves::expected(problem, n)) == "");
    }
  }
}

// A reduction in lanes of its own.
void in_lanes(const Stage& reduction, Loop point, int lanes) {
  const auto [ko, ki] = reduction.split(reduction.reduction(), lanes);
  const Stage part = reduction.rfactor(ki);
  part.compute_at(point).store_in(Scope::stack);
  const std::vector<Loop> loops = part.nest();
  part.reorder(part.reduction(), loops[loops.size() - 2]).vectorize(part.nest().back());
}

// The terms of earlier blocks of `steps`, which x runs along, computed for the points of a block at once, along `lanes`.
void ahead_of_blocks(const Stage& x, const Stage& sum, Loop steps, int block, std::size_t lanes, Scope in = Scope::stack) {
  const Split split = x.split(steps, block);
  const Stage before = sum.cut(sum.reduction(), split.outer);
  before.compute_at(split.outer).store_in(in);
  const Loop lane = before.split(before.nest()[lanes], block).inner;
  before.reorder(before.reduction(), lane).vectorize(lane);
}

}  // namespace

TEST_CASE("steps that reduce over earlier ones, as they are defined") {
  for (const solves::Problem& p : solves::all()) check(p.name, [](Schedule&, const solves::Made&) {});
}

TEST_CASE("a triangular solve: sums of many right-hand sides in registers") {
  check("forward", [](Schedule& s, const solves::Made& m) {
    const Stage x = s[m.result], sum = x.inside();
    auto [t, r] = sum.spatial<2>();
    auto [ro, ri] = sum.split(r, 16);
    auto [half, lane] = sum.split(ri, 8, Tail::exact);
    sum.reorder(ro, sum.reduction(), half, lane).unroll(half).vectorize(lane);
    sum.peel(ro, Peel::last);
    x.vectorize(x.spatial<2>()[1], 8);
    (void)t;
  });
  check("forward", [](Schedule& s, const solves::Made& m) {  // pieces of them on workers, each through all steps
    const Stage x = s[m.result], sum = x.inside();
    auto [t, r] = x.spatial<2>();
    auto [ro, ri] = x.split(r, 16);
    sum.compute_at(ri);
    x.reorder(ro, t, ri);
    sum.compute_at(t);
    x.parallel(ro).vectorize(ri, 8);
    auto [st, sr] = sum.spatial<2>();
    sum.reorder(sum.reduction(), sr).vectorize(sr, 8);
    (void)st;
  });
}

TEST_CASE("terms over earlier steps in lanes") {
  check("backward", [](Schedule& s, const solves::Made& m) {
    const Stage sum = s[m.result].inside();
    in_lanes(sum, sum.spatial<1>()[0], 8);
  });
  check("increasing", [](Schedule& s, const solves::Made& m) {
    const Stage sum = s[m.result].inside();
    in_lanes(sum, sum.spatial<1>()[0], 16);
  });
  check("cholesky", [](Schedule& s, const solves::Made& m) {
    const Stage pivots = s[m.result].inside("L_sum"), sums = s[m.result].inside("L_sum2");
    in_lanes(pivots, pivots.spatial<1>()[0], 4);
    in_lanes(sums, sums.spatial<2>()[1], 4);
  });
  check("chain", [](Schedule& s, const solves::Made& m) {
    const Stage best = s[m.result].inside();
    in_lanes(best, best.spatial<2>()[1], 8);
  });
}

TEST_CASE("a table by its diagonals: cells of one in lanes") {
  check("chain_by_length", [](Schedule& s, const solves::Made& m) {
    const Stage best = s[m.result].inside();
    auto [d, i] = best.spatial<2>();
    auto [io, ii] = best.split(i, 8);
    best.reorder(io, best.reduction(), ii).vectorize(ii);
    (void)d;
  });
}

TEST_CASE("the sums over earlier blocks of steps, computed for a block of points at once") {
  check(
      "chain",  // rows from the last one up, columns to the right
      [](Schedule& s, const solves::Made& m) {
        const Stage x = s[m.result];
        ahead_of_blocks(x, x.inside(), x.spatial<2>()[1], 8, 1);
      },
      true);
  check(
      "lu",
      [](Schedule& s, const solves::Made& m) {
        const Stage x = s[m.result];
        ahead_of_blocks(x, x.inside(), x.spatial<2>()[1], 16, 1);
      },
      true);
  check(
      "increasing",
      [](Schedule& s, const solves::Made& m) {
        const Stage x = s[m.result];
        ahead_of_blocks(x, x.inside(), x.spatial<1>()[0], 8, 0);
      },
      true);
  check(
      "cholesky",
      [](Schedule& s, const solves::Made& m) {
        const Stage x = s[m.result];
        ahead_of_blocks(x, x.inside("L_sum2"), x.spatial<2>()[1], 4, 1, Scope::global);
      },
      true);
  check("backward", [](Schedule& s, const solves::Made& m) {  // the last terms first
    const Stage x = s[m.result], sum = x.inside();
    const Loop blocks = x.split(x.spatial<1>()[0], 8).outer;
    sum.cut(sum.reduction(), blocks).compute_at(blocks).store_in(Scope::stack);
  });
}

TEST_CASE("a block of steps in smaller ones, each with what stands before it") {
  for (const char* name : {"chain", "lu"})
    check(
        name,
        [](Schedule& s, const solves::Made& m) {
          const Stage x = s[m.result], sum = x.inside();
          const Split blocks = x.split(x.spatial<2>()[1], 8);
          const Stage far = sum.cut(sum.reduction(), blocks.outer);
          far.compute_at(blocks.outer).store_in(Scope::stack);
          const Split four = x.split(blocks.inner, 4, Tail::exact);
          const Stage near = sum.cut(sum.reduction(), four.outer);
          near.compute_at(four.outer).store_in(Scope::stack);
          for (const Stage& part : {far, near}) {
            const Loop lane = part.split(part.spatial<2>()[1], 4).inner;
            part.reorder(part.reduction(), lane).vectorize(lane);
          }
        },
        true);
}
