// Scatters and the steps of a schedule: what each makes of one, and what it refuses.
#include "programs.h"

#include <ashlar/ir/print.h>

#include "tests/golden.h"

namespace ashlar::test {
namespace {

struct Histogram {  // counts of the values of an image, and the image by how frequent its values are
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u32, {H, W});
  Tensor counts = scatter("counts", {{"b", 256}}, Combine::add, u32(0), {{"y", H}, {"x", W}},
                          [&](Var y, Var x) { return put(u32(1), in(y, x)); });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  void same() const {
    for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{33, 9}, {5, 70}, {1, 1}, {0, 3}})
      means_the_same(built.program, s, {{h, w}, {h, w}});
  }
  std::string text() const { return ir::text(s.scheduled().program); }

 private:
  lang::Built build() {
    lang::bind(out, compute("out", {{"i", H}, {"j", W}}, [&](Var i, Var j) { return counts(in(i, j)); }));
    return lang::build_program("histogram", {in, out});
  }
};

struct Embedding {  // grad[rows[n], d] += g[n, d]
  lang::DefinitionScope scope;
  Symbol N{"N"}, D{"D"}, V{"V"};
  Tensor g = lang::make_input("g", f32, {N, D}), rows = lang::make_input("rows", i32, {N}),
         old = lang::make_input("old", f32, {V, D}), out = lang::make_output("out", f32, {V, D});
  Tensor grad = scatter("grad", {{"v", V}, {"c", D}}, Combine::add, 0.f, {{"n", N}, {"d", D}},
                        [&](Var n, Var d) { return put_if(rows(n) >= 0 && rows(n) < V, g(n, d), rows(n), d); });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  void same() const {
    for (const auto& [n, d, v] :
         {std::tuple<std::int64_t, std::int64_t, std::int64_t>{9, 21, 6}, {3, 8, 20}, {4, 0, 3}, {4, 5, 0}, {0, 3, 2}})
      means_the_same(built.program, s, {{n, d}, {n}, {v, d}, {v, d}});
  }

 private:
  lang::Built build() {
    lang::bind(out, compute("out", {{"i", V}, {"j", D}}, [&](Var i, Var j) { return old(i, j) + grad(i, j); }));
    return lang::build_program("embedding", {g, rows, old, out});
  }
};

}  // namespace

TEST_CASE("private histograms, one a worker, and their sum") {
  Histogram t;
  auto [y, x] = t.s[t.counts].reduction<2>();
  auto [yo, yi] = t.s[t.counts].split(y, Parts{16});
  Stage partial = t.s[t.counts].rfactor(yo, Place::first);
  partial.parallel(partial.spatial<2>()[0]);
  auto [oy, ox] = t.s[t.out].spatial<2>();
  t.s[t.out].parallel(oy).vectorize(ox, 16);
  CHECK(golden("schedule/golden/scatter_rfactor.txt", t.text()) == "");
  t.same();
}

TEST_CASE("rfactor of a loop inside, of what is left, and of a reducer that does not commute") {
  Histogram t;
  auto [y, x] = t.s[t.counts].reduction<2>();
  auto [xo, xi] = t.s[t.counts].split(x, 4);
  Stage partial = t.s[t.counts].rfactor(xi);
  partial.compute_at(t.s[t.counts].reduction());
  t.same();
  Embedding u;
  auto [n, d] = u.s[u.grad].reduction<2>();
  Stage rows = u.s[u.grad].rfactor(n);
  u.same();
  rows.rfactor(rows.reduction());
  u.same();

  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor a = lang::make_input("a", i32, {N});
  const auto first = [&](Order order) {
    return reducer("first", {i32}, {0}, [](Values<1> l, Values<1> r) { return values(select(l[0] != 0, l[0], r[0])); }, order);
  };
  for (const Order order : {Order::regroup, Order::exact}) {
    Tensor f = scatter("f", {{"b", 4}}, first(order), 0, {{"n", N}}, [&](Var i) { return put(a(i), i % 4); });
    const Tensor out = lang::make_output("out", i32, {4});
    lang::bind(out, f);
    const lang::Built built = lang::build_program("first", {a, out});
    Schedule s(built, Target::parse("x86-64-v3"));
    auto [no, ni] = s[f].split(s[f].reduction(), Parts{3});
    says(refusal(s, [&, l = ni] { s[f].rfactor(l); }), {"a reducer declared with Order::any"});
    if (order == Order::exact) {
      says(refusal(s, [&, l = no] { s[f].rfactor(l); }), {"a reducer declared with Order::any"});
    } else {
      s[f].rfactor(no);
      for (std::int64_t k : {14, 3, 0}) means_the_same(built.program, s, {{k}, {4}});
    }
  }
}

