// Loops of recurrences whose steps reduce over all earlier ones: which may run in another order, and which may not.
#include <algorithm>

#include <ashlar/ir/build.h>

#include "tests/schedule/programs.h"
#include "tests/support/recurrence_solves.h"

namespace ashlar::test {

TEST_CASE("loops that carry a read of all earlier steps stay in order") {
  solves::Made m(solves::named("forward"));
  Schedule s(m.built, Target::parse("x86-64-v3"));
  const Stage x = s[m.result];
  auto [t, r] = x.spatial<2>();
  says(refusal(s, [&, t = t] { x.parallel(t); }), {"t of x, which is parallel, while x reads out[k, r]"});
  says(refusal(s, [&, t = t] { x.vectorize(t, 8); }), {"x_sum is computed inside ti of x"});
  says(refusal(s, [&] { x.inside().compute_root(); }), {"x_sum, computed outside of x"});
  // Columns have nothing to do with each other: they may stand outside, in any kind.
  auto [ro, ri] = x.split(r, 8);
  says(refusal(s, [&, ro = ro, t = t, ri = ri] { x.reorder(ro, t, ri); }), {"x_sum is computed inside t of x"});
  x.inside().compute_at(ri);  // what is between the steps goes in, and comes back
  x.reorder(ro, t, ri);
  x.inside().compute_at(t);
  // Steps in tiles are still one after the other.
  auto [to, ti] = x.split(t, 4);
  says(refusal(s, [&, ti = ti] { x.parallel(ti); }), {"while x reads out[k, r]"});
  says(refusal(s, [&, to = to] { x.parallel(to); }), {"while x reads out[k, r]"});
  says(refusal(s, [&, to = to, ti = ti] { x.reorder(ti, to); }), {"that compute out[k, r] before its reader", "ti of x"});
  x.parallel(ro);
}

TEST_CASE("both orders of a table in which each dimension goes on, and no wavefront of cells that read whole rows") {
  solves::Made m(solves::named("lu"));
  Schedule s(m.built, Target::parse("x86-64-v3"));
  const Stage lu = s[m.result];
  auto [i, j] = lu.spatial<2>();
  says(refusal(s, [&, i = i] { lu.parallel(i); }), {"i of LU, which is parallel, while LU reads"});
  says(refusal(s, [&, j = j] { lu.parallel(j); }), {"j of LU, which is parallel, while LU reads"});
}

TEST_CASE("a stage inside is named by its recurrence") {
  solves::Made m(solves::named("cholesky"));
  Schedule s(m.built, Target::parse("x86-64-v3"));
  const Stage l = s[m.result];
  CHECK(std::string(l.inside("L_sum2").name()) == "L_sum2");
  says(refusal(s, [&] { l.inside(); }), {"one stage inside of L, or its name", "L_sum"});
  says(refusal(s, [&] { l.inside("sum"); }), {"the name of a stage inside of L", "sum; inside are: "});
  l.parallel(l.spatial<2>()[0]);  // rows of a column are free
  const Stage sums = l.inside("L_sum2");
  says(refusal(s, [&] { sums.split(sums.spatial<2>()[1], 4, Tail::pad); }), {"computed past the end of", "Tail::pad"});
  sums.parallel(sums.spatial<2>()[0]);
  says(s.to_cpp(), {".inside(\"L_sum2\")"});
}

namespace {

// The best tree over keys i .. j, split at any of them, with its terms in lanes of their own. Proofs take copies of variables,
// by ids of the process; `further` moves the program's own to where the counter stands.
std::string best_tree_in_lanes(ir::Id further) {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}};
  const Tensor c = lang::make_input("c", f64, {N + 1, N + 1}), out = lang::make_output("out", f64, {N + 1, N + 1});
  const Tensor best = recur(
      "best", {N + 1, N + 1}, Along{0, 1}.backwards(0), Lag{0}, [&](Var, Var) { return f64(0); },
      [&](Prior before, Var i, Var j) {
        const Axis k{"k", i, j};
        return select(i < j, minimum(before(i, k) + before(k + 1, j), k) + c(i, j), 0);
      });
  lang::bind(out, best);
  lang::Built built = lang::build_program("tree", {c, out});
  const ir::Id drawn = ir::fresh_id();
  CHECK(drawn >= ir::first_of_process);
  built.program.next_id = std::max(built.program.next_id, drawn % ir::first_of_process + further);
  Schedule s(built, Target::parse("x86-64-v3"));
  const Stage least = s[best].inside("best_minimum");
  const auto points = least.spatial<2>();
  const Split terms = least.split(least.reduction(), 16);
  const Stage lanes = least.rfactor(terms.inner);
  const Stage rest = least.rfactor(least.split(least.reduction(), 4).inner);
  for (const Stage& part : {rest, lanes}) {
    part.compute_at(points[1]);
    auto [i, j, lane] = part.spatial<3>();
    part.reorder(part.reduction(), lane).vectorize(lane).store_in(Scope::stack);
    (void)i, (void)j;
  }
  return s.text();
}

}  // namespace

TEST_CASE("what a proof says does not depend on the ids that the process has given before") {
  const std::string text = best_tree_in_lanes(0);
  for (ir::Id further = 1; further < 64; ++further) CHECK(best_tree_in_lanes(further) == text);
}

}  // namespace ashlar::test
