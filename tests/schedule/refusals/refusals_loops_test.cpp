// Every way in which the primitives of loops refuse: split, fuse, reorder, peel, tighten, vectorize, unroll, parallel.
#include "tests/schedule/programs.h"

namespace ashlar::test {

TEST_CASE("split refuses tails that cannot hold") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  says(refusal(t.s, [&] { t.s[t.product].split(i, 0); }),
       {"split: expected a factor of at least 1, found 0", "refusals_loops_test.cpp:"});
  says(refusal(t.s, [&] { t.s[t.product].split(i, 4, Tail::exact); }),
       {"expected an extent of i of product that 4 divides", "found M", "conflict: M = "});
  says(refusal(t.s, [&] { t.s[t.product].split(i, 4, Tail::shift); }), {"of at least 4", "found M", "conflict: M = "});
  says(refusal(t.s, [&] { t.s[t.product].split(k, 4, Tail::shift); }),
       {"Tail::shift on a spatial loop", "a reduction: the overlap would be accumulated twice"});
  says(refusal(t.s, [&] { t.s[t.product].split(k, 4, Tail::pad); }),
       {"terms that are zero past the end of k", "0 * NaN is NaN"});
  says(refusal(t.s, [&] { t.s[t.C].split(t.s[t.C].spatial<2>()[0], 4, Tail::pad); }),
       {"writes the argument C", "cache_write it first"});
  says(refusal(t.s, [&] { t.s[t.product].split(i, Parts{0}); }), {"expected at least 1 part, found 0"});
  says(refusal(t.s, [&] { t.s[t.product].split(i, Parts{2}, Tail::exact); }), {"Tail::guard where a loop is split into parts"});
}

TEST_CASE("a tail that computes points twice is refused where the result may lie in an input") {
  lang::DefinitionScope scope;
  const Tensor x = lang::make_input("x", f32, {12}), y = lang::make_output("y", f32, {12}, {.may_alias_inputs = true});
  lang::bind(y, compute("y", {{"i", 12}}, [&](Var i) { return x(i) * 2; }));
  Schedule s(lang::build_program("in_place", {x, y}), Target::parse("x86-64"));
  const Loop i = s[y].spatial<1>()[0];
  says(refusal(s, [&] { s[y].split(i, 8, Tail::shift); }),
       {"a result that lies apart from the inputs", "found y, which may be an input"});
  s[y].split(i, 8, Tail::guard);
}

TEST_CASE("Tail::pad is for sums, along a whole dimension") {
  Product t;
  t.s.cache_read(t.A, {t.product}, Scope::global, 0);
  auto [i, j] = t.s[t.product].spatial<2>();
  auto [io, ii] = t.s[t.product].split(i, 8);
  says(refusal(t.s, [&, ii = ii] { t.s[t.product].split(ii, 4, Tail::pad); }),
       {"Tail::pad on a loop that runs over a whole dimension (or the outer part of one)", "ii of product, an inner part"});
  const Loop fused = t.s[t.product].fuse(ii, j);
  says(refusal(t.s, [&] { t.s[t.product].split(fused, 4, Tail::pad); }), {"ii_j of product, a fused loop"});
  Product parts;
  parts.s.cache_read(parts.A, {parts.product}, Scope::global, 0);
  const Loop outer = parts.s[parts.product].split(parts.s[parts.product].spatial<2>()[0], Parts{3}).outer;
  says(refusal(parts.s, [&] { parts.s[parts.product].split(outer, 4, Tail::pad); }),
       {"constant factors around a split with Tail::pad", "Parts: a factor of 4 * ((M + 2) / 3)"});
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, N}), y = lang::make_output("y", f32, {N});
  Axis k{"k", N};
  lang::bind(y, compute("y", {{"i", N}}, [&](Var n) { return maximum(x(n, k), k); }));
  Schedule s = scheduled({x, y});
  says(refusal(s, [&] { s[y].split(s[y].reduction(), 4, Tail::pad); }),
       {"Tail::pad on a sum (padding adds zeros), found y, a maximum"});
}

