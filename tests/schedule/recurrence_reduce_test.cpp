// Loops of recurrences whose steps reduce over all earlier ones: which may run in another order, and which may not.
#include "programs.h"
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
  sums.parallel(sums.spatial<2>()[0]);
  says(s.to_cpp(), {".inside(\"L_sum2\")"});
}

}  // namespace ashlar::test
