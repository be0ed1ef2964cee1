// Every way a schedule step refuses: the sentence names what was expected and what was found, and nothing changes.
#include "programs.h"

namespace ashlar::test {

TEST_CASE("split refuses tails that cannot hold") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  says(refusal(t.s, [&] { t.s[t.product].split(i, 0); }),
       {"split: expected a factor of at least 1, found 0", "refusals_test.cpp:"});
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

TEST_CASE("a consumed loop names what it became, and where") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  t.s[t.product].split(i, 4);
  says(refusal(t.s, [&, i = i] { t.s[t.product].unroll(i); }),
       {"found i of product, which was split into io and ii at refusals_test.cpp:"});
  says(refusal(t.s, [&] { t.s[t.product].spatial<2>(); }), {"i of product, which became io and ii at refusals_test.cpp:"});
}

TEST_CASE("a loop with a kind is not split, fused or peeled any more") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  t.s[t.C].parallel(i);
  says(refusal(t.s, [&, i = i] { t.s[t.C].split(i, 4); }),
       {"a loop without a kind yet", "was parallel at refusals_test.cpp:", "move this call before it"});
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

TEST_CASE("reorder keeps to one path, and to the order of a strict reduction") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.product].reorder(i, i); }), {"each loop once", "i of product twice"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].reorder(i, t.s[t.C].spatial<2>()[0]); }), {"are not all on one path"});
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, 8, 8}), y = lang::make_output("y", f32, {N});
  Axis a{"a", 8}, b{"b", 8};
  lang::bind(y, compute("y", {N}, [&](Var n) { return strict_sum(x(n, a, b), {a, b}); }));
  Schedule s(lang::build_program("strict", {x, y}), Target::parse("x86-64"));
  auto [la, lb] = s[y].reduction<2>();
  says(refusal(s, [&, la = la, lb = lb] { s[y].reorder(lb, la); }),
       {"a reduction that may be regrouped", "is accumulated in order", "conflict: "});
  says(refusal(s, [&, la = la] { s[y].rfactor(la); }), {"a reduction that may be regrouped"});
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

TEST_CASE("parallel needs independent iterations and storage of their own") {
  Product t;
  const Loop k = t.s[t.product].reduction();
  says(refusal(t.s, [&] { t.s[t.product].parallel(k); }),
       {"a loop whose iterations are independent", "iterations k = 0 and k = 1 both update"});
  auto [i, j] = t.s[t.C].spatial<2>();
  t.s[t.C].parallel(i);
  says(refusal(t.s, [&, j = j] { t.s[t.C].parallel(j); }), {"one parallel loop on a path (fuse them)"});
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
  says(refusal(t.s, [&, i = i] { t.s[t.C].tighten(i); }), {"the inner loop of a split with Tail::guard"});
  auto [io, ii] = t.s[t.C].split(i, 4);
  t.s[t.C].reorder(ii, io);
  says(refusal(t.s, [&, ii = ii] { t.s[t.C].tighten(ii); }), {"to stand around it", "io inside it"});
}

TEST_CASE("compute_at needs a loop around every reader") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  auto [pi, pj] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.C].compute_at(i); }), {"a stage that is not an output"});
  says(refusal(t.s, [&, pi = pi] { t.s[t.product].compute_at(pi); }), {"a loop of another stage", "a loop of product itself"});
  t.s[t.C].vectorize(j, 8);
  const Loop lanes = t.s[t.C].nest().back();
  says(refusal(t.s, [&] { t.s[t.product].compute_at(lanes); }), {"a loop outside of vectorized ones"});
  Stage a = t.s.cache_read(t.A, {t.product}, Scope::global);
  says(refusal(t.s, [&, i = i] { a.compute_at(i); }), {"a loop around every reader of A_cache", "does not hold product"});
}

TEST_CASE("inline is for stages with one plain value that something reads") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.product].inline_(); }), {"a stage that is not a reduction", "compute_at places it"});
  says(refusal(t.s, [&] { t.s[t.C].inline_(); }), {"a stage that is not an output"});
  Blur b;
  b.s[b.across].inline_();
  says(refusal(b.s, [&] { b.s[b.across].compute_root(); }), {"inlined"});
  b.same();
}

