// Stages inside of a recurrence: where they may be computed, and what the tree looks like.
#include "programs.h"
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

}  // namespace ashlar::test
