// What each step makes of a recurrence, and what it refuses: the loops along which it runs keep their order.
#include <ashlar/analysis/verify.h>

#include "tests/schedule/programs.h"
#include "tests/golden.h"
#include "tests/support/recurrence_operators.h"

namespace ashlar::test {

namespace {

struct Recurrence : recurrences::WithSchedule {
  using WithSchedule::WithSchedule;
  void golden(const std::string& name) const { CHECK(::golden("schedule/golden/recurrence_" + name + ".txt", s.text()) == ""); }
  std::array<Loop, 2> loops() { return s[y].spatial<2>(); }
};

}  // namespace

TEST_CASE("the loop along which a recurrence runs stays serial") {
  Recurrence u("smooth");
  auto [r, t] = u.loops();
  says(refusal(u.s, [&, t = t] { u.s[u.y].parallel(t); }),
       {"recurrence_test.cpp:", "parallel: expected a loop whose iterations are independent, or one of kind serial",
        "t of y, which is parallel, while y reads out1[r, t - 1]",
        "conflict: y[0, 1] reads out1[0, 0], of another iteration of t"});
  says(refusal(u.s, [&, t = t] { u.s[u.y].vectorize(t, 8); }), {"y[0, 1] reads out1[0, 0]"});
  says(refusal(u.s, [&, r = r, t = t] { u.s[u.y].parallel(u.s[u.y].fuse(r, t)); }), {"which is parallel"});
  u.s[u.y].parallel(r);
}

TEST_CASE("a dependence is not turned around") {
  Recurrence u("edit_distance");
  auto [i, j] = u.loops();
  u.s[u.y].reorder(j, i);  // every reader lies to the east, or in the row below
  auto [jo, ji] = u.s[u.y].split(j, 4);
  says(refusal(u.s, [&, jo = jo, ji = ji] { u.s[u.y].reorder(ji, jo); }),
       {"reorder: expected loops of d that compute out1[i, j - 1] before its reader, found ji of d, in which the reader may "
        "come first",
        "conflict: d[0, 1] reads out1[0, 0]"});
  Recurrence v("gauss_seidel");
  auto [k, x] = v.loops();
  says(refusal(v.s, [&, k = k, x = x] { v.s[v.y].reorder(x, k); }),
       {"expected loops of u that compute out1[sweep - 1, i + 1] before its reader, found i of u",
        "conflict: u[1, 0] reads out1[0, 1]"});
  says(refusal(v.s, [&, k = k, x = x] { v.s[v.y].tile(k, x, 2, 8); }), {"out1[sweep - 1, i + 1]"});
  says(refusal(v.s, [&, x = x] { v.s[v.y].parallel(x); }), {"u[0, 1] reads out1[0, 0], of another iteration of i"});
  Recurrence w("diffusion");
  auto [p, t] = w.loops();
  says(refusal(w.s, [&, p = p, t = t] { w.s[w.y].reorder(p, t); }),
       {"found i of h, in which the reader may come first", "conflict: h[0, 1] reads out1[1, 0]"});
  says(refusal(w.s, [&, t = t] { w.s[w.y].parallel(t); }), {"of another iteration of t"});
  w.s[w.y].parallel(p);  // inside the steps
}

TEST_CASE("tails that compute twice or too far are refused") {
  Recurrence u("smooth", true);
  auto [r, t] = u.loops();
  for (const Loop loop : {r, t})
    for (const Tail tail : {Tail::shift, Tail::pad})
      says(refusal(u.s, [&] { u.s[u.y].split(loop, 4, tail); }),
           {"split: expected a stage that does not read itself, found y, a recurrence: "});
}

TEST_CASE("steps for which a recurrence is no plain stage say so") {
  Recurrence u("smooth", true);
  auto [r, t] = u.loops();
  says(refusal(u.s, [&] { u.s[u.y].inline_(); }),
       {"inline_: expected a stage that does not read itself, found y, a recurrence (compute_at places it)"});
  says(refusal(u.s, [&] { u.s[u.y].drop_dim(0, 0); }), {"drop_dim: expected a stage that does not read itself, found y"});
  says(refusal(u.s, [&] { u.s.cache_read(u.y, {u.y}, Scope::global); }),
       {"cache_read: expected a stage that does not read itself, found y, a recurrence (name its other readers)"});
  says(refusal(u.s, [&, t = t] { u.s[u.y].rfactor(t); }), {"rfactor: expected a reduction loop", "t of y, a spatial one"});
  says(refusal(u.s, [&, t = t] { u.s[u.y].decompose_init(t); }), {"decompose_init: "});
  says(refusal(u.s, [&, t = t] { u.s[u.y].store_at(t); }),
       {"store_at: expected a loop of y outside of those whose later steps read what the earlier ones stored, found t of y"});
  says(refusal(u.s, [&] { u.s[u.y].fold(1, 4); }), {"fold: expected a ring with room for all live elements"});
  Recurrence v("smooth");
  says(refusal(v.s, [&] { v.s[v.y].stream_store(); }),
       {"stream_store: expected a stage that does not read itself, found y, a recurrence, which reads what it stored"});
  lang::DefinitionScope scope;
  Symbol R{"R"}, T{"T"};
  const Tensor x = lang::make_input("x", i32, {R, T}), out = lang::make_output("out", i32, {R, T});
  const Tensor a = compute("a", {{"i", R}, {"j", T}}, [&](Var p, Var q) { return x(p, q) + 1; });
  const Tensor y = recur(
      "y", {{"r", R}, {"t", T}}, Along{1}, Lag{1}, [&](Var p, Var q) { return a(p, q); },
      [&](Prior prior, Var p, Var q) { return a(p, q) + prior(p, q - 1); });
  lang::bind(out, y);
  Schedule s(lang::build_program("chained", {x, out}), Target::parse("x86-64-v3"));
  auto [ai, aj] = s[a].spatial<2>();
  says(refusal(s, [&, ai = ai] { s[y].fuse_into(ai); }), {"fuse_into: expected a stage that does not read itself, found y"});
  s[a].inline_();
}

TEST_CASE("a recurrence is placed with all the steps before those that are read") {
  Recurrence u("smooth", true);
  auto [i, j] = u.s[u.results[0]].spatial<2>();
  u.s[u.y].compute_at(j);
  u.golden("compute_at");
  u.s[u.y].store_at(i).slide(j);
  u.golden("slide");
  Recurrence v("gauss_seidel", true);  // points to the east of those that are read are needed as well: all of them
  auto [k, x] = v.s[v.results[0]].spatial<2>();
  v.s[v.y].compute_at(x);
  v.golden("whole");
  Recurrence w("backwards", true);
  auto [a, b] = w.s[w.results[0]].spatial<2>();
  w.s[w.y].compute_at(b);
  w.golden("backwards");
}

TEST_CASE("cache_write takes the recurrence to the new stage") {
  Recurrence u("smooth");
  auto [r, t] = u.loops();
  u.s.cache_write(u.y, Scope::global).compute_at(r);
  u.s[u.y].parallel(r).vectorize(t, 4);  // a copy
  u.golden("cache_write");
}

// Fuzz seeds 67 and 101317: that no step is before another did not count as an order of the loops inside.
TEST_CASE("along an extent of one no step reads another, whatever it reads across") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {1, 6}), out = lang::make_output("out", f32, {1, 6});
  const Tensor y = recur(
      "y", {{"t", 1}, {"j", 6}}, Along{0}, Lag{1}, [&](Var t, Var j) { return x(t, j); },
      [&](Prior before, Var t, Var j) { return x(t, j) + select(j < 5, before(t - 1, j + 1), 0.0f); });
  lang::bind(out, y);
  Schedule s(lang::build_program("p", {x, out}), Target::parse("x86-64-v3"));
  CHECK_NOTHROW(analysis::verify(s.scheduled().program, "test"));
  auto [t, j] = s[y].spatial<2>();
  s[y].split(j, 4);
  CHECK_NOTHROW(analysis::verify(s.scheduled().program, "test"));
}