TEST_CASE("slide and fold need a window, storage outside and room") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 4);
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }), {"that across is computed inside (compute_at it first)"});
  b.s[b.across].compute_at(yi);
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }),
       {"storage outside of the loop it slides along", "stored inside"});
  says(refusal(b.s, [&] { b.s[b.across].fold(0, 2); }), {"room for what is live at once", "found 2"});
  says(refusal(b.s, [&] { b.s[b.across].fold(2, 4); }), {"a dimension of across below 2, found 2"});
  says(refusal(b.s, [&] { b.s[b.across].fold(0, 0); }), {"a ring of at least 1"});
  says(refusal(b.s, [&] { b.s[b.out].fold(0, 4); }), {"out, an output"});
}

TEST_CASE("fuse_into needs finished points of a producer at root") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.C].fuse_into(t.s[t.C].spatial<2>()[0]); }), {"fuse_into: expected"});
  Blur b;
  says(refusal(b.s, [&] { b.s[b.out].fuse_into(b.s[b.across].spatial<2>()[0]); }),
       {"out to read across at its own point alone"});
  lang::DefinitionScope scope;
  Symbol M{"M"}, K{"K"};
  Tensor x = lang::make_input("x", f32, {M, K}), z = lang::make_output("z", f32, {M});
  Axis k{"k", K};
  Tensor total = compute("total", {M}, [&](Var m) { return sum(x(m, k), k); });
  lang::bind(z, compute("z", {M}, [&](Var m) { return total(m) * 2.0f; }));
  Schedule s(lang::build_program("empty", {x, z}), Target::parse("x86-64"));
  const Loop step = s[total].reduction();
  s[total].reorder(step, s[total].spatial<1>()[0]);
  says(refusal(s, [&] { s[z].fuse_into(step); }), {"a reduction with at least one step", "would never be computed", "K = 0"});
}

TEST_CASE("caches name their readers, fills their types") {
  Product t;
  says(refusal(t.s, [&] { t.s.cache_read(t.A, {t.C}, Scope::global); }), {"readers of A", "C, which does not read it"});
  says(refusal(t.s, [&] { t.s.cache_read(t.product, {t.C}, Scope::global, 0); }),
       {"a fill value where the source is an input"});
  t.s[t.C].split(t.s[t.C].spatial<2>()[0], 4);
  says(refusal(t.s, [&] { t.s.cache_write(t.C, Scope::global); }), {"a stage whose loops were not scheduled yet", "i of C"});
  says(refusal(t.s, [&] { t.s[t.A]; }), {"a tensor that is computed", "A, an input (cache_read makes a stage of it)"});
}

TEST_CASE("storage choices belong to stages with storage of their own, maps to different places") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.C].store_in(Scope::stack); }), {"C, an output"});
  says(refusal(t.s, [&] { t.s[t.product].store_in(Scope::shared); }), {"a scope of this target", "shared"});
  says(refusal(t.s, [&] { t.s[t.product].transform_layout([](Var a, Var b) { return at(a, b / 2); }); }),
       {"a map that sends different elements of product to different places", "conflict: "});
  says(refusal(t.s, [&] { t.s[t.product].align(5, 8); }), {"a stored dimension of product below 2, found 5"});
  t.s[t.product].store_in(Scope::stack);
  try {
    schedule::finish(t.s.scheduled(), t.s.target());
    FAIL("a stack buffer without a constant size was accepted");
  } catch (const RefusalError& e) { says(e.refusal.text(), {"set_scope", "a constant size for product in stack"}); }
}

TEST_CASE("rfactor and prefetch name the loops they are for") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.product].rfactor(i); }), {"a reduction loop", "i of product, a spatial one"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].prefetch(i, t.bias, 1); }),
       {"a tensor that is read inside i of product", "bias"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].prefetch(i, t.A, 0); }), {"at least 1 iteration ahead"});
}

TEST_CASE("stream_store is for outputs that are stored once") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.product].stream_store(); }),
       {"a stage that stores each element once", "product, a reduction that reads what it stored"});
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N + 1}), y = lang::make_output("y", f32, {N});
  Tensor twice = compute("twice", [&](Var i) { return x(i) * 2.0f; });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return twice(i) + twice(i + 1); }));
  Schedule s(lang::build_program("pairs", {x, y}), Target::parse("x86-64"));
  says(refusal(s, [&] { s[twice].stream_store(); }),
       {"an output, which leaves the kernel", "twice, which a stage of it reads"});
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

