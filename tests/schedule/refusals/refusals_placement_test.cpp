// Every way in which placement refuses: compute_at, compute_root, inline, store_at, slide, fold, fuse_into.
#include "tests/schedule/programs.h"

namespace ashlar::test {

TEST_CASE("compute_at needs a loop around every reader") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  auto [pi, pj] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.C].compute_at(i); }), {"a loop of another stage", "a loop of C itself"});
  says(refusal(t.s, [&, pi = pi] { t.s[t.C].compute_at(pi); }), {"a stage that is not an output"});
  says(refusal(t.s, [&, pi = pi] { t.s[t.product].compute_at(pi); }), {"a loop of another stage", "a loop of product itself"});
  t.s[t.C].vectorize(j, 8);
  const Loop lanes = t.s[t.C].nest().back();
  says(refusal(t.s, [&] { t.s[t.product].compute_at(lanes); }), {"a loop outside of vectorized ones"});
  Stage a = t.s.cache_read(t.A, {t.product}, Scope::global);
  says(refusal(t.s, [&, i = i] { a.compute_at(i); }), {"a loop around every reader of A_cache", "does not hold product"});
}

TEST_CASE("a step that comes too early names the one that is missing") {
  Chain c;
  const Loop y = c.s[c.y].spatial<1>()[0];
  says(refusal(c.s, [&] { c.s[c.a].compute_at(y); }),
       {"a loop around every reader of a",
        "i of y does not hold b; first b has to be computed there: s[b].compute_at(...) with this loop, then a"});
  says(refusal(c.s, [&] { c.s[c.a].store_at(y); }), {"s[b].compute_at(...) with this loop, then a"});
  c.s[c.b].compute_at(y);
  c.s[c.a].compute_at(y);
  c.same();

  Blur b;
  auto [yo, yi] = b.s[b.out].split(b.s[b.out].spatial<2>()[0], 4);
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }), {"(compute_at it first)"});
  says(refusal(b.s, [&] { b.s[b.across].fold(0, 4); }), {"room for all live elements",
                                                         "found 4, and all of across is computed before its readers; "
                                                         "compute_at (and slide, where windows overlap) come before fold"});
  b.s[b.across].store_at(yo).compute_at(yi);
  says(refusal(b.s, [&] { b.s[b.across].fold(0, 2); }), {"found 2; where its windows overlap, slide comes before fold"});
  b.same();
}

TEST_CASE("what stands the wrong way round is said to") {
  Chain c;
  const Loop of_b = c.s[c.b].spatial<1>()[0], of_a = c.s[c.a].spatial<1>()[0];
  says(refusal(c.s, [&] { c.s[c.b].compute_at(of_a); }),
       {"b reads a, and a stage is computed at a loop of its reader: s[a].compute_at(...) with a loop of b"});
  says(refusal(c.s, [&] { c.s[c.y].compute_at(of_b); }),
       {"fuse_siblings merges its loop with another stage's", "found y; y reads b, and a stage is computed at a loop"});
  says(refusal(c.s, [&] { c.s[c.a].fuse_into(of_b); }),
       {"a loop of a stage that a reads", "i of b, which reads a: compute_at puts a stage into a loop of its reader"});
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.C].fuse(j, i); }),
       {"i of C is not directly inside j of C: the outer loop is named first, here i"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].parallel(i); }),
       {"a loop of product, found i of C, which is scheduled through C"});
}

TEST_CASE("an output is not inlined, and nothing else is recommended") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N, N}), y = lang::make_output("y", f32, {N}),
               z = lang::make_output("z", f32, {N});
  const Axis k{"k", N};
  const Tensor total = compute("total", {N}, [&](Var i) { return sum(x(i, k), k); });
  lang::bind(y, total);
  lang::bind(z, compute("z", {N}, [&](Var i) { return total(i) * 2; }));
  Schedule s = scheduled({x, y, z});
  says(refusal(s, [&] { s[total].inline_(); }), {"a stage that is not an output, found total, which the caller reads"});
}