TEST_CASE("Tail::cover is for points along a whole dimension, over producers that can be computed past the end") {
  Product t;
  const Stage product = t.s[t.product], C = t.s[t.C];
  says(refusal(t.s, [&] { product.split(product.reduction(), 4, Tail::cover); }),
       {"Tail::cover on a spatial loop", "found k of product, a reduction"});
  auto [i, j] = C.spatial<2>();
  auto [io, ii] = C.split(i, 8);
  says(refusal(t.s, [&, ii = ii] { C.split(ii, 4, Tail::cover); }),
       {"Tail::cover on a loop that runs over a whole dimension (or the outer part of one)", "ii of C, an inner part"});
  says(refusal(t.s, [&, j = j] { C.split(j, Parts{2}, Tail::cover); }), {"Tail::guard where a loop is split into parts"});
  Chain shifted({.min = 8});
  const Stage b = shifted.s[shifted.b];
  const Loop tiles = b.split(b.spatial<1>()[0], 2, Tail::shift).outer;
  says(refusal(shifted.s, [&] { b.split(tiles, 2, Tail::cover); }), {"Tail::cover on a loop that may go past its end"});
  // The product reads A, which ends where M does, unless what is read there is a copy that goes on with zeros.
  for (const bool filled : {false, true}) {
    CAPTURE(filled);
    Product p;
    const Stage of = p.s[p.product], out = p.s[p.C];
    if (filled) {
      const Stage a = p.s.cache_read(p.A, {of}, Scope::global, 0);
      auto [po, pi] = out.split(out.spatial<2>()[0], 8, Tail::cover);
      of.compute_at(po), a.compute_at(po);
      p.same();
      static_cast<void>(pi);
    } else {
      says(refusal(p.s, [&] { of.compute_at(out.split(out.spatial<2>()[0], 8, Tail::cover).outer); }),
           {"split: expected reads of A inside of it", "product reads A at i in dimension 0, past its end M"});
    }
  }
}

TEST_CASE("tiles that overlap are not padded: lanes, threads and workers each have one of their own (fuzz seed 1050348)") {
  const auto padded = [](int between) {
    Chain chain({.min = 8});
    const Stage b = chain.s[chain.b];
    Loop tiles = b.split(b.spatial<1>()[0], 2, Tail::shift).outer;
    if (between > 0) tiles = b.split(tiles, between, Tail::guard).outer;
    return refusal(chain.s, [&] { b.split(tiles, 2, Tail::pad); });
  };
  says(padded(0),
       {"Tail::pad on a loop that may go past its end, found io of b, over the tiles of i, split with Tail::shift at",
        "iterations io = (N + 1) / 2 - 1 and io = (N + 1) / 2 would both compute the last tile, from i = N - 2"});
  says(padded(3), {"found ioo of b, over the tiles of i"});
  lang::DefinitionScope scope;  // a tile of tiles that were padded: the padding stays in it
  Symbol N{"N", {.min = 8}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor b = compute("b", {N}, [&, wide = boundary::repeat(x)](Var i) { return wide(i) * 2.0f; });
  lang::bind(y, compute("y", {N}, [&](Var i) { return b(i) + 1.0f; }));
  const lang::Built built = lang::build_program("tiles", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  const Loop tiles = s[b].split(s[b].spatial<1>()[0], 2, Tail::pad).outer;
  s[b].vectorize(s[b].split(tiles, 2, Tail::shift).inner);
  means_the_same(built.program, s, {{8}, {8}}), means_the_same(built.program, s, {{9}, {9}});
}

TEST_CASE("a tail that was proved holds wherever the stage is computed later") {
  Chain even({.min = 4, .multiple_of = 4});
  even.s[even.b].split(even.s[even.b].spatial<1>()[0], 4, Tail::exact);
  auto [yo, yi] = even.s[even.y].split(even.s[even.y].spatial<1>()[0], 6);
  says(refusal(even.s, [&, yo = yo] { even.s[even.b].compute_at(yo); }),
       {"an extent that 4 still divides for i of b, split at refusals_loops_test.cpp:", "found min(N - io * 6, 6)"});
  Chain shifted({.min = 4});
  shifted.s[shifted.b].split(shifted.s[shifted.b].spatial<1>()[0], 4, Tail::shift);
  const Loop each = shifted.s[shifted.y].spatial<1>()[0];
  says(refusal(shifted.s, [&] { shifted.s[shifted.b].compute_at(each); }),
       {"an extent still of at least 4 for i of b, split at refusals_loops_test.cpp:", "found 1"});
  even.same(16), shifted.same();
}

TEST_CASE("a later step that breaks an earlier promise is refused") {
  lang::DefinitionScope scope;
  Symbol M{"M", {.min = 4}}, K{"K", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {M, K}), y = lang::make_output("y", f32, {M});
  Axis k{"k", K};
  lang::bind(y, compute("y", {{"i", M}}, [&](Var m) { return sum(x(m, k), k); }));
  Schedule s(lang::build_program("rows", {x, y}), Target::parse("x86-64"));
  auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 4, Tail::shift);
  const Loop step = s[y].reduction();
  says(refusal(s, [&, io = io, ii = ii] { s[y].reorder(step, io, ii); }),
       {"Tail::shift outside of the reduction loops", "would accumulate twice"});
}

TEST_CASE("a loop with a kind is not split, fused or peeled any more") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  t.s[t.C].parallel(i);
  says(refusal(t.s, [&, i = i] { t.s[t.C].split(i, 4); }),
       {"a loop without a kind yet", "was parallel at refusals_loops_test.cpp:", "move this call before it"});
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.C].fuse(i, j); }), {"a loop without a kind yet"});
  says(refusal(t.s, [&, i = i] { t.s[t.C].peel(i, Peel::first); }), {"a loop without a kind yet"});
}

