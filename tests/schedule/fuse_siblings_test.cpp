// fuse_siblings: one loop over the iterations of two stages, each beside the other.
#include "programs.h"
#include "tests/golden.h"

namespace ashlar::test {

namespace {

// a = 2 x, b = x + 1 and c(i) = a(i) + b(at i - back): outputs all three, of N elements
struct Siblings {
  lang::DefinitionScope scope;
  Symbol N{"N"}, M{"M"};
  Tensor x = lang::make_input("x", i32, {N, M}), a = lang::make_output("a", i32, {N, M}),
         b = lang::make_output("b", i32, {N, M}), c = lang::make_output("c", i32, {N, M});
  Tensor twice = compute("twice", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return x(i, j) * 2; });
  Tensor next = compute("next", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return x(i, j) + 1; });
  lang::Built built;
  Schedule s;

  explicit Siblings(int back = 0) : built(build(back)), s(built, Target::parse("x86-64-v3")) {}
  void same() const {
    for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{7, 5}, {1, 1}, {0, 3}, {3, 0}, {17, 9}})
      means_the_same(built.program, s, {{n, m}, {n, m}, {n, m}, {n, m}});
  }

 private:
  lang::Built build(int back) {
    lang::bind(a, twice), lang::bind(b, next);
    lang::bind(c, compute("sums", {{"i", N}, {"j", M}},
                          [&](Var i, Var j) { return twice(i, j) + next(clamp(i - back, 0, N - 1), j); }));
    return lang::build_program("siblings", {x, a, b, c});
  }

 public:
  Tensor sums() const { return c; }
};

}  // namespace

TEST_CASE("three loops become one") {
  Siblings t;
  auto [i, j] = t.s[t.twice].spatial<2>();
  t.s[t.next].fuse_siblings(i);
  t.s[t.c].fuse_siblings(i);
  CHECK(golden("schedule/golden/fuse_siblings.txt", t.s.text()) == "");
  t.same();
  t.s[t.twice].vectorize(j, 4).parallel(i);
  t.s[t.next].vectorize(t.s[t.next].spatial<2>()[1], 4);
  t.same();
  Siblings again;
  again.s.replay(t.s.json());
  CHECK(again.s.text() == t.s.text());
}

TEST_CASE("what earlier iterations computed may be read, in their order") {
  Siblings t(2);
  auto [i, j] = t.s[t.twice].spatial<2>();
  t.s[t.next].fuse_siblings(i);
  t.s[t.c].fuse_siblings(i);
  t.same();
  says(refusal(t.s, [&, i = i] { t.s[t.twice].parallel(i); }),
       {"fuse_siblings_test.cpp:",
        "parallel: expected iterations of i of twice in their order, or ones that read what they compute themselves"});
  says(refusal(t.s, [&, i = i] { t.s[t.twice].vectorize(i, 4); }),
       {"vectorize: expected a vectorized loop with nothing computed inside it, found next is computed inside ii of twice"});
  auto [io, ii] = t.s[t.twice].split(i, 4);
  t.s[t.twice].unroll(ii).peel(io, Peel::first);
  t.same();
  Siblings u(-1);
  auto [v, w] = u.s[u.twice].spatial<2>();
  u.s[u.next].fuse_siblings(v);
  says(refusal(u.s, [&, v = v] { u.s[u.c].fuse_siblings(v); }),
       {"fuse_siblings: expected what an iteration of i of twice reads to be computed by then, found sums reads b[",
        "conflict: iteration i = 0 of sums reads b at "});
}

TEST_CASE("tiles of both, and loops of the one that are not the other's") {
  Siblings t;
  auto [i, j] = t.s[t.twice].spatial<2>();
  auto [k, l] = t.s[t.next].spatial<2>();
  auto [m, n] = t.s[t.c].spatial<2>();
  auto [io, ii] = t.s[t.twice].split(i, 4);
  auto [ko, ki] = t.s[t.next].split(k, 4);
  auto [mo, mi] = t.s[t.c].split(m, 4);
  t.s[t.next].reorder(ko, l, ki).vectorize(ki).fuse_siblings(io);
  t.s[t.c].tighten(mi).fuse_siblings(io);
  CHECK(golden("schedule/golden/fuse_siblings_tiles.txt", t.s.text()) == "");
  t.same();
  t.s[t.twice].parallel(io);
  t.same();
  auto [p, q] = t.s[t.next].split(l, 2);
  t.same();
  (void)p, (void)q, (void)ko, (void)mo;
}

TEST_CASE("sums beside each other, and what both read in the loop they share") {
  lang::DefinitionScope scope;
  Symbol N{"N"}, K{"K"};
  Tensor x = lang::make_input("x", i32, {N, K}), lo = lang::make_output("lo", i32, {N}),
         all = lang::make_output("all", i32, {N});
  Axis k{"k", K}, l{"l", K};
  Tensor row = compute("row", [&](Var i, Var j) { return x(i, j) * 3 - 1; });
  lang::bind(lo, compute("lo", {{"i", N}}, [&](Var i) { return minimum(row(i, k), k).from(9); }));
  lang::bind(all, compute("all", {{"i", N}}, [&](Var i) { return sum(row(i, l), l); }));
  const lang::Built built = lang::build_program("rows", {x, lo, all});
  Schedule s(built, Target::parse("x86-64-v3"));
  const Loop i = s[lo].spatial<1>()[0];
  s[all].fuse_siblings(i);
  s[row].compute_at(i);
  s[lo].parallel(i);
  s[all].split(s[all].reduction(), 4);
  CHECK(golden("schedule/golden/fuse_siblings_sums.txt", s.text()) == "");
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{4, 7}, {1, 1}, {3, 0}, {0, 2}})
    means_the_same(built.program, s, {{n, m}, {n}, {n}});
}