TEST_CASE("a stage stays in sight of its readers, and what was put after it stays after it") {
  Chain t;
  const Loop y = t.s[t.y].spatial<1>()[0];
  t.s[t.b].compute_at(y);
  t.s[t.a].compute_at(y);
  says(refusal(t.s, [&] { t.s[t.b].compute_root(); }),
       {"a to be stored around its reader b", "a is stored inside a loop that b is outside of (move a first)"});
  Chain late;
  auto [yo, yi] = late.s[late.y].split(late.s[late.y].spatial<1>()[0], 4);
  late.s[late.b].compute_at(yi);
  late.s[late.a].store_at(yo).compute_at(yi);
  says(refusal(late.s, [&, yo = yo] { late.s[late.b].compute_at(yo); }),
       {"a to be computed before its reader b", "a is computed later, or in a loop that b is outside of (move a first)"});
  Chain after;
  after.s[after.b].fuse_into(after.s[after.a].spatial<1>()[0]);
  const Loop reader = after.s[after.y].spatial<1>()[0];
  says(refusal(after.s, [&] { after.s[after.a].compute_at(reader); }),
       {"a stage with nothing put after it (move this call before fuse_into), found b inside a"});
  says(refusal(after.s, [&] { after.s[after.b].compute_at(reader); }), {"b, which was put after its producer by fuse_into"});
  t.same(), late.same(), after.same();
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {4}), w = lang::make_input("w", f32, {4, 4}), z = lang::make_output("z", f32, {4});
  Axis k{"k", 4};
  const Tensor bias = compute("bias", {4}, [&](Var i) { return x(i) + 1; });
  lang::bind(z, compute("z", {{"i", 4}}, [&](Var i) { return sum(w(i, k), k).from(bias(i)); }));
  Schedule s = scheduled({x, w, z});
  const Loop step = s[z].reduction();
  says(refusal(s, [&] { s[bias].compute_at(step); }),
       {"bias to be computed before the reduction loops of z, which starts from it", "bias is computed inside them"});
}

TEST_CASE("inline is for stages with one plain value that something reads") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.product].inline_(); }), {"a stage that is not a reduction", "compute_at places it"});
  says(refusal(t.s, [&] { t.s[t.C].inline_(); }), {"a stage that is not an output"});
  Blur b;
  b.s[b.across].inline_();
  says(refusal(b.s, [&] { b.s[b.across].compute_root(); }), {"schedule: expected a tensor of the program as it stands, found "
                                                             "across, which was inlined at refusals_placement_test.cpp:"});
  says(refusal(b.s, [&] { b.s[b.across]; }), {"a tensor of the program as it stands, found across, which was inlined at"});
  b.same();
}

TEST_CASE("inline is for one value, with nothing placed in the stage or after it, and nothing prefetching it") {
  Pair p;
  says(refusal(p.s, [&] { p.s[p.both[0]].inline_(); }), {"a stage with one value, found both with 2"});
  Chain t;
  const Loop b = t.s[t.b].spatial<1>()[0], y = t.s[t.y].spatial<1>()[0];
  t.s[t.a].compute_at(b);
  says(refusal(t.s, [&] { t.s[t.b].inline_(); }),
       {"a stage with nothing computed inside it (move this call before the compute_at), found a inside b"});
  t.s[t.y].prefetch(y, t.b, 1);
  t.s[t.a].compute_root();
  says(refusal(t.s, [&] { t.s[t.b].inline_(); }), {"a stage that nothing prefetches (move this call before the prefetch)",
                                                   "b, prefetched at refusals_placement_test.cpp:"});
  Chain after;
  after.s[after.b].fuse_into(after.s[after.a].spatial<1>()[0]);
  says(refusal(after.s, [&] { after.s[after.a].inline_(); }),
       {"a stage with nothing computed inside it (move this call before the fuse_into), found b inside a"});
  t.same(), after.same();
}