TEST_CASE("fuse needs two loops of one kind, one directly inside the other") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  says(refusal(t.s, [&, i = i] { t.s[t.product].fuse(i, k); }), {"k of product is not directly inside i of product"});
  says(refusal(t.s, [&, j = j] { t.s[t.product].fuse(j, k); }),
       {"two loops of one kind", "a spatial loop, j, and a reduction, k"});
}

TEST_CASE("fuse needs an inner extent that stays, and loops that stand at one place") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {4, 5}), y = lang::make_output("y", f32, {3});
  Axis k{"k", 4}, l{"l", k + 1};
  lang::bind(y, compute("y", {{"i", 3}}, [&](Var) { return sum(x(k, l), {k, l}); }));
  Schedule s = scheduled({x, y});
  auto [lk, ll] = s[y].reduction<2>();
  says(refusal(s, [&, lk = lk, ll = ll] { s[y].fuse(lk, ll); }),
       {"an inner loop whose extent does not depend on the outer one", "found l in max(k + 1, 0)"});
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  auto [jo, ji] = t.s[t.C].split(j, 4);
  t.s[t.C].peel(i, Peel::last);
  says(refusal(t.s, [&, jo = jo, ji = ji] { t.s[t.C].fuse(jo, ji); }),
       {"loops that stand at one place, found jo of C, which peel copied (move the fuse before the peel)"});
}

TEST_CASE("reorder keeps to one path, and to the order of a strict reduction") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.product].reorder(i, i); }), {"each loop once", "i of product twice"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].reorder(i, t.s[t.C].spatial<2>()[0]); }), {"a loop of product, found i of C"});
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, 8, 8}), y = lang::make_output("y", f32, {N});
  Axis a{"a", 8}, b{"b", 8};
  lang::bind(y, compute("y", {N}, [&](Var n) { return strict_sum(x(n, a, b), {a, b}); }));
  Schedule s(lang::build_program("strict", {x, y}), Target::parse("x86-64"));
  auto [la, lb] = s[y].reduction<2>();
  says(refusal(s, [&, la = la, lb = lb] { s[y].reorder(lb, la); }),
       {"a reduction that may be regrouped", "y is accumulated in order; this changes the order of its reduction loops",
        "conflict: a = 0, b = 1 comes before a = 1, b = 0 in the definition, and after it in the schedule"});
  says(refusal(s, [&, la = la] { s[y].rfactor(la); }), {"a reduction that may be regrouped", "rfactor sums its parts apart",
                                                        "conflict: the terms of a = 0 and of a = 1 are summed apart"});
}

