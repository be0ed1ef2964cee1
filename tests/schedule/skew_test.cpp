// skew: loops that begin later with each iteration of another one; wavefronts of recurrences, diagonals of everything else.
#include "programs.h"

#include <ashlar/analysis/verify.h>

#include "tests/golden.h"
#include "tests/support/recurrence_operators.h"

namespace ashlar::test {

namespace {

struct Table : recurrences::Made {
  Schedule s{built, Target::parse("x86-64-v3")};
  Tensor d = state[0];
  explicit Table(const char* name = "edit_distance", bool apart = false) : Made(recurrences::named(name), apart) {}
  std::array<Loop, 2> loops() { return s[d].spatial<2>(); }
  void same() const {
    for (const auto& [r, t] : recurrences::shapes()) means_the_same(built.program, s, {{r, t}, {r, t}});
  }
};

void golden(const char* name, const Schedule& s) {
  CHECK(::golden("schedule/golden/skew_" + std::string(name) + ".txt", s.text()) == "");
}

}  // namespace

TEST_CASE("a wavefront: the diagonals of a table one after the other, the points of each at once") {
  Table t;
  auto [i, j] = t.loops();
  says(refusal(t.s, [&, i = i] { t.s[t.d].parallel(i); }), {"i of d, which is parallel, while d reads out1[i - 1, j]",
                                                            "conflict: d[1, 0] reads out1[0, 0], of another iteration of i"});
  const Loop w = t.s[t.d].skew(i, j, 1);
  says(refusal(t.s, [&, i = i] { t.s[t.d].parallel(i); }), {"d[1, 0] reads out1[0, 0]"});
  says(refusal(t.s, [&] { t.s[t.d].parallel(w); }), {"d[0, 1] reads out1[0, 0], of another iteration of js"});
  t.s[t.d].reorder(w, i);
  says(refusal(t.s, [&] { t.s[t.d].parallel(w); }), {"of another iteration of js"});
  t.s[t.d].parallel(i);
  golden("guarded", t.s);
  t.same();
  Table again;
  again.s.replay(t.s.json());
  CHECK(again.s.text() == t.s.text());
}

TEST_CASE("a tightened wavefront has no guard") {
  Table t;
  auto [i, j] = t.loops();
  const Loop w = t.s[t.d].skew(i, j, 1);
  t.s[t.d].reorder(w, i).tighten(i).parallel(i);
  golden("tight", t.s);
  t.same();
  Table u;
  auto [p, q] = u.loops();
  u.s[u.d].tighten(u.s[u.d].skew(p, q, 1));  // the rows in their order, each a little later
  golden("rows", u.s);
  u.same();
}

TEST_CASE("tiles along a wavefront, points along one in each") {
  Table t;
  auto [i, j] = t.loops();
  auto [io, jo, ii, ji] = t.s[t.d].tile(i, j, 8, 16);
  const Loop tiles = t.s[t.d].skew(io, jo, 1), points = t.s[t.d].skew(ii, ji, 1);
  t.s[t.d].reorder(tiles, io, points, ii).tighten(io).parallel(io).vectorize(ii);
  golden("tiles", t.s);
  t.same();
}

TEST_CASE("steps of a stencil in tiles over time") {
  Table t("gauss_seidel");
  auto [k, i] = t.loops();
  says(refusal(t.s, [&, k = k, i = i] { t.s[t.d].tile(k, i, 2, 8); }), {"out1[sweep - 1, i + 1]"});
  const Loop x = t.s[t.d].skew(k, i, 1);
  auto [ko, xo, ki, xi] = t.s[t.d].tile(k, x, 2, 8);
  says(refusal(t.s, [&, xi = xi] { t.s[t.d].vectorize(xi); }), {"u[0, 1] reads out1[0, 0]"});
  t.s[t.d].tighten(xo).tighten(xi);
  golden("time", t.s);
  t.same();
  says(refusal(t.s, [&, ko = ko] { t.s[t.d].parallel(ko); }), {"sweepo of u, which is parallel"});
}

TEST_CASE("a factor that does not part what reads from what is read") {
  Table t("gauss_seidel");
  auto [k, i] = t.loops();
  const Loop x = t.s[t.d].skew(k, i, 1);  // u[k - 1, i + 1] lies on the same diagonal
  t.s[t.d].reorder(x, k);
  says(refusal(t.s, [&, k = k] { t.s[t.d].parallel(k); }),
       {"sweep of u, which is parallel", "u[1, 0] reads out1[0, 1], of another iteration of sweep"});
  Table u("gauss_seidel");
  auto [l, m] = u.loops();
  const Loop w = u.s[u.d].skew(l, m, -1);
  says(refusal(u.s, [&, l = l] { u.s[u.d].reorder(w, l); }),
       {"expected loops of u that compute out1[sweep - 1, i + 1] before its reader, found is of u"});
}

TEST_CASE("diagonals of stages that read no neighbors: either way, splits and parts of them, stages inside") {
  for (const int factor : {1, 3, -1, -2}) {
    CAPTURE(factor);
    Blur b;
    auto [y, x] = b.s[b.out].spatial<2>();
    const Loop w = b.s[b.out].skew(y, x, factor);
    auto [wo, wi] = b.s[b.out].split(w, 4, Tail::peel);
    b.s[b.out].parallel(wo).vectorize(wi);
    b.same(), b.same(1, 1), b.same(7, 30), b.same(0, 4);
    Blur c;
    auto [v, u] = c.s[c.out].spatial<2>();
    const Loop d = c.s[c.out].skew(v, u, factor);
    c.s[c.out].reorder(d, v).tighten(v);
    c.s[c.across].compute_at(d);
    c.same(), c.same(1, 1), c.same(3, 2), c.same(0, 4);
    Blur e;
    auto [p, q] = e.s[e.out].spatial<2>();
    const Loop f = e.s[e.out].skew(q, p, factor);
    e.s[e.across].compute_at(q);
    e.s[e.out].fuse(f, q);
    e.same(), e.same(1, 1), e.same(3, 2), e.same(2, 0);
  }
  for (const bool lanes : {false, true}) {  // of as many iterations everywhere
    Blur b;
    auto [y, x] = b.s[b.out].spatial<2>();
    auto [xo, xi] = b.s[b.out].split(x, 4);
    const Loop w = b.s[b.out].skew(y, xi, 2);
    b.s[b.out].tighten(w);
    lanes ? b.s[b.out].vectorize(w) : b.s[b.out].unroll(w);
    b.same(), b.same(1, 1), b.same(3, 9);
  }
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop w = t.s[t.product].skew(i, j, 2);
  t.s[t.product].reorder(t.s[t.product].reduction(), w, i).vectorize(t.s[t.product].split(i, 4).inner);
  t.same(), t.same(1, 1, 1), t.same(2, 9, 3);
}

TEST_CASE("what skew refuses") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [ay, ax] = b.s[b.across].spatial<2>();
  says(refusal(b.s, [&, y = y] { b.s[b.out].skew(y, y, 1); }),
       {"skew_test.cpp:", "skew: expected two loops, found y of out twice"});
  says(refusal(b.s, [&, y = y, x = x] { b.s[b.out].skew(y, x, 0); }),
       {"skew: expected a factor other than 0, found 0, which leaves the loop as it is"});
  says(refusal(b.s, [&, y = y, x = x] { b.s[b.out].skew(y, x, 5000); }), {"expected a factor from -1024 to 1024, found 5000"});
  says(refusal(b.s, [&, y = y, ax = ax] { b.s[b.out].skew(y, ax, 1); }), {"skew: expected a loop of out, found i1 of across"});
  const Loop w = b.s[b.out].skew(y, x, 1);
  says(refusal(b.s, [&, y = y, x = x] { b.s[b.out].skew(y, x, 1); }), {"x of out, which was skewed into xs at"});
  says(refusal(b.s, [&] { b.s[b.out].spatial<2>(); }), {"x of out, which became xs"});
  says(refusal(b.s, [&] { b.s[b.out].reverse(w); }), {"a loop over a whole variable"});
  says(refusal(b.s, [&] { b.s[b.out].split(w, 4, Tail::pad); }), {"found xs of out, a skewed loop"});
  says(refusal(b.s, [&] { b.s.cache_write(b.out, Scope::global); }), {"found x of out, which was skewed"});
  says(refusal(b.s, [&, y = y] { b.s[b.out].tighten(y); }),
       {"tighten: expected a loop of the axis that y of out was skewed with to stand around it, found xs inside it"});
  b.s[b.out].tighten(w);
  says(refusal(b.s, [&, y = y] { b.s[b.out].reorder(w, y); }), {"to stand around it, found y inside it"});
  says(refusal(b.s, [&, y = y] { b.s[b.out].skew(y, w, 1); }),
       {"loops that were not tightened (move this call before the tighten), found xs of out"});
  says(refusal(b.s, [&] { b.s[b.out].peel(w, Peel::first); }),
       {"peel: expected a whole loop (peel and partition know no ends"});
  says(refusal(b.s, [&] { b.s[b.out].vectorize(w); }), {"a loop of constant extent"});
  b.s[b.out].parallel(w);
  says(refusal(b.s, [&, y = y] { b.s[b.out].skew(w, y, 1); }), {"skew: expected a loop without a kind yet"});

