// Refused steps, applied without their proofs: the interpreter sees what the refusal speaks of.
#include "programs.h"

#include <ashlar/ir/refusal.h>

#include "schedule/force.h"

namespace ashlar::test {

namespace {

using schedule::Arg;

// What running the program shows, after a step that is refused for `owed`.
std::string seen(const Schedule& s, const lang::Built& built, const char* primitive, std::vector<Arg> args,
                 schedule::Obligation owed, const std::vector<std::vector<std::int64_t>>& shapes) {
  schedule::Step step;
  step.primitive = primitive;
  step.args = std::move(args);
  schedule::Scheduled state = s.scheduled();
  try {
    schedule::apply(state, step, s.target());
    FAIL_CHECK("the step was not refused");
  } catch (const RefusalError& e) {
    CHECK(e.refusal.primitive == (step.primitive == "set_layout" ? "transform_layout" : step.primitive));
  }
  const schedule::Forced forced = schedule::force(s.scheduled(), step, s.target());
  REQUIRE(!forced.unproved_obligations.empty());
  CHECK(std::string(schedule::name_of(forced.unproved_obligations.front().owed)) == schedule::name_of(owed));
  interp::Arguments found;
  for (std::size_t k = 0; k < shapes.size(); ++k)
    found.emplace_back(
        interp::Array::make(built.program.buffer(built.program.arguments[k].id).type, shapes[k],
                            [](std::span<const std::int64_t> at) { return at.empty() ? 0 : static_cast<double>(at[0] + 1); }));
  try {
    interp::run(forced.state.program, found, {.races = true, .layouts = true});
  } catch (const interp::RunError& e) { return e.what(); }
  return "nothing";
}

Arg loop(const Loop& l) { return Arg::loop(l.id()); }
Arg stage(const Stage& s) { return Arg::stage(s.id()); }

bool contains(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

}  // namespace

TEST_CASE("two iterations of a reduction meet in one element") {
  Product t;
  const std::string text = seen(t.s, t.built, "parallel", {loop(t.s[t.product].reduction())}, schedule::Obligation::disjoint,
                                {{2, 3}, {3, 4}, {4}, {2, 4}});
  CHECK(contains(text, "reads product[0, 0] at k = 1, while k = 0, which runs at the same time, touches it"));
}

TEST_CASE("a tail that is not there") {
  Product t;
  const Loop i = t.s[t.product].spatial<2>()[0];
  const std::string text = seen(t.s, t.built, "split", {loop(i), Arg::integer(4), Arg::text("exact")},
                                schedule::Obligation::overcompute, {{6, 3}, {3, 4}, {4}, {6, 4}});
  CHECK(contains(text, "leaves a split that was proved exact"));
}

TEST_CASE("a reader outside of the loop") {
  Blur b;
  Stage again = b.s.cache_read(b.in, {b.across}, Scope::global);
  const Loop row = b.s[b.across].spatial<2>()[0];
  again.compute_at(row);
  const std::string text =
      seen(b.s, b.built, "store_at", {stage(b.s[b.across]), loop(row)}, schedule::Obligation::cover, {{5, 4}, {5, 4}});
  CHECK(contains(text, "reads across where it is not stored"));
}

TEST_CASE("a ring that is too short, a layout that is no bijection") {
  Blur b;
  const Loop row = b.s[b.out].spatial<2>()[0];
  b.s[b.across].compute_at(row);
  const Stage across = b.s[b.across];
  CHECK(contains(seen(b.s, b.built, "fold", {stage(across), Arg::integer(0), Arg::integer(2)}, schedule::Obligation::capacity,
                      {{5, 4}, {5, 4}}),
                 "whose storage now holds another point"));
  const std::vector<Expr> map{ir::add(ir::var(1, "r"), ir::var(2, "c"))};
  CHECK(contains(
      seen(b.s, b.built, "set_layout", {stage(across), Arg::map({1, 2}, map)}, schedule::Obligation::biject, {{5, 4}, {5, 4}}),
      "over another element, by a layout that has a place for each"));
}

TEST_CASE("lanes that run other loops") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", i32, {4}), y = lang::make_output("y", i32, {4});
  const Tensor below = compute("below", {4}, [&](Var i) {
    Axis k("k", 0, i + 1);
    return sum(x(k), k);
  });
  lang::bind(y, below);
  const lang::Built built = lang::build_program("p", {x, y});
  Schedule s(built, Target::parse("x86-64"));
  CHECK(contains(seen(s, built, "vectorize", {loop(s[below].spatial<1>()[0])}, schedule::Obligation::capacity, {{4}, {4}}),
                 "lanes i0 = 0 and i0 = 1 run other iterations of the loops inside"));
}

TEST_CASE("what is legal shows no conflict") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  auto [jo, ji] = t.s[t.product].split(j, 4);
  t.s[t.product].vectorize(ji).parallel(i);
  interp::Arguments args;
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{5, 3}, {3, 7}, {7}, {5, 7}})
    args.emplace_back(interp::Array::zeros(f32, shape));
  CHECK_NOTHROW(interp::run(t.s.scheduled().program, args,
                            {.parallel_order = interp::Options::Order::shuffled, .races = true, .layouts = true}));
}

TEST_CASE("a window slides along a loop that is unrolled") {
  lang::DefinitionScope scope;
  const Symbol H("H", {.multiple_of = 4});
  const Tensor in = lang::make_input("in", i32, {H}), out = lang::make_output("out", i32, {H});
  const Tensor wide = boundary::repeat(in);
  const Tensor twice = compute("twice", [&](Var y) { return wide(y) * 2; });
  lang::bind(out, compute("out", {{"y", H}}, [&](Var y) { return twice(y - 1) + twice(y) + twice(y + 1); }));
  const lang::Built built = lang::build_program("p", {in, out});
  Schedule s(built, Target::parse("x86-64"));
  auto [yo, yi] = s[out].split(s[out].spatial<1>()[0], 4, Tail::exact);
  s[twice].store_at(yo).compute_at(yi).slide(yi).fold(0, 4);
  s[out].unroll(yi);
  for (const std::int64_t h : {0, 4, 12}) means_the_same(built.program, s, {{h}, {h}});
  interp::Arguments args{interp::Array::zeros(i32, {12}), interp::Array::zeros(i32, {12})};
  const interp::Counters n = interp::run(s.scheduled().program, args);
  for (const auto& [id, stage] : s.scheduled().program.stages)
    if (stage.name == "twice") CHECK(n.evaluations.at(id) == 3 * 6);  // each of a tile's 6 once
}

}  // namespace ashlar::test
