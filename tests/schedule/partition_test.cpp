// partition and unroll_and_jam: what they make of a loop, and what they refuse.
#include "programs.h"

#include <ashlar/ir/print.h>

#include "tests/golden.h"

namespace ashlar::test {

TEST_CASE("the iterations below a point, and those from it on") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  const Loop edge = t.s[t.out].partition(y, 1);
  const Loop last = t.s[t.out].partition(x, max(t.W - 1, 0));
  CHECK(golden("schedule/golden/partition.txt", ir::text(t.s.scheduled().program)) == "");
  t.same();
  t.same(1, 1);
  t.same(2, 2);
  t.same(0, 3);
  CHECK(t.s[t.out].copy(x, edge).id() != x.id());
  t.s[t.out].parallel(edge);
  t.same();
  (void)last;
  replays<Blur>(t.s);
}

TEST_CASE("the inside between two edges, and what is left of it where there is none") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  auto [xo, xi] = t.s[t.out].split(x, 4);
  t.s[t.out].vectorize(xi);
  const Loop inside = t.s[t.out].partition(xo, 1);
  const Loop right = t.s[t.out].partition(inside, max(t.W / 4 - 1, 1));
  CHECK(golden("schedule/golden/partition_twice.txt", ir::text(t.s.scheduled().program)) == "");
  for (const std::int64_t w : {0, 1, 3, 4, 7, 8, 9, 13, 20}) t.same(3, w);
  says(refusal(t.s, [&] { t.s[t.out].partition(inside, t.W); }), {"a whole loop, found xo of out"});
  says(refusal(t.s, [&] { t.s[t.out].partition(right, t.W); }), {"a whole loop, found xo of out"});
  Blur u;
  auto [v, w] = u.s[u.out].spatial<2>();
  const Loop from = u.s[u.out].partition(w, 3);
  says(refusal(u.s, [&] { u.s[u.out].partition(from, u.W); }),
       {"a point of x of out of at least 3, where it begins (max of both, or a Symbol with min), found W"});
}

TEST_CASE("a reduction goes on from where it was cut") {
  for (const int at : {0, 2, 5, 9}) {
    Product t;
    const Loop k = t.s[t.product].reduction();
    t.s[t.product].partition(k, at);
    t.same();
    Product u;
    auto [i, j] = u.s[u.product].spatial<2>();
    u.s[u.product].reorder(u.s[u.product].reduction(), i, j);
    u.s[u.product].partition(i, at);
    u.same();
  }
}

TEST_CASE("what partition refuses") {
  Blur t;
  auto [y, x] = t.s[t.out].spatial<2>();
  says(refusal(t.s, [&, l = y] { t.s[t.out].partition(l, t.H - 1); }),
       {"partition: expected a point of y of out of at least 0 (max(at, 0), or a Symbol with min), found H - 1"});
  says(refusal(t.s, [&, l = y] { t.s[t.out].partition(l, -1); }), {"a point of y of out of at least 0", "found -1"});
  says(refusal(t.s, [&, l = y] { t.s[t.out].partition(l, 1.5f); }), {"a point that counts iterations"});
  t.s[t.out].partition(y, 1);
  says(refusal(t.s, [&, l = y] { t.s[t.out].partition(l, 2); }),
       {"a whole loop, found y of out, which was peeled or partitioned"});
  t.s[t.out].parallel(y);
  says(refusal(t.s, [&, l = y] { t.s[t.out].partition(l, 2); }), {"a loop without a kind yet"});
  Blur u;
  auto [v, w] = u.s[u.out].spatial<2>();
  u.s[u.across].compute_at(w).store_at(v).slide(w);
  says(refusal(u.s, [&, l = w] { u.s[u.out].partition(l, 2); }), {"a loop that no stage slides along"});
  Product p;
  p.s[p.C].fuse_into(p.s[p.product].reduction());
  says(refusal(p.s, [&] { p.s[p.product].partition(p.s[p.product].reduction(), 2); }),
       {"the loop that holds the last step of the reduction"});
}

TEST_CASE("rows of a product advance together through its sum") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  auto [io, ii] = t.s[t.product].split(i, 4);
  auto [jo, ji] = t.s[t.product].split(j, 8);
  const Loop k = t.s[t.product].reduction();
  t.s[t.product].reorder(io, jo, ii, k, ji).vectorize(ji).unroll_and_jam(ii);
  CHECK(golden("schedule/golden/unroll_and_jam.txt", ir::text(t.s.scheduled().program)) == "");
  t.same();
  replays<Product>(t.s);
}

TEST_CASE("what unroll_and_jam refuses") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  says(refusal(t.s, [&, l = i] { t.s[t.product].unroll_and_jam(l); }),
       {"unroll_and_jam: expected a loop of constant extent (split it first), found i of product in M"});
  says(refusal(t.s, [&] { t.s[t.product].unroll_and_jam(k); }),
       {"unroll_and_jam: expected a loop with a serial loop inside", "found k of product"});
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {4, 8}), y = lang::make_output("y", f32, {2});
  Axis a{"a", 4}, b{"b", 8};
  lang::bind(y, compute("y", {{"i", 2}}, [&](Var) { return strict_sum(x(a, b), {a, b}); }));
  Schedule s = scheduled({x, y});
  says(refusal(s, [&] { s[y].unroll_and_jam(s[y].loop(a)); }),
       {"a reduction that may be regrouped (sum, not strict_sum), found y is accumulated in order; this changes the order"});
  Blur u;
  auto [v, w] = u.s[u.out].spatial<2>();
  u.s[u.across].compute_at(v);
  auto [vo, vi] = u.s[u.out].split(v, 4);
  says(refusal(u.s, [&, l = vi] { u.s[u.out].unroll_and_jam(l); }),
       {"loops with nothing between them, found across is computed inside"});
}

}  // namespace ashlar::test
