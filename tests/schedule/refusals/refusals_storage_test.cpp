// Every way in which the primitives of storage refuse: cache_read, cache_write, set_layout, align, set_scope, pack_argument,
// prefetch, stream_store; and what a scope can hold.
#include "tests/schedule/programs.h"

namespace ashlar::test {

TEST_CASE("caches name their readers, fills their types") {
  Product t;
  says(refusal(t.s, [&] { t.s.cache_read(t.A, {t.C}, Scope::global); }), {"stages that read A, found C, which does not"});
  says(refusal(t.s, [&] { t.s.cache_read(t.A, {}, Scope::global); }), {"at least one stage that reads A, found none"});
  const Expr three = value_of(3.0f);
  says(refusal(t.s, [&] { t.s.cache_read(t.A, {t.product}, Scope::global, three); }), {"a number to fill with, found an Expr"});
  Blur b;
  says(refusal(b.s, [&] { b.s.cache_read(b.across, {b.out}, Scope::global, 0); }),
       {"a fill value where the source is an input, or a stage with a box that was declared", "across, another stage"});
  says(refusal(b.s, [&] { b.s.cache_read(b.in, {b.across}, Scope::global, 0.5); }),
       {"an integer to fill i32 with, found a floating number"});
  t.s[t.C].split(t.s[t.C].spatial<2>()[0], 4);
  says(refusal(t.s, [&] { t.s.cache_write(t.C, Scope::global); }),
       {"a stage whose loops were not scheduled yet", "i of C, which was split or fused"});
  says(refusal(t.s, [&] { t.s[t.A]; }), {"a tensor that is computed", "A, an input (cache_read makes a stage of it)"});
}

TEST_CASE("what is filled past its end stays a stage") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  const Tensor twice = compute("twice", {{"i", N}}, [&](Var i) { return x(i) * 2; });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return twice(i) + 1; }));
  Schedule s(lang::build_program("p", {x, y}), Target::parse("x86-64-v3"));
  s.cache_read(twice, {s[y]}, Scope::global, 0);
  says(refusal(s, [&] { s[twice].inline_(); }),
       {"a stage that no copy fills past the end of (compute_at places it)", "twice, which twice_cache copies"});
}

TEST_CASE("cache_write comes before decompose_init") {
  Product t;
  t.s[t.product].decompose_init(t.s[t.product].reduction());
  says(refusal(t.s, [&] { t.s.cache_write(t.product, Scope::global); }),
       {"a stage whose loops were not scheduled yet", "found its init, which decompose_init took out"});
}

TEST_CASE("cache_write is for one value that was not placed yet") {
  Pair p;
  says(refusal(p.s, [&] { p.s.cache_write(p.both[0], Scope::global); }), {"a stage with one value, found both with 2"});
  Product t;
  const Loop row = t.s[t.C].spatial<2>()[0];
  t.s[t.product].compute_at(row);
  says(refusal(t.s, [&] { t.s.cache_write(t.C, Scope::global); }),
       {"a stage with nothing placed in it yet", "product inside C"});
  t.s[t.product].compute_root();
  t.s[t.C].fuse_into(t.s[t.product].spatial<2>()[0]);
  says(refusal(t.s, [&] { t.s.cache_write(t.C, Scope::global); }), {"a stage that was not placed yet, found C"});
  const auto scheduled_before = [](const char* found, auto&& step) {
    Product u;
    auto [i, j] = u.s[u.C].spatial<2>();
    step(u, i, j);
    says(refusal(u.s, [&] { u.s.cache_write(u.C, Scope::global); }),
         {"a stage whose loops were not scheduled yet (move cache_write before other steps of C)", found});
  };
  scheduled_before("found i of C, which is parallel", [](Product& u, Loop i, Loop) { u.s[u.C].parallel(i); });
  scheduled_before("found j of C in the place of i", [](Product& u, Loop i, Loop j) { u.s[u.C].reorder(j, i); });
  scheduled_before("found a prefetch of bias", [](Product& u, Loop, Loop j) { u.s[u.C].prefetch(j, u.bias, 4); });
  scheduled_before("found the parts of j of C, which was peeled or partitioned",
                   [](Product& u, Loop, Loop j) { u.s[u.C].peel(j, Peel::last); });
  says(refusal(t.s, [&] { t.s.cache_read(t.product, {t.C}, Scope::global); }),
       {"a reader that is computed after its source (move this call before fuse_into), found C"});
  t.same();
}