TEST_CASE("reorder keeps loops inside those that bound them, and names what stands between them") {
  Triangle t;
  const Loop i = t.s[t.y].spatial<1>()[0], k = t.s[t.y].reduction();
  says(refusal(t.s, [&] { t.s[t.y].reorder(k, i); }),
       {"a loop inside those that bound it, found k in i + 1 would stand outside i"});
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 4);
  b.s[b.across].store_at(yo).compute_at(yi);
  says(refusal(b.s, [&, yo = yo, yi = yi] { b.s[b.out].reorder(yi, yo); }),
       {"loops with nothing between them", "across is stored inside yo of out (move this call before its store_at)"});
  Product p;
  auto [pi, pj] = p.s[p.product].spatial<2>();
  const Loop pk = p.s[p.product].reduction();
  p.s[p.product].prefetch(pj, p.B, 1);
  says(refusal(p.s, [&, pj = pj] { p.s[p.product].reorder(pk, pj); }),
       {"B is prefetched inside j of product (move this call before its prefetch)"});
  Product q;
  auto [qi, qj] = q.s[q.product].spatial<2>();
  const Loop qk = q.s[q.product].reduction();
  q.s[q.product].peel(qk, Peel::last);
  says(refusal(q.s, [&, qj = qj] { q.s[q.product].reorder(qk, qj); }),
       {"the parts of a loop that was peeled inside j of product (move this call before the peel)"});
  Product r;
  auto [ri, rj] = r.s[r.product].spatial<2>();
  r.s[r.C].fuse_into(ri);
  says(refusal(r.s, [&, ri = ri, rj = rj] { r.s[r.product].reorder(rj, ri); }),
       {"C is computed inside i of product (move this call before its fuse_into)"});
  Product two;  // as a saved schedule may ask for it
  schedule::Step step;
  step.primitive = "reorder";
  step.args = {schedule::Arg::loop(two.s[two.product].spatial<2>()[0].id()),
               schedule::Arg::loop(two.s[two.C].spatial<2>()[0].id())};
  const std::string json = schedule::json({step});
  says(refusal(two.s, [&] { two.s.replay(json); }),
       {"loops around one another, found i of product and i of C are not all on one path"});
}

TEST_CASE("a step that brings a point back into the bounds of a loop outside is refused") {  // fuzz --by-default, seed 970090
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N, N}), out = lang::make_output("out", i32, {N});
  const Tensor y = compute("y", {{"i", N}}, [&](Var i) {
    const Axis k{"k", i + 1};
    return sum(x(i, k), k);
  });
  lang::bind(out, compute("z", {{"i", N}}, [&](Var i) { return y(i) + 1; }));
  Schedule s(lang::build_program("row", {x, out}), Target::parse("x86-64-v3"));
  s[y].compute_at(s[out].spatial<1>()[0]);
  const Loop i = s[y].spatial<1>()[0];
  s[y].reorder(s[y].reduction(), i);  // of one row: its terms are those of z's
  says(refusal(s, [&] { s[y].split(i, 4); }),
       {"loops inside those that bound them (move this call before the reorder)", "k in ", " outside ii"});
}

TEST_CASE("loops that hold or are held by something are not reordered") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.C].reorder(i); }), {"at least two loops"});
  t.s[t.product].compute_at(i);
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.C].reorder(j, i); }),
       {"loops with nothing between them", "product is computed inside i of C", "move this call before its compute_at"});
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.C].fuse(i, j); }), {"a loop whose body is exactly the other one"});
  t.same();
}

