// reverse: loops from the last value to the first.
#include "tests/schedule/programs.h"

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
  replays<Blur>(t.s);
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

TEST_CASE("a reader inside of a reversed producer, and a reversed reader") {
  for (const int turned : {0, 1, 2, 3}) {
    Product t;
    const Loop i = t.s[t.product].spatial<2>()[0], j = t.s[t.product].spatial<2>()[1];
    if (turned & 1) t.s[t.product].reverse(i).reverse(j);
    if (turned & 2) t.s[t.C].reverse(t.s[t.C].spatial<2>()[0]);
    t.s[t.C].fuse_into(i);
    t.same();
    Product u;
    if (turned & 2) u.s[u.C].reverse(u.s[u.C].spatial<2>()[1]);
    u.s[u.C].fuse_into(u.s[u.product].spatial<2>()[1]);
    if (turned & 1) u.s[u.product].reverse(u.s[u.product].spatial<2>()[1]);
    u.same();
  }
  Product t;
  t.s[t.product].reverse(t.s[t.product].reduction()).reverse(t.s[t.product].spatial<2>()[0]);
  t.s[t.C].fuse_into(t.s[t.product].reduction());
  t.same();
}

TEST_CASE("a recurrence inside of a reversed loop of its reader") {
  lang::DefinitionScope scope;
  Symbol R{"R"}, T{"T"};
  Tensor x = lang::make_input("x", i32, {R, T}), y = lang::make_output("y", i32, {R, T});
  Tensor run = scan("run", {{"r", R}, {"t", T}}, Along{1}, Combine::add, [&](Var r, Var n) { return x(r, n); });
  lang::bind(y, compute("y", {{"i", R}, {"j", T}}, [&](Var i, Var j) { return run(i, j) * 2; }));
  const lang::Built built = lang::build_program("p", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  auto [i, j] = s[y].spatial<2>();
  s[y].reverse(i).reverse(j);
  s[run].compute_at(i);
  for (const auto& [r, t] : {std::pair<std::int64_t, std::int64_t>{4, 7}, {1, 1}, {3, 0}})
    means_the_same(built.program, s, {{r, t}, {r, t}});
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