TEST_CASE("store_at needs a loop around all that use the values") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  says(refusal(t.s, [&] { t.s[t.product].store_at(k); }),
       {"a loop outside of the reduction loops of product",
        "k of product, whose later steps need what the earlier ones stored"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].store_at(i); }),
       {"a loop around all of product and its readers", "i of product does not hold C"});
  t.s[t.product].reorder(k, i, j);
  t.s[t.product].split(j, 8);
  const Loop lanes = t.s[t.product].nest().back();
  t.s[t.product].vectorize(lanes);
  says(refusal(t.s, [&] { t.s[t.product].store_at(lanes); }), {"a loop outside of the reduction loops of product"});
  Chain c;
  auto [ao, ai] = c.s[c.a].split(c.s[c.a].spatial<1>()[0], 8);
  c.s[c.a].vectorize(ai);
  says(refusal(c.s, [&, ai = ai] { c.s[c.a].store_at(ai); }), {"a loop that is not vectorized, found ii of a"});
  c.s[c.b].fuse_into(ao);
  says(refusal(c.s, [&, ao = ao] { c.s[c.b].store_at(ao); }), {"b to be stored around its reader y"});
  c.same();
}

TEST_CASE("a ring in shared memory has room for the windows of all threads") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), out = lang::make_output("out", f32, {N});
  const Tensor t = compute("t", {N}, [&](Var i) { return x(i) * 2; });
  const Tensor y = compute("y", {N}, [&](Var i) { return t(i) + 1; });
  lang::bind(out, y);
  const lang::Built built = lang::build_program("rings", {x, out});
  for (const Scope scope_of_t : {Scope::shared, Scope::stack}) {
    Schedule s(built, Target::parse("cuda-sm_80"));
    auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 32);
    auto [v, k] = s[y].split(ii, 16);
    s[y].bind(io, gpu::block_x).vthread(v);
    s[t].store_in(scope_of_t).compute_at(k);
    if (scope_of_t == Scope::shared)
      says(refusal(s, [&] { s[t].fold(0, 2); }), {"a ring with room for all live elements: dimension 0 of t holds"});
    else
      s[t].fold(0, 2);
  }
}

TEST_CASE("slide and fold need a window, storage outside and room") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 4);
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }), {"that across is computed inside (compute_at it first)"});
  b.s[b.across].compute_at(yi);
  Blur out;  // storage that nothing placed begins around the loop, also where that is the outermost one
  const Loop row = out.s[out.out].spatial<2>()[0];
  out.s[out.across].compute_at(row).slide(row).fold(0, 3);
  out.same(), out.same(1, 1);
  b.s[b.across].store_at(yi);
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }),
       {"storage outside of the loop it slides along", "stored inside"});
  says(refusal(b.s, [&] { b.s[b.across].fold(0, 2); }), {"room for all live elements", "found 2"});
  says(refusal(b.s, [&] { b.s[b.across].fold(2, 4); }), {"a dimension of across below 2, found 2"});
  says(refusal(b.s, [&] { b.s[b.across].fold(0, 0); }), {"a ring of at least 1"});
  says(refusal(b.s, [&] { b.s[b.out].fold(0, 4); }), {"fold: expected a stage with storage of its own, found out, an output"});
}

TEST_CASE("what slides computes nothing past its window: no padded split before or after (fuzz --windows, seed 100548)") {
  const std::initializer_list<const char*> text = {
      "a nest that computes nothing past its window in the dimension in which it slides", "of a split with Tail::pad"};
  for (const bool before : {false, true}) {
    Blur b;
    const Loop y = b.s[b.out].spatial<2>()[0];
    b.s[b.across].compute_at(y);
    const auto i = [&] { return b.s[b.across].spatial<2>()[0]; };
    if (before) {
      b.s[b.across].split(i(), 2, Tail::pad);
      says(refusal(b.s, [&] { b.s[b.across].slide(y); }), text);
    } else {
      b.s[b.across].slide(y);
      says(refusal(b.s, [&] { b.s[b.across].split(i(), 2, Tail::pad); }), text);
    }
  }
}