TEST_CASE("storage choices belong to stages with storage of their own, maps to different places") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.C].store_in(Scope::stack); }),
       {"store_in: expected a stage with storage of its own (cache_write gives an output one), found C, an output"});
  says(refusal(t.s, [&] { t.s[t.product].store_in(Scope::shared); }), {"a scope of this target", "shared"});
  says(refusal(t.s, [&] { t.s[t.product].transform_layout([](Var a, Var b) { return at(a, b / 2); }); }),
       {"a map that sends different elements of product to different places", "conflict: "});
  says(refusal(t.s, [&] { t.s[t.product].align(5, 8); }), {"a stored dimension of product below 2, found 5"});
  t.s[t.product].store_in(Scope::stack);
  try {
    schedule::finish(t.s.scheduled(), t.s.target());
    FAIL("a stack buffer without a constant size was accepted");
  } catch (const RefusalError& e) { says(e.refusal.text(), {"store_in", "a constant size for product in stack"}); }
}

TEST_CASE("cache_write leaves the spatial loops to the copy, and says where the others went") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  const Stage made = t.s.cache_write(t.product, Scope::global);
  says(refusal(t.s, [&] { t.s[t.product].unroll(k); }),
       {"k of product, which went to product_cache by cache_write at refusals_storage_test.cpp:"});
  t.s[t.product].split(i, 4);
  made.compute_at(j);
  CHECK(made.reduction().label() == "k");
  t.same();
}

TEST_CASE("what a scope can hold is checked when the schedule is complete") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {512, 512}), y = lang::make_output("y", f32, {512, 512});
  const Tensor twice = compute("twice", {512, 512}, [&](Var i, Var j) { return x(i, j) * 2; });
  lang::bind(y, compute("y", {512, 512}, [&](Var i, Var j) { return twice(i, j) + twice(511 - i, j); }));
  const lang::Built built = lang::build_program("p", {x, y});
  for (const auto& [place, most] : {std::pair{Scope::stack, "262144"}, {Scope::registers, "16384"}}) {
    Schedule s(built, Target::parse("x86-64"));
    const std::string here = "refusals_storage_test.cpp:" + std::to_string(__LINE__ + 1);
    s[twice].store_in(place);
    const std::string expected = std::string("at most ") + most + " bytes in ";
    try {
      schedule::finish(s.scheduled(), s.target());
      FAIL("a buffer of a megabyte was accepted");
    } catch (const RefusalError& e) {
      says(e.refusal.text(), {here.c_str(), "store_in", expected.c_str(), "found twice of 1048576 or more"});
    }
    s[twice].store_in(Scope::global);
    schedule::finish(s.scheduled(), s.target());
  }
}

TEST_CASE("storage choices are made once") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.product].transform_layout([](Var a) { return at(a); }); }),
       {"an index map of 2 variables for product"});
  says(refusal(t.s, [&] { t.s[t.product].align(1, 0); }), {"a multiple of at least 1, found 0"});
  t.s[t.product].align(1, 8);
  says(refusal(t.s, [&] { t.s[t.product].align(0, 8); }),
       {"one aligned dimension of product, found dimension 0 beside dimension 1"});
  says(refusal(t.s, [&] { t.s[t.product].transform_layout([](Var a, Var b) { return at(b, a); }); }),
       {"a tensor that was not aligned yet (align counts stored dimensions: move this call before it), found product"});
  t.s[t.product].align(1, 16);
  t.same();
  Product u;
  u.s[u.product].transform_layout([](Var a, Var b) { return at(b, a); });
  says(refusal(u.s, [&] { u.s[u.product].transform_layout([](Var a, Var b) { return at(b, a); }); }),
       {"a tensor whose layout was not set yet"});
  u.same();
  Blur b;
  b.s[b.across].transform_layout([](Var r, Var c) { return at(c, r); });
  says(refusal(b.s, [&] { b.s[b.across].inline_(); }), {"a stage without storage choices", "whose layout was set"});
  b.same();
  Blur aligned;
  aligned.s[aligned.across].align(0, 4);
  says(refusal(aligned.s, [&] { aligned.s[aligned.across].inline_(); }), {"across, which was aligned"});
  aligned.same();
}

