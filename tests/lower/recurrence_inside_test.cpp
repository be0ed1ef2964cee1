// Recurrences whose step has stages of its own, lowered: the kernel computes what the definition says.
#include "check.h"

#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/support/recurrence_cells.h"

using namespace ashlar;

TEST_CASE("a cell with its products between the steps, in lanes and on workers") {
  cells::Lstm m;
  Schedule s(m.built, Target::parse("x86-64-v3"));
  auto [t, b, j] = s[m.h].spatial<3>();
  s[m.gates].compute_at(b);
  auto [gt, gb, g] = s[m.gates].spatial<3>();
  auto [go, gi] = s[m.gates].split(g, 8);
  s[m.gates].reorder(go, s[m.gates].reduction(), gi).vectorize(gi);
  s[m.h].vectorize(j, 4).parallel(b);
  schedule::finish(s.scheduled(), s.target());
  const ir::Program& p = s.scheduled().program;
  handmade::check_kernel(p, lower(p, options_for(s.target())),
                         {{{"T", 5}, {"B", 3}}, {{"T", 1}, {"B", 1}}, {{"T", 0}, {"B", 2}}, {{"T", 3}, {"B", 0}}});
}

TEST_CASE("tiles of steps, with what is between them in each") {
  cells::Whole w;
  Schedule s(w.built, Target::parse("x86-64-v3"));
  auto [t, j] = s[w.y].spatial<2>();
  s[w.y].split(t, 3);
  s[w.y].vectorize(j, 4);
  s[w.turned].inline_();
  auto [pt, pj] = s[w.product].spatial<2>();
  s[w.product].reorder(s[w.product].reduction(), pj).vectorize(pj, 4);
  schedule::finish(s.scheduled(), s.target());
  const ir::Program& p = s.scheduled().program;
  handmade::check_kernel(p, lower(p, options_for(s.target())),
                         {{{"T", 7}, {"N", 5}}, {{"T", 1}, {"N", 1}}, {{"T", 0}, {"N", 2}}, {{"T", 3}, {"N", 0}}});
}

TEST_CASE("a copy inside of two steps is computed in the step that needs it alone (fuzz seeds 23322, 950002685)") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", i32, {3}), out = lang::make_output("out", i32, {2, 3});
  Tensor inside;
  lang::bind(out, recur(
                      "y", {2, 3}, Along{0}, Lag{1}, [&](Var, Var j) { return x(j); },
                      [&](Prior y, Var i, Var j) {
                        inside = compute("inside", {Range{Expr(1), Expr(2)}, 3}, [&](Var p, Var q) { return y(p - 1, q) * 2; });
                        return x(j) + inside(i, j);
                      }));
  Schedule s(lang::build_program("two_steps", {x, out}), Target::parse("x86-64-v3"));
  s.cache_write(inside, Scope::global);
  const ir::Program& p = s.scheduled().program;
  interp::Arguments expected = handmade::arguments_for(p, {}), found = expected;
  interp::run_algorithm(p, expected);
  REQUIRE_NOTHROW(interp::run(p, found));
  CHECK(interp::difference(found[1].array, expected[1].array) == "");
  handmade::check_kernel(p, lower(p, options_for(s.target())), {{}});
}