TEST_CASE("a peeled loop stands in parts") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  t.s[t.C].peel(i, Peel::last);
  says(refusal(t.s, [&, i = i] { t.s[t.C].split(i, 4); }),
       {"a whole loop", "i of C, which was peeled or partitioned at refusals_loops_test.cpp:"});
  says(refusal(t.s, [&, i = i] { t.s[t.C].peel(i, Peel::first); }),
       {"peel: expected a whole loop, found i of C, which was peeled or partitioned at refusals_loops_test.cpp:"});
  says(refusal(t.s, [&, j = j] { t.s[t.C].split(j, 4); }),
       {"a loop that stands at one place", "j of C, which peel copied (move the split before the peel)"});
  t.same(), t.same(1, 1, 1);
}

TEST_CASE("vectorize and unroll need constant extents, vectors independent iterations") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, j = j] { t.s[t.product].vectorize(j); }),
       {"a loop of constant extent (split it first)", "j of product in N"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].unroll(i); }), {"a loop of constant extent", "i of product in M"});
  auto [ko, ki] = t.s[t.product].split(t.s[t.product].reduction(), 4);
  says(refusal(t.s, [&, ki = ki] { t.s[t.product].vectorize(ki); }),
       {"a loop whose iterations are independent (rfactor makes lanes of a reduction)",
        "conflict: iterations ki = 0 and ki = 1 both update product[i, j]"});
  auto [jo, ji] = t.s[t.product].split(j, 4096);
  says(refusal(t.s, [&, ji = ji] { t.s[t.product].unroll(ji); }), {"an extent of at most 1024", "in 4096"});
}

TEST_CASE("what stands inside a vectorized loop runs alike in every lane") {
  Triangle t;
  const Loop rows = t.s[t.y].spatial<1>()[0];
  says(refusal(t.s, [&] { t.s[t.y].vectorize(rows); }),
       {"inner loops that run alike in every lane", "k of y from 0 to i + 1, which depends on i",
        "conflict: lanes i = 0 and i = 1 run other iterations of k"});
  Product p;
  auto [i, j] = p.s[p.C].spatial<2>();
  auto [jo, ji] = p.s[p.C].split(j, 8);
  auto [io, ii] = p.s[p.C].split(i, 8);
  {
    Schedule& s = p.s;
    const auto taken_back = s.attempt([&, ji = ji, ii = ii] {
      p.s[p.product].compute_at(ji);
      says(refusal(s, [&] { p.s[p.C].vectorize(ji); }),
           {"a vectorized loop with nothing computed inside it", "product is computed inside ji of C"});
      p.s[p.C].split(ii, 0);
    });
    REQUIRE(taken_back);
    says(taken_back->text(), {"split: expected a factor of at least 1, found 0"});
  }
  p.s[p.C].parallel(jo);
  says(refusal(p.s, [&, ii = ii] { p.s[p.C].vectorize(ii); }),
       {"parallel loops outside of vectorized ones", "jo of C inside ii of C"});
  p.s[p.C].vectorize(ji);
  p.s[p.C].unroll(ii);
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {10, 5}), y = lang::make_output("y", f32, {10});
  Axis k{"k", 5};
  lang::bind(y, compute("y", {{"i", 10}}, [&](Var m) { return sum(x(m, k), k); }));
  Schedule s = scheduled({x, y});
  const Loop tiles = s[y].split(s[y].spatial<1>()[0], 4, Tail::shift).outer;
  for (const bool lanes : {true, false})
    says(refusal(s, [&] { lanes ? s[y].vectorize(tiles) : s[y].parallel(tiles); }),
         {"a loop whose iterations are independent, found io of y, tiles that overlap by Tail::shift",
          "conflict: the last two tiles both accumulate into their common points"});
}