TEST_CASE("what is computed in the shared loop reads of a sibling what there is by then") {
  for (const int ahead : {0, 1}) {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", i32, {N}), a = lang::make_output("a", i32, {N}), b = lang::make_output("b", i32, {N}),
           c = lang::make_output("c", i32, {N});
    Tensor twice = compute("twice", {{"i", N}}, [&](Var i) { return x(i) * 2; });
    Tensor next = compute("next", {{"i", N}}, [&](Var i) { return x(i) + 1; });
    Tensor moved = compute("moved", [&](Var i) { return next(min(i + ahead, N - 1)) * 3; });
    lang::bind(a, twice), lang::bind(b, next);
    lang::bind(c, compute("last", {{"i", N}}, [&](Var i) { return moved(i) - 1; }));
    const lang::Built built = lang::build_program("ahead", {x, a, b, c});
    Schedule s(built, Target::parse("x86-64-v3"));
    const Loop i = s[twice].spatial<1>()[0];
    s[next].fuse_siblings(i);
    s[moved].compute_at(s[c].spatial<1>()[0]);
    if (ahead) {
      says(refusal(s, [&] { s[c].fuse_siblings(i); }),
           {"expected what an iteration of i of twice reads to be computed by then, found moved reads b["});
      continue;
    }
    s[c].fuse_siblings(i);
    s[moved].compute_at(i);
    s[twice].parallel(i);
    for (const std::int64_t n : {5, 1, 0}) means_the_same(built.program, s, {{n}, {n}, {n}, {n}});
  }
}

TEST_CASE("what fuse_siblings refuses") {
  Siblings t;
  auto [i, j] = t.s[t.twice].spatial<2>();
  auto [k, l] = t.s[t.next].spatial<2>();
  says(refusal(t.s, [&, j = j] { t.s[t.next].fuse_siblings(j); }),
       {"fuse_siblings: expected the outermost loop of twice, over all of it, found j of twice"});
  says(refusal(t.s, [&, k = k] { t.s[t.next].fuse_siblings(k); }), {"expected a loop of another stage, found i"});
  says(refusal(t.s, [&, k = k] { t.s[t.twice].fuse_siblings(k); }),
       {"expected a loop of a stage that is computed before twice, found i of next, and next is computed later; the other way "
        "round it is s[next].fuse_siblings(...) with the loop i of twice"});
  t.s[t.next].fuse_siblings(i);
  says(refusal(t.s, [&, i = i] { t.s[t.next].fuse_siblings(i); }),
       {"expected a stage with loops of its own (move this call before fuse_siblings), found next, which shares i"});
  says(refusal(t.s, [&] { t.s.cache_write(t.twice, Scope::global); }), {"found next, which shares a loop inside of twice"});
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.twice].reorder(j, i); }), {"reorder: expected loops with nothing between them"});
  says(refusal(t.s, [&, i = i] { t.s[t.twice].reverse(i); }), {"a stage with loops of its own"});
  Siblings u;
  auto [p, q] = u.s[u.twice].spatial<2>();
  auto [m, n] = u.s[u.next].spatial<2>();
  u.s[u.next].reorder(n, m);
  says(refusal(u.s, [&, p = p] { u.s[u.next].fuse_siblings(p); }),
       {"expected two loops of one extent (of tiles: split both by as much), found j of next in M and i of twice in N"});
  const Split s = u.s[u.next].split(n, 4);
  says(refusal(u.s, [&, p = p] { u.s[u.next].fuse_siblings(p); }),
       {"two loops of one extent", "in (M + 3) / 4 and i of twice in N"});
  u.s[u.next].reorder(s.inner, s.outer);
  says(refusal(u.s, [&, p = p] { u.s[u.next].fuse_siblings(p); }), {"a loop over the values of one dimension of next"});
  u.s[u.c].peel(u.s[u.c].spatial<2>()[0], Peel::first);
  says(refusal(u.s, [&, p = p] { u.s[u.c].fuse_siblings(p); }), {"one loop outside of all others of sums"});
  u.s[u.twice].parallel(p);
  says(refusal(u.s, [&, p = p] { u.s[u.next].fuse_siblings(p); }), {"a loop without a kind yet"});

  Blur b;
  says(refusal(b.s, [&] { b.s[b.across].fuse_siblings(b.s[b.out].spatial<2>()[0]); }),
       {"expected a stage with a stated domain, compute(\"across\", {...}, ...), found across"});
  Product d;
  says(refusal(d.s, [&] { d.s[d.C].fuse_siblings(d.s[d.product].spatial<2>()[1]); }),
       {"expected the outermost loop of product, over all of it, found j of product"});
  d.s[d.product].reorder(d.s[d.product].reduction(), d.s[d.product].spatial<2>()[0]);
  says(refusal(d.s, [&] { d.s[d.C].fuse_siblings(d.s[d.product].reduction()); }),
       {"expected loops over points, found k of product, a reduction"});
}

TEST_CASE("a reader beside its producer, row by row") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  t.s[t.C].fuse_siblings(i);
  t.s[t.product].reorder(t.s[t.product].reduction(), j).vectorize(j, 8);
  t.s[t.C].vectorize(t.s[t.C].spatial<2>()[1], 8);
  t.same(), t.same(1, 1, 1), t.same(3, 20, 4);
  t.s[t.product].parallel(i);
  t.same();
}

}  // namespace ashlar::test