TEST_CASE("a window slides in one dimension, along a serial or unrolled loop directly around the stage") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 4, Tail::guard);
  b.s[b.across].compute_at(yi);
  {
    Blur c;
    const Loop cy = c.s[c.out].spatial<2>()[0];
    c.s[c.across].compute_at(cy);
    c.s[c.out].parallel(cy);
    says(refusal(c.s, [&] { c.s[c.across].slide(cy); }),
         {"a serial or unrolled loop to slide along, found y of out, which is parallel",
          "conflict: iteration y = 1 reads what y = 0 computed"});
  }
  b.s[b.across].compute_at(x).store_at(yo);
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }),
       {"the stage to be computed directly inside the loop it slides along",
        "across along yi of out (compute_at that loop first)"});
  lang::DefinitionScope scope;
  {  // a single value has no window
    Tensor in = lang::make_input("in", i32, {9}), out = lang::make_output("out", i32, {9});
    const Tensor one = compute("one", [&] { return in(3) * 2; });
    lang::bind(out, compute("out", {{"y", 9}}, [&](Var i) { return in(i) + one(); }));
    Schedule s = scheduled({in, out});
    const Loop row = s[out].spatial<1>()[0];
    s[one].compute_at(row);
    says(refusal(s, [&] { s[one].slide(row); }),
         {"a window that moves with y of out in one dimension, found one moves in none"});
  }
  Tensor in = lang::make_input("in", i32, {9, 9}), out = lang::make_output("out", i32, {8, 8});
  const Tensor p = compute("p", [&](Var i, Var j) { return in(i, j) * 2; });
  lang::bind(out, compute("out", {{"y", 8}, {"x", 8}}, [&](Var i, Var j) { return p(i, i) + p(i + 1, i + 1) + i32(j); }));
  Schedule s = scheduled({in, out});
  auto [r, c] = s[out].spatial<2>();
  s[p].compute_at(r);
  says(refusal(s, [&, r = r] { s[p].slide(r); }),
       {"a window that moves with y of out in one dimension, found p moves in 2 of them"});
  s[p].compute_at(c);
  says(refusal(s, [&, c = c] { s[p].slide(c); }),
       {"a window that moves with x of out in one dimension, found p moves in none"});
}

TEST_CASE("a guarded split in the way of a window: what makes it possible is said") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 8);
  b.s[b.across].compute_at(yi).slide(yi);  // which ends the loop where y ends
  CHECK(b.s.text().find("for yi in min(8, H - yo * 8)") != std::string::npos);
  b.same();
  Blur late;  // an outer loop inside: the window leaves gaps between two of its iterations
  auto [ly, lx] = late.s[late.out].spatial<2>();
  auto [lo, li] = late.s[late.out].split(ly, 8);
  late.s[late.out].reorder(li, lo);
  late.s[late.across].compute_at(lo);
  says(refusal(late.s, [&, lo = lo] { late.s[late.across].slide(lo); }),
       {"a window that moves forward without gaps", "conflict: "});
  // both other tails do
  lang::DefinitionScope scope;
  Symbol H{"H", {.min = 4, .multiple_of = 4}};
  Tensor in = lang::make_input("in", i32, {H}), out = lang::make_output("out", i32, {H});
  const Tensor wide = boundary::repeat(in);
  const Tensor p = compute("p", [&](Var i) { return wide(i) * 2; });
  lang::bind(out, compute("out", {{"y", H}}, [&](Var i) { return p(i - 1) + p(i + 1); }));
  const lang::Built built = lang::build_program("rows", {in, out});
  for (const Tail tail : {Tail::exact, Tail::shift}) {
    Schedule s(built, Target::parse("x86-64"));
    auto [o, i] = s[out].split(s[out].spatial<1>()[0], 4, tail);
    s[p].store_at(o).compute_at(i).slide(i).fold(0, 3);
    means_the_same(built.program, s, {{12}, {12}});
  }
}

TEST_CASE("loops along which a stage slides are not fused (fuzz seeds 745509, 937912)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N, N + 1}), y = lang::make_output("y", i32, {N, N, N});
  Tensor a = compute("a", {N, N + 1}, [&](Var i, Var j) { return x(i, j) * 2; });
  lang::bind(y, compute("y", {N, N, N}, [&](Var i, Var, Var k) { return a(i, k) + a(i, k + 1); }));
  const lang::Built built = lang::build_program("steps", {x, y});
  Schedule s(built, Target::parse("x86-64"));
  auto [i, j, k] = s[y].spatial<3>();
  s[a].store_at(i).compute_at(k).slide(k);
  says(refusal(s, [&, j = j, k = k] { s[y].fuse(j, k); }),
       {"fuse: expected loops that no stage slides along, found i2 of y (move the fuse before the slide)"});
  means_the_same(built.program, s, {{3, 4}, {3, 3, 3}});
}