TEST_CASE("the new dimension of an ordinary reduction may be the first one") {
  Product t;
  auto [ko, ki] = t.s[t.product].split(t.s[t.product].reduction(), 4);
  Stage lanes = t.s[t.product].rfactor(ki, Place::first);
  CHECK(t.s.scheduled().program.stage(lanes.id()).iters.front().name == "ki");
  t.same();
  replays<Product>(t.s);
}

TEST_CASE("iterations that choose one element do not run at once") {
  Histogram t;
  auto [y, x] = t.s[t.counts].reduction<2>();
  says(refusal(t.s, [&, l = y] { t.s[t.counts].parallel(l); }),
       {"a loop whose iterations are independent, found y of counts, steps of a scatter",
        "iterations y = 0 and y = 1 both update counts[", "rfactor makes private results, atomic combines in memory"});
  says(refusal(t.s, [&, l = x] { t.s[t.counts].vectorize(l, 8); }),
       {"lanes that store to places of their own, found xi of counts, steps of a scatter",
        "iterations xi = 0 and xi = 1 both update counts["});
  Embedding u;
  auto [n, d] = u.s[u.grad].reduction<2>();
  says(refusal(u.s, [&, l = n] { u.s[u.grad].parallel(l); }),
       {"a loop whose iterations are independent", "iterations n = 0 and n = 1 both write grad"});
  auto [dd, di] = u.s[u.grad].split(d, 8);
  u.s[u.grad].reorder(dd, n, di).parallel(dd).vectorize(di);  // columns of the rows that the data choose
  CHECK(golden("schedule/golden/scatter_columns.txt", ir::text(u.s.scheduled().program)) == "");
  u.same();
  says(refusal(u.s, [&, l = n] { u.s[u.grad].parallel(l); }), {"a loop whose iterations are independent"});
  t.same();
}

TEST_CASE("steps that change neighbors of an element that data choose for all of them run at once") {
  // around(n, dx): the place in a row of G, where a sample n of a window of 5 by 2 values is put
  const auto grid = [](auto around, auto try_it) {
    lang::DefinitionScope scope;
    const Symbol N{"N"}, G{"G", {.min = 6}};
    const Tensor at = lang::make_input("at", i32, {N}), x = lang::make_input("x", f32, {N, 2}),
                 out = lang::make_output("out", f32, {G, 2});
    const Tensor sums = scatter("sums", {{"g", G}, {"v", 2}}, Combine::add, 0.f, {{"n", N}, {"dx", 5}, {"c", 2}},
                                [&](Var n, Var dx, Var c) { return put(x(n, c), around(at, n, dx, G), c); });
    lang::bind(out, sums);
    const lang::Built built = lang::build_program("grid", {at, x, out});
    Schedule s(built, Target::parse("x86-64-v3"));
    auto [n, dx, c] = s[sums].template reduction<3>();
    try_it(s, s[sums], n, dx, c);
    for (const std::int64_t size : {0, 1, 9}) means_the_same(built.program, s, {{size}, {size, 2}, {7, 2}});
  };
  const auto cell = [](const Tensor& at, const Expr& n, const Symbol& G) { return clamp(i64(at(n)), 2, i64(G) - 3); };
  const auto shifted = [&](const Tensor& at, Var n, Var dx, const Symbol& G) { return cell(at, n, G) + dx - 2; };
  grid(shifted, [](Schedule&, Stage s, Loop, Loop dx, Loop c) { s.vectorize(s.fuse(dx, c)); });
  grid(shifted, [](Schedule&, Stage s, Loop n, Loop dx, Loop c) { s.reorder(n, c, dx).vectorize(dx, 4); });
  grid([&](const Tensor& at, Var n, Var dx, const Symbol& G) { return cell(at, n, G) + 2 - dx; },
       [](Schedule&, Stage s, Loop, Loop dx, Loop c) { s.vectorize(s.fuse(dx, c)); });
  const auto refused = [&](auto around) {
    grid(around, [](Schedule& all, Stage s, Loop, Loop dx, Loop c) {
      const Loop both = s.fuse(dx, c);
      says(refusal(all, [&] { s.vectorize(both); }),
           {"lanes that store to places of their own, found dx_c of sums, steps of a scatter"});
    });
  };
  // two steps at the end of the row; every other one; an element that the step chooses; the samples themselves
  refused([&](const Tensor& at, Var n, Var dx, const Symbol& G) { return clamp(cell(at, n, G) + dx, 0, i64(G) - 1); });
  refused([&](const Tensor& at, Var n, Var dx, const Symbol& G) { return cell(at, n, G) + dx / 2 - 1; });
  refused([&](const Tensor& at, Var n, Var dx, const Symbol& G) { return cell(at, max(n - dx, 0), G); });
  grid(shifted, [](Schedule& all, Stage s, Loop n, Loop, Loop) {
    says(refusal(all, [&] { s.parallel(n); }), {"a loop whose iterations are independent, found n of sums"});
  });
}

