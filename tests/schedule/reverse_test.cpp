// reverse: loops from the last value to the first.
#include "programs.h"

#include <ashlar/ir/print.h>

#include "tests/golden.h"

namespace ashlar::test {

TEST_CASE("rows from the last to the first, and what is computed on the way") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  t.s[t.out].reverse(y);
  t.s[t.across].compute_at(y);
  CHECK(golden("schedule/golden/reverse.txt", ir::text(t.s.scheduled().program)) == "");
  t.same();
  t.same(1, 1);
  t.same(0, 4);
  Blur again;
  again.s.replay(t.s.json());
  CHECK(ir::text(again.s.scheduled().program) == ir::text(t.s.scheduled().program));
}

TEST_CASE("splits, parts and kinds of a reversed loop go along with it") {
  for (const Tail tail : {Tail::guard, Tail::peel, Tail::predicate}) {
    Blur t;
    auto [y, x] = t.s[t.out].spatial<2>();
    t.s[t.out].reverse(x).reverse(y);
    auto [xo, xi] = t.s[t.out].split(x, 4, tail);
    t.s[t.out].vectorize(xi).parallel(y);
    t.same(7, 13);
    t.same(2, 3);
  }
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  t.s[t.product].reverse(k).reverse(i);
  t.s[t.product].peel(k, Peel::first);
  t.same();
  t.s[t.product].reverse(j).reverse(j);
  t.same();
}

TEST_CASE("a triangle, its rows reversed") {
  Triangle t;
  t.s[t.y].reverse(t.s[t.y].spatial<1>()[0]);
  means_the_same(t.built.program, t.s, {{8, 8}, {8}});
}

TEST_CASE("what reverse refuses") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  t.s[t.across].compute_at(y).store_at(y);
  auto [xo, xi] = t.s[t.out].split(x, 4);
  says(refusal(t.s, [&, l = xo] { t.s[t.out].reverse(l); }),
       {"reverse: expected a loop over a whole variable (move this call before splits and fusions of it), found xo of out"});
  Blur u;
  auto [v, w] = u.s[u.out].spatial<2>();
  u.s[u.across].compute_at(w).store_at(v).slide(w);
  says(refusal(u.s, [&, l = w] { u.s[u.out].reverse(l); }), {"a loop that no stage slides along"});
  Blur b;
  auto [by, bx] = b.s[b.out].spatial<2>();
  b.s[b.out].reverse(bx);
  b.s[b.across].compute_at(bx).store_at(by);
  says(refusal(b.s, [&, l = bx] { b.s[b.across].slide(l); }), {"slide: expected"});

  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor a = lang::make_input("a", f32, {4, N}), z = lang::make_output("z", f32, {4}), r = lang::make_output("r", f32, {4, N});
  Axis k{"k", N};
  lang::bind(z, compute("z", {{"i", 4}}, [&](Var i) { return strict_sum(a(i, k), k); }));
  Tensor run = scan("run", {{"i", 4}, {"t", N}}, Along{1}, Combine::add, [&](Var i, Var n) { return a(i, n); });
  lang::bind(r, compute("r", {{"i", 4}, {"t", N}}, [&](Var i, Var n) { return run(i, n); }));
  Schedule s = scheduled({a, z, r});
  says(refusal(s, [&] { s[z].reverse(s[z].reduction()); }),
       {"a reduction that may be regrouped (sum, not strict_sum)", "this turns the order of its terms around"});
  says(refusal(s, [&] { s[run].reverse(s[run].spatial<2>()[1]); }),
       {"a stage that does not read itself, found run, a recurrence, whose steps have an order"});
  Product p;
  p.s[p.product].reverse(p.s[p.product].reduction());
  says(refusal(p.s, [&] { p.s[p.product].rfactor(p.s[p.product].reduction()); }),
       {"loops in the order of their variables (move this call before reverse), found k of product"});
}

}  // namespace ashlar::test