TEST_CASE("a window that slides stays where it slides") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 64);
  b.s[b.across].store_at(yo).compute_at(yi);
  b.s[b.out].tighten(yi);
  b.s[b.across].slide(yi);
  says(refusal(b.s, [&, yi = yi] { b.s[b.out].split(yi, 8); }),
       {"a loop that no stage slides along", "move the split before the slide"});
  says(refusal(b.s, [&, yi = yi] { b.s[b.out].peel(yi, Peel::first); }),
       {"a loop that no stage slides along", "its warm-up is its first iteration"});
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].slide(yi); }), {"a stage that does not slide yet, found across"});
  says(refusal(b.s, [&] { b.s[b.across].compute_root(); }), {"a stage that does not slide yet (move this call before slide)"});
  b.same(), b.same(70, 2);
}

TEST_CASE("storage of what slides or is folded may move no further in") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 64);
  b.s[b.out].tighten(yi);
  b.s[b.across].store_at(yo).compute_at(yi).slide(yi).fold(0, 4);
  says(refusal(b.s, [&, yi = yi] { b.s[b.across].store_at(yi); }),
       {"storage outside of the loop it slides along (store_at an outer loop), found across is stored inside yi of out"});
  b.same();
  Blur folded;
  auto [fy, fx] = folded.s[folded.out].spatial<2>();
  folded.s[folded.across].compute_at(fy).fold(0, 3);
  says(refusal(folded.s, [&] { folded.s[folded.across].compute_root(); }),
       {"a ring with room for all live elements: dimension 0 of across holds H + 2, found 3", "conflict: H = "});
  folded.same();
  Chain t;
  t.s[t.b].fuse_into(t.s[t.a].spatial<1>()[0]);
  says(refusal(t.s, [&] { t.s[t.b].fold(0, 4); }), {"readers of b beside where it is computed, found b, which has none there"});
  t.same();
}

TEST_CASE("iterations of a parallel loop share no slot of a ring (fuzz seed 920009289)") {
  const std::initializer_list<const char*> refused{"storage of its own for each iteration of ii of y",
                                                   "conflict: element 2 of dimension 0 lies in the place of element 0"};
  for (const bool parallel_first : {true, false}) {
    Chain t;
    auto [o, n] = t.s[t.y].split(t.s[t.y].spatial<1>()[0], 8);
    t.s[t.b].store_at(o).compute_at(n);
    if (parallel_first) {
      t.s[t.y].parallel(n);
      says(refusal(t.s, [&] { t.s[t.b].fold(0, 2); }), refused);
    } else {
      t.s[t.b].fold(0, 2);
      says(refusal(t.s, [&, n = n] { t.s[t.y].parallel(n); }), refused);
    }
    t.same();
  }
  Chain roomy;  // a slot for each
  auto [o, n] = roomy.s[roomy.y].split(roomy.s[roomy.y].spatial<1>()[0], 8);
  roomy.s[roomy.b].store_at(o).compute_at(n).fold(0, 8);
  roomy.s[roomy.y].parallel(n);
  roomy.same(), roomy.same(29);
}

TEST_CASE("fuse_into needs finished points of a producer at root") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.C].fuse_into(t.s[t.C].spatial<2>()[0]); }), {"fuse_into: expected"});
  t.s[t.product].decompose_init(t.s[t.product].spatial<2>()[0]);  // fuzz seed 20029909
  says(refusal(t.s, [&] { t.s[t.C].fuse_into(t.s[t.product].init().nest()[0]); }),
       {"a loop after which the points of product are finished", "i of product, after which product goes on"});
  t.s[t.C].fuse_into(t.s[t.product].spatial<2>()[0]);
  t.same();
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