TEST_CASE("lanes over overlapping tiles and what is in them meet (fuzz seed 13030)") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {7}), y = lang::make_output("y", f32, {7});
  lang::bind(y, compute("y", {{"i", 7}}, [&](Var i) { return x(i) * 2; }));
  const lang::Built program = lang::build_program("lanes", {x, y});
  Schedule s(program, Target::parse("x86-64"));
  auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 2, Tail::shift);
  Schedule whole = s;
  whole[y].vectorize(whole[y].nest()[0]);  // lanes over tiles: each begins elsewhere
  means_the_same(program.program, whole, {{7}, {7}});
  const Loop both = s[y].fuse(io, ii);
  says(refusal(s, [&] { s[y].vectorize(both); }),
       {"lanes that store to places of their own", "a fusion of tiles that overlap by Tail::shift"});
  s[y].parallel(both);
  means_the_same(program.program, s, {{7}, {7}});
}

TEST_CASE("a stage is put where a box of its producer is finished, not parts with gaps (fuzz seed 35613)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {12, N}), y = lang::make_output("y", f32, {12, N});
  Tensor t = compute("t", {{"i", 12}, {"j", N}}, [&](Var i, Var j) { return x(i, j) + 1; });
  lang::bind(y, compute("y", {{"i", 12}, {"j", N}}, [&](Var i, Var j) { return t(i, j) * 2; }));
  const lang::Built program = lang::build_program("after", {x, y});
  Schedule s(program, Target::parse("x86-64"));
  auto [i, j] = s[t].spatial<2>();
  auto [io, ii] = s[t].split(i, 3);
  Schedule fused = s;
  s[t].reorder(ii, j, io);
  says(refusal(s, [&, ii = ii] { s[y].fuse_into(ii); }), {"to finish a box of it", "i, of which they finish parts with gaps"});
  s[t].reorder(io, j, ii);
  s[y].fuse_into(io);
  means_the_same(program.program, s, {{12, 5}, {12, 5}});

  fused[t].fuse(ii, j);
  fused[y].fuse_into(io);
  means_the_same(program.program, fused, {{12, 5}, {12, 5}});
  Schedule pieces(program, Target::parse("x86-64"));
  auto [pi, pj] = pieces[t].spatial<2>();
  auto [po, pr] = pieces[t].split(pieces[t].fuse(pi, pj), 4);
  says(refusal(pieces, [&, po = po] { pieces[y].fuse_into(po); }), {"to finish a box of it"});
}

TEST_CASE("a ring is not a coordinate beside another of the same dimension (fuzz seed 31325)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, N}), y = lang::make_output("y", f32, {N, N});
  Tensor t = compute("t", {{"i", N}, {"j", N}}, [&](Var i, Var j) { return x(i, j) + 1; });
  lang::bind(y, compute("y", {{"i", N}, {"j", N}}, [&](Var i, Var j) { return t(i, j) * 2; }));
  Schedule s(lang::build_program("ring", {x, y}), Target::parse("x86-64"));
  s[t].transform_layout([&](Var i, Var j) { return at(i, i + j); });
  says(refusal(s, [&] { s[t].fold(0, 1); }), {"a dimension that one coordinate of the storage holds", "dimension 0 of t"});
}

TEST_CASE("lanes do not share an element of a ring (fuzz seed 21728)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor t = compute("t", {{"i", N}}, [&](Var i) { return x(i) + 1; });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return t(i) * 2; }));
  Schedule s(lang::build_program("ring", {x, y}), Target::parse("x86-64"));
  s[t].compute_at(s[y].spatial<1>()[0]).fold(0, 1);
  auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 2);
  says(refusal(s, [&, ii = ii] { s[t].vectorize(ii); }),
       {"lanes that store to places of their own", "ii of t, while t keeps one element for all of them"});
}

TEST_CASE("a composite is all or nothing, and attempts nest") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.product].tile(i, j, 4, 0); }), {"a factor of at least 1"});
  bool inner_refused = false;
  const auto outer = t.s.attempt([&, i = i, j = j] {
    t.s[t.product].split(i, 4);
    inner_refused = t.s.attempt([&] { t.s[t.product].vectorize(j); }).has_value();
  });
  CHECK_FALSE(outer.has_value());
  CHECK(inner_refused);
  says(t.s.trace(), {"split(i of product, 4, guard) -> io of product and ii of product"});
}

}  // namespace ashlar::test
