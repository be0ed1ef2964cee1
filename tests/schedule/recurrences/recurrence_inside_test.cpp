// Stages inside of a recurrence: where they may be computed, and what the tree looks like.
#include "tests/schedule/programs.h"
#include "tests/golden.h"
#include "tests/support/recurrence_cells.h"

namespace ashlar::test {

TEST_CASE("what is inside of a recurrence stays between its steps") {
  cells::Lstm m;
  Schedule s(m.built, Target::parse("x86-64-v3"));
  auto [t, b, j] = s[m.h].spatial<3>();
  says(
      refusal(s, [&] { s[m.gates].compute_root(); }),
      {"compute_root: expected gates inside the loops along which cell runs, since each reads the other, found gates, computed "
       "outside of cell",
       "conflict: a step of cell reads gates, which reads the steps of cell before"});
  says(refusal(s, [&, t = t] { s[m.h].parallel(t); }), {"t of cell, which is parallel, while cell reads"});
  s[m.gates].compute_at(b);  // further in: for each row
  auto [gt, gb, g] = s[m.gates].spatial<3>();
  auto [go, gi] = s[m.gates].split(g, 8);
  s[m.gates].reorder(go, s[m.gates].reduction(), gi).vectorize(gi);
  s[m.h].vectorize(j, 4).parallel(b);
  s[m.xw].parallel(s[m.xw].spatial<3>()[0]);
  CHECK(golden("schedule/golden/recurrence_cell.txt", s.text()) == "");
  (void)gt, (void)gb;
}

// Seed 3593 of random programs for CUDA: a maximum over earlier steps, in memory that threads share.
TEST_CASE("what reads earlier steps is not computed for threads that have not come as far") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor c = lang::make_input("c", f32, {N, 8}), out = lang::make_output("out", f32, {N, 8});
  const Tensor y = recur(
      "y", {N, 8}, Along{1}, Lag{0}, [&](Var i, Var j) { return c(i, j); },
      [&](Prior before, Var i, Var j) {
        Axis k{"k", j};
        return min(c(i, j), maximum(before(i, k), k));
      });
  lang::bind(out, y);
  Schedule s(lang::build_program("steps", {c, out}), Target::parse("cuda-sm_80"));
  auto [i, j] = s[y].spatial<2>();
  s[y].bind(i, gpu::thread_x);
  s[y].inside().compute_at(j);
  says(refusal(s, [&] { s[y].inside().store_in(Scope::shared); }),
       {"y_maximum in shared memory, computed for all of i0 at once"});
  s[y].inside().store_in(Scope::stack);
}

}  // namespace ashlar::test