TEST_CASE("fuse_into is for pointwise readers over their producer's domain") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 2}};
  Tensor x = lang::make_input("x", f32, {N, N});
  Axis k{"k", N};
  const Tensor total = compute("total", {{"i", N}}, [&](Var i) { return sum(x(i, k), k); });
  {
    Tensor y = lang::make_output("y", f32, {N, N});
    lang::bind(y, compute("y", {{"i", N}, {"j", N}}, [&](Var i, Var j) { return total(i) + x(i, j); }));
    Schedule s = scheduled({x, y});
    const Loop i = s[total].spatial<1>()[0];
    says(refusal(s, [&] { s[y].fuse_into(i); }), {"y and total of one rank, found total[i]"});
  }
  {
    Tensor y = lang::make_output("y", f32, {N - 1});
    lang::bind(y, compute("y", {{"i", N - 1}}, [&](Var i) { return total(i) * 2; }));
    Schedule s = scheduled({x, y});
    const Loop i = s[total].spatial<1>()[0];
    says(refusal(s, [&] { s[y].fuse_into(i); }),
         {"the domains of y and total to be the same, found i in [0, N - 1) and i in [0, N)", "conflict: N = 2"});
  }
  {
    Tensor y = lang::make_output("y", f32, {N});
    Axis l{"l", N};
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return sum(x(i, l) * total(i), l); }));
    Schedule s = scheduled({x, y});
    const Loop i = s[total].spatial<1>()[0];
    says(refusal(s, [&] { s[y].fuse_into(i); }), {"a stage that is not a reduction, found y, which is one"});
  }
  {
    Tensor y = lang::make_output("y", f32, {N});
    const Tensor between = compute("between", [&](Var i) { return total(i) * 2; });
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return between(i) + 1; }));
    Schedule s = scheduled({x, y});
    const Loop i = s[total].spatial<1>()[0];
    says(refusal(s, [&] { s[between].fuse_into(i); }),
         {"a stage with a stated domain, compute(\"between\", {...}, ...), found between, whose domain is inferred"});
  }
}

TEST_CASE("fuse_into needs a producer at root, and a loop that every point passes through") {
  Chain t;
  const Loop a = t.s[t.a].spatial<1>()[0], b = t.s[t.b].spatial<1>()[0];
  t.s[t.a].compute_at(b);
  says(refusal(t.s, [&] { t.s[t.b].fuse_into(a); }), {"a loop of a producer that is computed at root, found i of a"});
  says(refusal(t.s, [&] { t.s[t.y].fuse_into(a); }), {"a loop of a producer that is computed at root"});
  t.s[t.a].compute_root();
  says(refusal(t.s, [&] { t.s[t.y].fuse_into(a); }), {"a loop of a stage that y reads, found i of a"});
  const Loop first = t.s[t.a].peel(a, Peel::first);
  says(refusal(t.s, [&] { t.s[t.b].fuse_into(first); }),
       {"a loop that every point passes through (whole, or the last step of a reduction)",
        "i of a, a part of a loop that was peeled"});
  Chain v;
  const Loop lanes = v.s[v.a].split(v.s[v.a].spatial<1>()[0], 8).inner;
  v.s[v.a].vectorize(lanes);
  says(refusal(v.s, [&] { v.s[v.b].fuse_into(lanes); }),
       {"a loop outside of vectorized ones, found ii of a, which is vectorized"});
  Product p;
  auto [ko, ki] = p.s[p.product].split(p.s[p.product].reduction(), 2);
  auto [i, j] = p.s[p.product].spatial<2>();
  p.s[p.product].reorder(ko, i, j);
  p.s[p.C].fuse_into(ko);
  says(refusal(p.s, [&, ko = ko] { p.s[p.product].peel(ko, Peel::last); }),
       {"the loop that holds the last step of the reduction", "ko of product in [0, (K + 1) / 2 - 1)"});
  t.same(), v.same(), p.same();
}