  Blur u;
  auto [v, h] = u.s[u.out].spatial<2>();
  u.s[u.across].compute_at(h).store_at(v).slide(h);
  says(refusal(u.s, [&, v = v, h = h] { u.s[u.out].skew(v, h, 1); }),
       {"expected loops that no stage slides along, found x of out (move the skew before the slide)"});
  Blur f;
  auto [fy, fx] = f.s[f.out].spatial<2>();
  f.s[f.out].peel(fx, Peel::first);
  says(refusal(f.s, [&, fy = fy, fx = fx] { f.s[f.out].skew(fy, fx, 1); }), {"a whole loop, found x of out"});
  {  // (fuzz seed 804878)
    lang::DefinitionScope scope;
    const Symbol M("M");
    const Tensor in = lang::make_input("in", u8, {M, M}), out = lang::make_output("out", i32, {M, 256});
    lang::bind(out, scatter("counts", {{"r", M}, {"b", 256}}, Combine::add, 0, {{"y", M}, {"x", M}},
                            [&](Var r, Var c) { return put(1, r, in(r, c)); }));
    Schedule counted = scheduled({in, out});
    auto [r, c] = counted[out].reduction<2>();
    says(refusal(counted, [&, r = r, c = c] { counted[out].skew(r, c, 1); }),
         {"skew: expected loops over points, found y of counts, a reduction"});
  }
  Product p;
  auto [i, j] = p.s[p.product].spatial<2>();
  const Loop k = p.s[p.product].reduction();
  says(refusal(p.s, [&, i = i] { p.s[p.product].skew(i, k, 1); }),
       {"expected loops over points, found k of product, a reduction"});
  p.s[p.product].skew(i, j, 1);
  says(refusal(p.s, [&, i = i] { p.s[p.C].fuse_into(i), p.s[p.C].compute_at(i); }),
       {"compute_at: expected a stage computed before its readers, found C, which was put after its producer by fuse_into"});
}