TEST_CASE("on a device rows are threads, and each runs through its own steps") {
  recurrences::Made m(recurrences::named("smooth")), h(recurrences::named("diffusion"));
  Schedule s(m.built, Target::parse("vulkan"));
  auto [r, t] = s[m.state[0]].spatial<2>();
  says(refusal(s, [&, t = t] { s[m.state[0]].bind(t, gpu::thread_x); }),
       {"t of y, which is bound", "y[0, 1] reads out1[0, 0]"});
  s[m.state[0]].bind(r, gpu::thread_x);
  // Steps outside, points of a step in the threads of a block, which wait for one another between steps; a thread of its own
  // for all steps of a point is too early or too late for its neighbors.
  Schedule d(h.built, Target::parse("vulkan"));
  auto [i, steps] = d[h.state[0]].spatial<2>();
  auto [io, ii] = d[h.state[0]].split(i, 1);
  says(refusal(d, [&, ii = ii, steps = steps, io = io] { d[h.state[0]].bind(io, gpu::thread_y).reorder(io, ii, steps); }),
       {"io of h, which is bound, while h reads"});
  d[h.state[0]].bind(ii, gpu::thread_x);  // of one iteration, which reads no other
  d[h.state[0]].bind(io, gpu::thread_y);
}

}  // namespace ashlar::test