TEST_CASE("parallel needs independent iterations and storage of their own") {
  Product t;
  const Loop k = t.s[t.product].reduction();
  says(refusal(t.s, [&] { t.s[t.product].parallel(k); }),
       {"a loop whose iterations are independent", "iterations k = 0 and k = 1 both update"});
  auto [i, j] = t.s[t.C].spatial<2>();
  t.s[t.C].parallel(i);
  says(refusal(t.s, [&, j = j] { t.s[t.C].parallel(j); }),
       {"one parallel loop on a path (fuse them)", "j of C inside i of C, at refusals_loops_test.cpp:"});
  Product u;
  auto [ui, uj] = u.s[u.C].spatial<2>();
  u.s[u.C].parallel(uj);
  says(refusal(u.s, [&, ui = ui] { u.s[u.C].parallel(ui); }),
       {"one parallel loop on a path (fuse them)", "j of C, at refusals_loops_test.cpp:", ", inside i of C"});
  auto [p, q] = u.s[u.product].spatial<2>();
  auto [qo, qi] = u.s[u.product].split(q, 8);
  u.s[u.product].reorder(qi, qo).vectorize(qi);
  says(refusal(u.s, [&, qo = qo] { u.s[u.product].parallel(qo); }),
       {"parallel loops outside of vectorized ones, found jo of product inside ji of product"});
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 4);
  b.s[b.across].store_at(yo).compute_at(yi);
  says(refusal(b.s, [&, yi = yi] { b.s[b.out].parallel(yi); }),
       {"storage of its own for each iteration of", "across is computed inside and stored outside", "conflict: iterations"});
  b.s[b.across].slide(yi);
  says(refusal(b.s, [&, yi = yi] { b.s[b.out].parallel(yi); }), {"along which across slides", "reads what iteration"});
}

TEST_CASE("tighten needs the loops it was split from around it") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.C].tighten(i); }),
       {"the inner loop of a split with Tail::guard, or a loop of two skewed axes, found i of C, which no split made"});
  auto [io, ii] = t.s[t.C].split(i, 4);
  says(refusal(t.s, [&, io = io] { t.s[t.C].tighten(io); }), {"found io of C, the outer loop of a split"});
  auto [jo, ji] = t.s[t.C].split(j, 4, Tail::peel);
  says(refusal(t.s, [&, ji = ji] { t.s[t.C].tighten(ji); }), {"found ji of C, the inner loop of a split with another tail"});
  const Loop fused = t.s[t.product].fuse(t.s[t.product].spatial<2>()[0], t.s[t.product].spatial<2>()[1]);
  says(refusal(t.s, [&] { t.s[t.product].tighten(fused); }), {"found i_j of product, a fused loop"});
  t.s[t.C].reorder(ii, io);
  says(refusal(t.s, [&, ii = ii] { t.s[t.C].tighten(ii); }),
       {"the outer loop of the split that made ii of C to stand around it", "io inside it"});
}

TEST_CASE("padded loops are counted in 62 bits") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const std::int64_t most = INT32_MAX;
  says(refusal(t.s, [&, i = i] { t.s[t.product].split(i, most + 1); }),
       {"split: expected a factor of at most 2147483647, found 2147483648"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].split(i, Parts{INT64_MAX}); }),
       {"split: expected a number of parts of at most 2147483647"});
  auto [io, ii] = t.s[t.product].split(i, most);
  auto [ioo, ioi] = t.s[t.product].split(io, most);
  auto [jo, ji] = t.s[t.product].split(j, most);
  t.s[t.product].reorder(ioo, jo, ioi, ii, ji);
  const Loop both = t.s[t.product].fuse(ioi, ii);
  says(refusal(t.s, [&, ji = ji] { t.s[t.product].fuse(both, ji); }),
       {"fuse: expected a number of iterations that 62 bits hold, found"});
}

TEST_CASE("tiles that overlap start from their own init (fuzz seed 129566)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N, 8}), y = lang::make_output("y", f32, {8});
  Axis k{"k", N};
  Tensor total = compute("total", {8}, [&](Var j) { return sum(x(k, j), k); });
  lang::bind(y, total);
  const lang::Built built = lang::build_program("columns", {x, y});
  Schedule s(built, Target::parse("x86-64"));
  const Loop j = s[total].spatial<1>()[0];
  auto [jo, ji] = s[total].split(j, 7, Tail::shift);
  says(refusal(s, [&, jo = jo] { s[total].decompose_init(jo); }),
       {"the init inside the tile loop of Tail::shift", "total, whose init stands outside of i0o",
        "both would accumulate into what one init has started"});
  s[total].decompose_init(ji);  // in the tile
}

}  // namespace ashlar::test