TEST_CASE("what is put into the last step of a tightened reduction finds that step") {
  Product t;
  auto [ko, ki] = t.s[t.product].split(t.s[t.product].reduction(), 4);
  auto [i, j] = t.s[t.product].spatial<2>();
  t.s[t.product].reorder(i, ko, ki, j);
  {
    Product late;
    auto [lo, li] = late.s[late.product].split(late.s[late.product].reduction(), 4);
    late.s[late.product].reorder(lo, li, late.s[late.product].spatial<2>()[0]);
    late.s[late.C].fuse_into(li);
    says(refusal(late.s, [&, li = li] { late.s[late.product].tighten(li); }),
         {"a reduction loop with nothing put into its last step (move this call before fuse_into), found C inside ki of "
          "product"});
    late.same(), late.same(2, 1, 3), late.same(1, 1, 8);
  }
  t.s[t.product].tighten(ki);
  Schedule twice = t.s;
  t.s[t.C].fuse_into(ki);
  t.same(), t.same(2, 1, 3), t.same(1, 1, 8), t.same(1, 2, 1);
  const auto nest = twice[t.product].nest();
  twice[t.product].split(nest[1], 2);
  const Loop last = twice[t.product].nest()[3];
  says(refusal(twice, [&] { twice[t.C].fuse_into(last); }),
       {"a last step of the reduction (move this call before the tighten)", "ki of product, which was tightened: where ko"});
}

TEST_CASE("what was fused or placed keeps later steps away") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  t.s[t.C].fuse_into(i);
  says(refusal(t.s, [&, j = j] { t.s[t.C].fuse_into(j); }),
       {"a stage computed at root", "C, which is computed inside another"});
  says(refusal(t.s, [&, j = j] { t.s[t.C].compute_at(j); }), {"a stage computed before its readers", "by fuse_into"});
  t.same(), t.same(1, 3, 2);

  Product u;
  const Loop row = u.s[u.C].spatial<2>()[0];
  says(refusal(u.s, [&] { u.s[u.C].store_at(row); }), {"store_at: expected", "C, an output"});
  u.s[u.product].compute_at(row);
  says(refusal(u.s, [&] { u.s.cache_write(u.C, Scope::global); }),
       {"a stage with nothing placed in it yet", "product inside C"});
  u.same();

  Chain t2;
  const Loop a = t2.s[t2.a].spatial<1>()[0];
  t2.s[t2.b].fuse_into(a);
  says(refusal(t2.s, [&] { t2.s[t2.b].slide(a); }), {"a stage computed before its readers", "by fuse_into"});
  t2.same();
}

TEST_CASE("decompose_init needs a sum that starts from memory, and takes it out once") {
  Product t;
  Stage product = t.s[t.product];
  auto [ko, ki] = product.split(product.reduction(), 4);
  product.rfactor(ko);
  says(refusal(t.s, [&] { product.decompose_init(ko); }),
       {"expected a sum that starts from memory, found product, whose first step stores"});
  Product u;
  u.s[u.product].decompose_init(u.s[u.product].reduction());
  says(refusal(u.s, [&] { u.s[u.product].decompose_init(u.s[u.product].reduction()); }),
       {"expected a stage with its init inside, found product, whose init stands apart already"});
}

TEST_CASE("a stage that is stored further out stays inside its storage (fuzz seed 472132)") {
  Chain t;
  const Loop outer = t.s[t.y].spatial<1>()[0];
  t.s[t.b].compute_at(outer);
  t.s[t.a].compute_at(t.s[t.b].spatial<1>()[0]).store_at(outer);
  says(refusal(t.s, [&] { t.s[t.b].compute_root(); }),
       {"compute_root: expected a to be computed inside the loop that its storage begins at"});
  t.s[t.a].compute_at(t.s[t.b].spatial<1>()[0]).store_at(t.s[t.b].spatial<1>()[0]);
  t.s[t.b].compute_root();
  t.same();
}

TEST_CASE("a nest that peeling has copied is not moved") {
  Product t;
  Stage product = t.s[t.product];
  const Loop row = t.s[t.C].spatial<2>()[0];
  product.compute_at(row);
  t.s[t.C].peel(row);
  says(refusal(t.s, [&] { product.compute_root(); }),
       {"compute_root: expected a stage that is computed at one place", "product"});
}

}  // namespace ashlar::test