TEST_CASE("an index map is over its own variables, and of indices") {
  Product t;
  const Axis other{"other", 4};
  const Expr elsewhere = value_of(other);
  says(refusal(t.s, [&] { t.s[t.product].transform_layout([&](Var a, Var b) { return at(a + elsewhere, b); }); }),
       {"a map over its own variables alone, found d0 + other"});
  says(refusal(t.s, [&] { t.s[t.product].transform_layout([](Var a, Var b) { return at(a, i32(b)); }); }),
       {"index expressions in the map", "of type i32"});
  t.s[t.product].transform_layout([](Var a, Var b) { return at(b / 4, a, b % 4); });
  says(refusal(t.s, [&] { t.s[t.product].fold(1, 4); }),
       {"a dimension that is stored as it is, found dimension 1 of product, which its layout takes apart"});
  says(refusal(t.s, [&] { t.s[t.product].fold(0, 4); }), {"dimension 0 of product holds M, found 4"});
  t.same();
}

TEST_CASE("the caller packs inputs, once, each element to a place of its own") {
  Product t;
  const auto panels = [](Var k, Var n) { return at(n / 4, k, n % 4); };
  says(refusal(t.s, [&] { t.s.pack_argument(t.C, panels, Pack::by_caller); }), {"an input or a constant, found C, an output"});
  says(refusal(t.s, [&] { t.s.pack_argument(t.product, panels, Pack::by_caller); }),
       {"an input or a constant, found product, a stage (transform_layout sets its layout)"});
  says(refusal(t.s, [&] { t.s.pack_argument(t.B, [](Var k, Var n) { return at(k, n % 4); }, Pack::by_caller); }),
       {"a map that sends different elements of B to different places, found (d0, d1 % 4)", "conflict: "});
  says(refusal(t.s, [&] { t.s.pack_argument(t.B, [](Var k) { return at(k); }, Pack::by_caller); }),
       {"an index map of 2 variables for B, found 1"});
  const Tensor unused = lang::make_input("unused", f32, {4});
  says(refusal(t.s, [&] { t.s.pack_argument(unused, panels, Pack::by_caller); }),
       {"pack_argument: expected a tensor of this program, found one that no output needs"});
  t.s.pack_argument(t.B, panels, Pack::by_caller);
  says(refusal(t.s, [&] { t.s.pack_argument(t.B, panels, Pack::by_caller); }),
       {"a tensor whose layout was not set yet, found B"});
}

TEST_CASE("prefetch needs a loop that reads the tensor, and keeps it") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.product].prefetch(i, t.bias, 1); }),
       {"a tensor that is read inside i of product", "bias"});
  says(refusal(t.s, [&, i = i] { t.s[t.product].prefetch(i, t.A, 0); }), {"at least 1 iteration ahead"});
  t.s[t.C].vectorize(t.s[t.C].spatial<2>()[1], 8);
  const Loop lanes = t.s[t.C].nest().back();
  says(refusal(t.s, [&] { t.s[t.C].prefetch(lanes, t.bias, 1); }), {"a loop that is not vectorized"});
  t.same();

  Product moved;
  auto [mi, mj] = moved.s[moved.C].spatial<2>();
  moved.s[moved.C].prefetch(mi, moved.product, 1);
  says(refusal(moved.s, [&, mj = mj] { moved.s[moved.product].compute_at(mj); }),
       {"storage of product around the prefetch of product (move this call before the prefetch), found storage further in"});
  moved.same();

  Product copied;
  copied.s[copied.product].prefetch(copied.s[copied.product].reduction(), copied.A, 2);
  says(refusal(copied.s, [&] { copied.s.cache_read(copied.A, {copied.product}, Scope::global); }),
       {"a read of A inside k of product, at an index that does not depend on data (move this call before the prefetch)",
        "found none"});
  copied.same();

  Product apart;
  auto [ko, ki] = apart.s[apart.product].split(apart.s[apart.product].reduction(), 4);
  apart.s[apart.product].prefetch(ki, apart.A, 4);
  says(refusal(apart.s, [&, ko = ko] { apart.s[apart.product].rfactor(ko); }),
       {"the loop along which the prefetch of A runs to stay as it is", "move this call before the prefetch"});
  apart.same();
}

TEST_CASE("no data say where something lies, and a bool fills no numbers") {
  Product t;
  Stage copy = t.s.cache_read(t.B, {t.product}, Scope::global);
  says(refusal(t.s, [&] { copy.transform_layout([&](Var k, Var j) { return at(k, j + i32(t.A(0, 0))); }); }),
       {"transform_layout: expected a map over its own variables alone, found d1 + index(i32(A[0, 0]))"});
  says(refusal(t.s, [&] { t.s.cache_read(t.A, {t.product}, Scope::global, true); }),
       {"cache_read: expected a value to fill f32 with, found a bool"});
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

}  // namespace ashlar::test