TEST_CASE("loops of steps and loops of the init") {
  for (const Tail tail : {Tail::guard, Tail::predicate, Tail::peel}) {
    Histogram t;
    auto [y, x] = t.s[t.counts].reduction<2>();
    auto [xo, xi] = t.s[t.counts].split(x, 4, tail);
    if (tail != Tail::peel) t.s[t.counts].reorder(xo, y, xi).unroll(xi);
    const Loop b = t.s[t.counts].spatial<1>()[0];
    t.s[t.counts].vectorize(b, 16);
    t.same();
  }
  Histogram t;
  auto [y, x] = t.s[t.counts].reduction<2>();
  const Loop both = t.s[t.counts].fuse(y, x);
  t.s[t.counts].peel(both, Peel::first);
  t.s[t.counts].parallel(t.s[t.counts].spatial<1>()[0]);
  t.same();
  Histogram u;
  const Loop last = u.s[u.counts].reduction<2>()[1];
  says(refusal(u.s, [&] { u.s[u.counts].split(last, 4, Tail::shift); }),
       {"Tail::shift on a spatial loop, found x of counts, a reduction: the overlap would be accumulated twice"});
  says(refusal(u.s, [&] { u.s[u.counts].split(last, 4, Tail::pad); }),
       {"a tail that takes no steps past the end (Tail::guard), found counts, a scatter"});
  says(refusal(u.s, [&] { u.s[u.counts].split(last, 4, Tail::exact); }), {"an extent of x of counts that 4 divides"});
  says(refusal(u.s, [&] { u.s[u.counts].reorder(last, u.s[u.counts].spatial<1>()[0]); }), {"are not all on one path"});
}

TEST_CASE("a nest of a part of the result drops what lies outside of it") {
  Embedding t;
  auto [i, j] = t.s[t.out].spatial<2>();
  auto [io, ii] = t.s[t.out].split(i, 4);
  t.s[t.grad].compute_at(io);
  CHECK(golden("schedule/golden/scatter_compute_at.txt", ir::text(t.s.scheduled().program)) == "");
  t.same();
  t.s[t.out].parallel(io);
  t.same();
  t.s[t.grad].compute_at(j);
  t.same();
  Embedding u;
  auto [k, l] = u.s[u.out].spatial<2>();
  u.s[u.grad].compute_at(l).store_at(k).slide(l).fold(1, 2);
  u.same();
}

TEST_CASE("what the other steps make of a scatter") {
  Histogram t;
  says(refusal(t.s, [&] { t.s[t.counts].inline_(); }), {"a stage that is not a reduction"});
  says(refusal(t.s, [&] { t.s[t.counts].decompose_init(t.s[t.counts].reduction<2>()[0]); }),
       {"counts, a scatter, whose init stands apart anyway"});
  says(refusal(t.s, [&] { t.s[t.counts].drop_dim(0, 0); }), {"a stage whose points do not depend on data, found counts"});
  t.s.cache_read(t.in, {t.counts}, Scope::stack).compute_at(t.s[t.counts].reduction<2>()[0]);
  t.same();
  Embedding u;
  Stage cache = u.s.cache_write(u.grad, Scope::global);
  u.s.cache_read(u.rows, {cache}, Scope::global);
  u.same();
  Embedding v;
  says(refusal(v.s, [&] { v.s[v.out].fuse_into(v.s[v.grad].spatial<2>()[0]); }),
       {"a producer that finishes its points one by one, found grad, a scatter"});
  v.s[v.grad].reorder(v.s[v.grad].reduction<2>()[1], v.s[v.grad].reduction<2>()[0]);
  v.same();
}

TEST_CASE("a put that may lie outside is refused at its line") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", u8, {N}), y = lang::make_output("y", i32, {100});
  const std::string here = "scatter_test.cpp:" + std::to_string(__LINE__ + 1);
  lang::bind(y, scatter("t", {100}, Combine::add, 0, {{"n", N}}, [&](Var n) { return put(1, x(n)); }));
  try {
    scheduled({x, y});
    FAIL("a put past the end was accepted");
  } catch (const RefusalError& e) {
    says(e.refusal.text(),
         {here.c_str(), "puts into t inside of it (clamp the index, promise in_range, or drop points by put_if)",
          "in dimension 0, perhaps past its end 100"});
  }
}

TEST_CASE("an index keeps the bits of a u64, and has a sign (seed 21460)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor wide = lang::make_input("wide", u64, {N}), y = lang::make_output("y", i32, {N});
  lang::bind(y, scatter("t", {N}, Combine::add, 0, {N}, [&](Var n) { return put_if(wide(n) < N, 1, wide(n)); }));
  CHECK_THROWS_WITH_AS(Schedule(lang::build_program("p", {wide, y}), Target::parse("x86-64")),
                       doctest::Contains("perhaps below its begin 0"), RefusalError);
}

}  // namespace ashlar::test