TEST_CASE("a skewed axis that says not by how much, or is skewed along itself, is no program") {
  Table t;
  auto [i, j] = t.loops();
  t.s[t.d].skew(i, j, 1);
  for (const bool factor : {false, true}) {
    ir::Program p = t.s.scheduled().program;
    for (auto& [id, a] : p.axes) {
      if (a.origin != ir::Axis::Origin::skewed) continue;
      factor ? void(a.factor = ir::index(0)) : void(a.outer = a.parent);
    }
    CHECK_THROWS_WITH_AS(analysis::verify(p, "test"),
                         doctest::Contains(factor ? "found: js without a factor"
                                                  : "axes and what they were split or fused into name each other; found: js"),
                         InternalError);
  }
}

TEST_CASE("a finished row is a box, a finished diagonal is none") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop w = t.s[t.product].skew(i, j, 1);
  t.s[t.C].fuse_into(i);
  t.same(), t.same(1, 1, 1), t.same(2, 5, 3);
  Product u;
  auto [p, q] = u.s[u.product].spatial<2>();
  const Loop d = u.s[u.product].skew(p, q, 1);
  u.s[u.product].reorder(d, p);
  says(refusal(u.s, [&] { u.s[u.C].fuse_into(d); }), {"fuse_into: expected"});
  (void)w;
}

TEST_CASE("a loop whose ends follow another one is not fused with what is inside (fuzz seed 932000003)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N, N, N}), y = lang::make_output("y", i32, {N, N, N});
  lang::bind(y, compute("y", {{"i", N}, {"j", N}, {"k", N}}, [&](Var i, Var j, Var k) { return x(i, j, k) + 1; }));
  Schedule s(lang::build_program("p", {x, y}), Target::parse("x86-64-v3"));
  auto [i, j, k] = s[y].spatial<3>();
  const Loop w = s[y].skew(i, j, 1);
  s[y].reorder(w, i, k).tighten(i);
  says(refusal(s, [&, i = i, k = k] { s[y].fuse(i, k); }),
       {"fuse: expected an outer loop that was not tightened, found i of y"});
}

TEST_CASE("a loop that follows one is inside of both, or that one is not skewed (fuzz seed 946005845)") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", i32, {8, 8}), y = lang::make_output("y", i32, {8, 8});
  lang::bind(y, compute("y", {{"i", 8}, {"j", 8}}, [&](Var i, Var j) {
               Axis k{"k", 0, i + 1};
               return sum(x(k, j), k);
             }));
  Schedule s = scheduled({x, y});
  auto [i, j] = s[y].spatial<2>();
  s[y].reorder(i, s[y].reduction(), j);
  says(refusal(s, [&, i = i, j = j] { s[y].skew(j, i, 1); }),
       {"skew: expected loops around j of y that do not end where i of y says, found k of y in"});
  s[y].skew(i, j, 1);
  means_the_same(s.scheduled().program, s, {{8, 8}, {8, 8}});
}

TEST_CASE("tables are read inside of a triangle alone, wherever its skewed loops run (fuzz seed 947006991)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor a = lang::make_input("a", i32, {N}), y = lang::make_output("y", i32, {N, N});
  lang::bind(y, compute("y", {{"i", N}, {"j", N}}, [&](Var i, Var) {
               Axis k{"k", 0, i + 1}, l{"l", clamp(a(k), 0, 1), 2};
               return sum(a(i) + i32(l), {k, l});
             }));
  for (const bool skews : {true, false}) {
    Schedule s = scheduled({a, y});
    auto [i, j] = s[y].spatial<2>();
    if (skews)
      s[y].reorder(s[y].skew(j, i, 1), j);
    else
      s[y].split(i, 4);
    for (const std::int64_t n : {0, 1, 5}) means_the_same(s.scheduled().program, s, {{n}, {n, n}});
  }
}

}  // namespace ashlar::test
