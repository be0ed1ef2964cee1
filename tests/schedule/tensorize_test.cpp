// decompose_init and tensorize: what they make of a program, that it means the same by the intrinsic and by the loops, and
// every way to refuse.
#include <ashlar/ir/print.h>

#include "npu.h"
#include "tests/golden.h"

namespace ashlar::test {

namespace {
struct OverRows {  // y[i] of eight rows of eight, by whatever `value` says
  lang::DefinitionScope scope;
  Tensor a = lang::make_input("a", f32, {8, 8}), b = lang::make_input("b", f32, {8, 8}), y = lang::make_output("y", f32, {8});
  std::optional<Schedule> s;
  template <class F>
  explicit OverRows(F&& value) {
    Axis k{"k", 8};
    lang::bind(y, compute("y", {{"i", 8}}, [&](Var i) { return value(a, b, i, k); }));
    s.emplace(scheduled({a, b, y}));
  }
  std::string refused(const Intrinsic& f, Where here = Where::current()) {
    const Stage stage = (*s)[y];
    return refusal(*s, [&] { stage.tensorize(stage.nest()[0], f, here); }, here);
  }
};

Intrinsic squares(Type t = f32) {
  return intrinsic("squares", [&](Meaning& m) {
    Tensor A = m.read("A", t, {8, 8}), Y = m.write("Y", t, {8});
    Axis k{"k", 8};
    m.means(Y, [&](Var i) { return sum(A(i, k) * A(i, k), k); });
    m.emit(Backend::llvm, "call void @squares(ptr {Y.ptr}, ptr {A.ptr}, i64 {A.stride0})");
  });
}
}  // namespace

TEST_CASE("an init taken out stands before its loop, with loops of its own") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  t.s[t.product].reorder(k, i, j).decompose_init(k);
  auto [ii, ij] = t.s[t.product].init().spatial<2>();
  CHECK(!(ii == i));
  CHECK(t.s[t.product].spatial<2>()[0] == i);
  CHECK(t.s[t.product].nest().size() == 3);
  CHECK(t.s[t.product].init().nest().size() == 2);
  t.s[t.product].init().parallel(ii);
  CHECK(!(ij == j));
  t.same();
}

TEST_CASE("decompose_init before a loop around the reduction") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  t.s[t.product].decompose_init(j);
  says(refusal(t.s, [&] { t.s[t.product].fuse(i, j); }),
       {"fuse: expected a loop whose body is exactly the other one, found j of product is not directly inside i of product"});
  CHECK(t.s[t.product].init().nest().size() == 2);
  t.same();
}

TEST_CASE("decompose_init refuses") {
  Product t;
  const Stage p = t.s[t.product];
  auto [i, j] = p.spatial<2>();
  says(refusal(t.s, [&] { t.s[t.C].decompose_init(t.s[t.C].spatial<2>()[0]); }), {"a loop of a reduction, found i of C"});
  says(refusal(t.s, [&] { p.init(); }), {"init: expected a stage whose init was taken out (decompose_init), found product"});
  const Split k = p.split(p.reduction(), 2);
  says(refusal(t.s, [&] { p.decompose_init(k.inner); }),
       {"a loop outside of all other reduction loops of product, found ki of product inside ko",
        "conflict: iterations ko = 0 and ko = 1 would both start product"});
  p.reorder(i, k.outer, k.inner, j);
  says(refusal(t.s, [&] { p.decompose_init(j); }), {"a loop outside of all other reduction loops of product"});
  Schedule peeled = t.s;
  const Stage q = peeled[t.product];
  q.peel(q.nest()[1], Peel::last);
  says(refusal(peeled, [&] { q.decompose_init(q.nest()[0]); }),
       {"a stage of one block, found product, whose loops were peeled"});
  says(refusal(peeled, [&] { q.decompose_init(q.nest()[1]); }),
       {"decompose_init: expected a whole loop, found ko of product, which was peeled or partitioned at tensorize_test.cpp:"});
  p.decompose_init(k.outer);
  says(refusal(t.s, [&] { p.decompose_init(k.outer); }),
       {"a stage with its init inside, found product, whose init stands apart"});
  says(refusal(t.s, [&] { p.split(j, 4); }),
       {"a loop that stands at one place", "j of product, which decompose_init copied (move the split before it)"});
  t.same();
}

TEST_CASE("partial sums that reduce along no loop have no init to take out (fuzz seed 500405)") {
  Product t;
  const Stage partial = t.s[t.product].rfactor(t.s[t.product].reduction());
  REQUIRE(partial.nest().size() == 3);  // one sum an element, of one term
  says(refusal(t.s, [&] { partial.decompose_init(partial.nest()[0]); }),
       {"decompose_init: expected a loop with a reduction loop of ", " in it, found"});
  t.same();
}

TEST_CASE("the accelerator's product means the same by its intrinsics and by their loops") {
  Npu t;
  CHECK(golden("schedule/golden/tensorize.txt", t.s.text() + "\n" + t.s.trace()) == "");
  t.same(32, 48, 64);
  t.same(16, 16, 16);
  t.same(16, 32, 0);
}

TEST_CASE("a tensorized schedule is saved and replayed") {
  Npu t;
  Npu fresh(false);
  Schedule again(fresh.built, Target::parse("x86-64+npu"));
  again.replay(t.s.json());
  CHECK(again.text() == t.s.text());
  CHECK(again.json() == t.s.json());
  // another meaning under the same name is another intrinsic
  std::string other = t.s.json();
  const std::size_t at = other.find("\"meaning\": \"") + 12;
  other[at] = other[at] == '0' ? '1' : '0';
  Schedule wrong(fresh.built, Target::parse("x86-64+npu"));
  says(refusal(wrong, [&] { wrong.replay(other); }),
       {"an intrinsic that was described before the replay, with the same meaning"});
  other = t.s.json();
  other.replace(other.find("\"align\": 64"), 11, "\"align\": []");
  says(refusal(wrong, [&] { wrong.replay(other); }), {"a scope with its bytes, align, address_space and c_qualifier"});
  other = t.s.json();
  other.replace(other.find("\"meaning\": "), 11, "\"mean\": ");
  says(refusal(wrong, [&] { wrong.replay(other); }), {"an intrinsic with its \"meaning\""});
}

TEST_CASE("a refused tensorize comes back from attempt and leaves the program to other steps") {
  Npu t(false);
  const auto refused = t.s.attempt([&] { t.acc->tensorize(t.aj, npu_gemm()); });
  REQUIRE(refused);
  t.acc->unroll(t.ki);
  t.same(16, 16, 32);
}

TEST_CASE("factors in either order, loops in another, sizes that are extents") {
  Npu t(false);
  const Intrinsic swapped = intrinsic("swapped", [](Meaning& m) {
    Tensor B = m.read("B", i8, {16, 16}, spad), A = m.read("A", i8, {16, 16}, spad);
    Tensor C = m.accumulate("C", i32, {16, 16}, accumulators);
    Expr zero = m.parameter("zero", i32);
    Axis k{"k", 16};
    m.means(C, [&](Var i, Var j) { return sum(i32(B(k, j)) * (i32(A(i, k)) - zero), k).from(C(i, j)); });
    m.emit(Backend::llvm, "call void @f(ptr {C.ptr}, ptr {A.ptr}, ptr {B.ptr}, i32 {zero})");
  });
  t.acc->reorder(t.aj, t.ai);
  t.acc->tensorize(t.aj, swapped);
  t.same(16, 32, 32);
}

TEST_CASE("nothing subtracted is a parameter of zero") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", i32, {8}), y = lang::make_output("y", i32, {8});
  lang::bind(y, compute("y", {{"i", 8}}, [&](Var i) { return x(i) * 3; }));
  const lang::Built program = lang::build_program("shifted", {x, y});
  Schedule s(program, Target::parse("x86-64"));
  const Intrinsic triple = intrinsic("triple", [](Meaning& m) {
    Tensor in = m.read("in", i32, {8}), out = m.write("out", i32, {8});
    Expr zero = m.parameter("zero", i32);
    m.means(out, [&](Var i) { return (in(i)-zero) * 3; });
    m.emit(Backend::llvm, "call void @triple(ptr {out.ptr}, ptr {in.ptr}, i32 {zero})");
  });
  s[y].tensorize(s[y].spatial<1>()[0], triple);
  means_the_same(program.program, s, {{8}, {8}});
}

TEST_CASE("a sum from zero starts inside the call") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.multiple_of = 4}};
  Tensor a = lang::make_input("a", f32, {N, 8}), b = lang::make_input("b", f32, {8}), y = lang::make_output("y", f32, {N});
  Axis k{"k", 8};
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return sum(a(i, k) * b(k), k); }));
  const lang::Built program = lang::build_program("rows", {a, b, y});
  Schedule s(program, Target::parse("x86-64"));
  const Intrinsic rows4 = intrinsic("rows4", [](Meaning& m) {
    Tensor A = m.read("A", f32, {4, 8}), B = m.read("B", f32, {8}), Y = m.write("Y", f32, {4});
    Axis kk{"k", 8};
    m.means(Y, [&](Var i) { return sum(A(i, kk) * B(kk), kk); });
    m.emit(Backend::llvm, "call void @rows4(ptr {Y.ptr}, ptr {A.ptr}, i64 {A.stride0}, ptr {B.ptr})");
  });
  const Split i = s[y].split(s[y].spatial<1>()[0], 4, Tail::exact);
  s[y].tensorize(i.inner, rows4);
  means_the_same(program.program, s, {{12, 8}, {8}, {12}});
  Schedule before(program, Target::parse("x86-64"));
  const Split o = before[y].split(before[y].spatial<1>()[0], 4, Tail::exact);
  before[y].decompose_init(o.inner);
  says(refusal(before, [&] { before[y].tensorize(o.inner, rows4); }),
       {"sums that start inside of ii", "y, which goes on with earlier ones"});
  // the init alone is a value without a sum
  const Intrinsic clear = intrinsic("clear4", [](Meaning& m) {
    Tensor Y = m.write("Y", f32, {4});
    m.means(Y, [&](Var) { return value_of(0.0f); });
    m.emit(Backend::llvm, "store <4 x float> zeroinitializer, ptr {Y.ptr}");
  });
  before[y].init().tensorize(before[y].init().nest()[1], clear);
  means_the_same(program.program, before, {{12, 8}, {8}, {12}});
}

// ---- refusals: what does not unify -----------------------------------------------------------------------------------------

// A product of 16x16x16 that differs from npu_gemm in one place.
struct Variant {
  std::int64_t extent = 16, depth = 16;
  Scope scope = spad;
  const char* text = "call void @f(ptr {C.ptr}, ptr {A.ptr}, ptr {B.ptr}, i32 {zero})";
  Backend back_end = Backend::llvm;
  const char* needs = "npu";
  enum class Body { same, transposed, plus, other_type } body = Body::same;
};
Intrinsic variant(const Variant& v) {
  return intrinsic("variant", [&](Meaning& m) {
    Tensor A = m.read("A", v.body == Variant::Body::other_type ? i16 : i8, {v.extent, v.depth}, v.scope);
    Tensor B = m.read("B", i8, {v.depth, 16}, v.scope);
    Tensor Bt = v.body == Variant::Body::transposed ? m.read("Bt", i8, {16, v.depth}, v.scope) : B;
    Tensor C = m.accumulate("C", i32, {v.extent, 16}, accumulators);
    Expr zero = m.parameter("zero", i32);
    Axis k{"k", v.depth};
    m.means(C, [&](Var i, Var j) {
      switch (v.body) {
        case Variant::Body::transposed:
          return sum((i32(A(i, k)) - zero) * i32(Bt(j, k)) + i32(B(k, j)), k).from(C(i, j));
        case Variant::Body::plus:
          return sum((i32(A(i, k)) - zero) + i32(B(k, j)), k).from(C(i, j));
        default:
          return sum((i32(A(i, k)) - zero) * i32(B(k, j)), k).from(C(i, j));
      }
    });
    m.emit(v.back_end, v.text);
    m.needs(v.needs);
  });
}

TEST_CASE("a mismatch shows both sides and the piece that differs") {
  Npu t(false);
  const auto with = [&](const Variant& v) { return refusal(t.s, [&] { t.acc->tensorize(t.ai, variant(v)); }); };
  says(with({.extent = 32}), {"tensorize: expected loops of 32, 16, 16 (summed), for variant: C[i0, i1] += sum over k in 16 of "
                              "(i32(A[i0, k]) - zero) * "
                              "i32(B[k, i1])",
                              "found i in 16, j in 16, ki in 16 (summed), in i of C_cache"});
  says(with({.depth = 8}), {"loops of 16, 16, 8 (summed)", "ki in 16 (summed)"});
  says(with({.body = Variant::Body::plus}), {"i32(A[i0, k]) - zero + i32(B[k, i1])", "found (i32(A_cache["});
  says(with({.body = Variant::Body::other_type}), {"A of i16", "of i8"});
  says(with({.body = Variant::Body::transposed}), {"expected", "found"});
  says(refusal(t.s, [&] { t.acc->tensorize(t.aj, npu_gemm()); }),
       {"loops of 16, 16, 16 (summed)", "found j in 16, ki in 16 (summed)"});
  says(refusal(t.s, [&] { t.acc->tensorize(t.ko, npu_gemm()); }), {"one block inside ko"});
  says(refusal(t.s, [&] { t.acc->tensorize(t.ai, npu_load()); }), {"a value without a reduction", "C_cache, a reduction"});
  says(refusal(t.s, [&] { t.a->tensorize(t.a->spatial<2>()[0], npu_gemm()); }), {"a sum", "A_cache, which is not a reduction"});
}

TEST_CASE("tiles lie where the intrinsic wants them") {
  Npu t(false);
  const auto with = [&](const Variant& v) { return refusal(t.s, [&] { t.acc->tensorize(t.ai, variant(v)); }); };
  says(with({.scope = accumulators}),
       {"A of variant in npu.acc, found A_cache in npu.spad (cache_read or cache_write puts it there)"});
  says(refusal(t.s, [&] { t.s[t.C].tensorize(t.s[t.C].nest()[2], npu_load()); }), {"dst of i8", "of i32"});
  // a dense source is wanted where its stride is not named
  const Intrinsic copy = intrinsic("copy", [](Meaning& m) {
    Tensor src = m.read("src", i8, {16, 16}), dst = m.write("dst", i8, {16, 16}, spad);
    m.means(dst, [&](Var r, Var c) { return src(r, c); });
    m.emit(Backend::llvm, "call void @copy(ptr {dst.ptr}, ptr {src.ptr})");
  });
  says(refusal(t.s, [&] { t.a->tensorize(t.a->spatial<2>()[0], copy); }),
       {"a tile without gaps along dimension 0 of src of copy ({src.stride0} in its text would take any distance)",
        "found A with neighbors A.stride0 apart"});
  t.a->swizzle([](Var r, Var c) { return at(r, c ^ r % 2); });
  says(refusal(t.s, [&] { t.a->tensorize(t.a->spatial<2>()[0], npu_load()); }),
       {"one distance between neighbors along dimension", "A_cache in a layout that has several"});
}

TEST_CASE("a tile begins at the alignment of its scope") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", i8, {4, 48}), y = lang::make_output("y", i8, {4, 48});
  Tensor t = compute("t", {{"i", 4}, {"j", 48}}, [&](Var i, Var j) { return x(i, j); });
  lang::bind(y, compute("y", {{"i", 4}, {"j", 48}}, [&](Var i, Var j) { return t(i, j) + i8(1); }));
  const lang::Built program = lang::build_program("rows", {x, y});
  Schedule s(program, Target::parse("x86-64"));
  const Intrinsic move = intrinsic("move16", [](Meaning& m) {
    Tensor src = m.read("src", i8, {16}), dst = m.write("dst", i8, {16}, Scope{"aligned", {.align = 32}});
    m.means(dst, [&](Var c) { return src(c); });
    m.emit(Backend::llvm, "call void @move(ptr {dst.ptr}, ptr {src.ptr})");
  });
  s[t].store_in(Scope{"aligned", {.align = 32}});
  const Split j = s[t].split(s[t].spatial<2>()[1], 16, Tail::exact);
  says(refusal(s, [&] { s[t].tensorize(j.inner, move); }),
       {"dst of move16 at a multiple of 32 bytes, as aligned has it", "found t at"});
  s[t].align(1, 32);  // rows of 64
  says(refusal(s, [&] { s[t].tensorize(j.inner, move); }), {"dst of move16 at a multiple of 32 bytes"});
}

TEST_CASE("the target has what an intrinsic needs, and its back end a text") {
  Npu t(false);
  const auto with = [&](const Variant& v) { return refusal(t.s, [&] { t.acc->tensorize(t.ai, variant(v)); }); };
  says(with({.needs = "avx512f"}), {"a target with avx512f, which variant needs, found x86-64+npu"});
  says(with({.text = "f({C.ptr}, {A.ptr}, {B.ptr}, {zero});", .back_end = Backend::c}),
       {"an implementation of variant for llvm, the back end of x86-64+npu (m.emit(Backend::llvm, ...)), found one for c"});
}

TEST_CASE("what is read and what is written do not overlap") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", i32, {8}), y = lang::make_output("y", i32, {8}, {.may_alias_inputs = true});
  lang::bind(y, compute("y", {{"i", 8}}, [&](Var i) { return x(i); }));
  Schedule s = scheduled({x, y});
  const Intrinsic copy = intrinsic("copy8", [](Meaning& m) {
    Tensor src = m.read("src", i32, {8}), dst = m.write("dst", i32, {8});
    m.means(dst, [&](Var r) { return src(r); });
    m.emit(Backend::llvm, "call void @copy(ptr {dst.ptr}, ptr {src.ptr})");
  });
  says(refusal(s, [&] { s[y].tensorize(s[y].nest()[0], copy); }),
       {"tiles that do not overlap, found y, which may alias x (cache_write or cache_read one of them)"});
}

TEST_CASE("a scratchpad holds what it holds") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", i8, {40, 10}), y = lang::make_output("y", i8, {40, 10});
  Tensor t = compute("t", {{"i", 40}, {"j", 10}}, [&](Var i, Var j) { return x(i, j); });
  lang::bind(y, compute("y", {{"i", 40}, {"j", 10}}, [&](Var i, Var j) { return t(i, j) + i8(1); }));
  Schedule s = scheduled({x, y});
  s[t].store_in(Scope{"pad", {.bytes = 400}});
  CHECK_NOTHROW(schedule::finish(s.scheduled(), s.target()));
  s[t].store_in(Scope{"pad", {.bytes = 399}});
  CHECK_THROWS_WITH_AS(schedule::finish(s.scheduled(), s.target()),
                       doctest::Contains("at most 399 bytes in pad, found t of 400 or more"), RefusalError);
}

TEST_CASE("conditions, kinds and other statements inside the loop") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", i32, {N, 8}), y = lang::make_output("y", i32, {N, 8});
  lang::bind(y, compute("y", {{"i", N}, {"j", 8}}, [&](Var i, Var j) { return x(i, j); }));
  const lang::Built program = lang::build_program("copy", {x, y});
  const auto copy = [](std::int64_t rows, const char* name) {
    return intrinsic(name, [&](Meaning& m) {
      Tensor src = m.read("src", i32, {rows, 8}), dst = m.write("dst", i32, {rows, 8});
      m.means(dst, [&](Var r, Var c) { return src(r, c); });
      m.emit(Backend::llvm, "call void @copy(ptr {dst.ptr}, ptr {src.ptr}, i64 {src.stride0}, i64 {dst.stride0})");
    });
  };
  const Intrinsic four = copy(4, "copy4");
  Schedule s(program, Target::parse("x86-64"));
  auto [i, j] = s[y].spatial<2>();
  auto [io, ii] = s[y].split(i, 4);
  says(refusal(s, [&, ii = ii] { s[y].tensorize(ii, four); }),
       {"a tile without conditions (Tail::exact, peel, or pad over storage of its own)", "found y where "});
  Schedule unrolled = s;
  unrolled[y].unroll(unrolled[y].nest()[2]);
  says(refusal(unrolled, [&] { unrolled[y].tensorize(unrolled[y].nest()[1], four); }),
       {"loops without a kind inside ii", "j, which has one"});
  Schedule kinds = s;
  kinds[y].unroll(kinds[y].nest()[1]);
  says(refusal(kinds, [&] { kinds[y].tensorize(kinds[y].nest()[1], four); }),
       {"a loop without a kind yet", "ii of y, which was unrolled"});
  Schedule peeled = s;
  peeled[y].peel(peeled[y].nest()[2], Peel::first);
  says(refusal(peeled, [&] { peeled[y].tensorize(peeled[y].nest()[1], four); }),
       {"the parts of a loop that was peeled or initialized"});
  // a size takes what is left of the last tile
  const Intrinsic some = intrinsic("copy_rows", [](Meaning& m) {
    Symbol rows{"rows", {.max = 4}};
    Tensor src = m.read("src", i32, {rows, 8}), dst = m.write("dst", i32, {rows, 8});
    m.means(dst, [&](Var r, Var c) { return src(r, c); });
    m.emit(Backend::llvm, "call void @copy(ptr {dst.ptr}, ptr {src.ptr}, i64 {src.stride0}, i64 {dst.stride0}, i64 {rows})");
  });
  s[y].tighten(ii);
  s[y].tensorize(ii, some);
  means_the_same(program.program, s, {{10, 8}, {10, 8}});
  says(refusal(s, [&] { s[y].split(s[y].nest()[1], 2); }), {"a loop without a kind yet, found ii of y, which was tensorized"});
  says(refusal(s, [&, j = j] { s[y].unroll(j); }),
       {"loops without a kind inside ii",
        "in ii of y, which was tensorized at tensorize_test.cpp:", "(move this call before it)"});
  says(refusal(s, [&, io = io] { s[y].vectorize(io); }),
       {"vectorize: expected a loop of constant extent (split it first), found io of y in (N + 3) / 4"});
  Schedule whole(program, Target::parse("x86-64"));
  says(refusal(whole, [&] { whole[y].tensorize(whole[y].nest()[0], some); }), {"rows from 1 to 4", "found N"});
}

TEST_CASE("sums that are not started, rounded or combined alike") {
  const Intrinsic adds = intrinsic("adds", [](Meaning& m) {
    Tensor A = m.read("A", f32, {8, 8}), Y = m.accumulate("Y", f32, {8});
    Axis k{"k", 8};
    m.means(Y, [&](Var i) { return sum(A(i, k), k).from(Y(i)); });
    m.emit(Backend::llvm, "call void @adds(ptr {Y.ptr}, ptr {A.ptr}, i64 {A.stride0})");
  });
  OverRows plain([](Tensor a, Tensor, Var i, Axis k) { return sum(a(i, k), k); });
  says(plain.refused(adds), {"sums that were started outside of i (split the reduction, or decompose_init before it)",
                             "found y, which starts its sums inside it"});
  says(plain.refused(squares()), {"a sum that accumulates by fma", "y, which rounds each term"});
  OverRows product([](Tensor a, Tensor b, Var i, Axis k) { return sum(a(i, k) * b(i, k), k); });
  says(product.refused(squares()), {"A the same tile everywhere", "found b["});
  const Stage y = (*product.s)[product.y];
  y.decompose_init(y.nest()[1]);
  says(product.refused(adds), {"one block inside i", "the parts of a loop that was peeled or initialized"});
  OverRows from([](Tensor a, Tensor, Var i, Axis k) { return sum(a(i, k) * a(i, k), k).from(1.0f); });
  says(from.refused(squares()), {"sums from 0", "found y from 1"});
  OverRows largest([](Tensor a, Tensor, Var i, Axis k) { return maximum(a(i, k), k); });
  says(largest.refused(squares()), {"a sum, for squares", "found y, another reduction"});
  OverRows shifted([](Tensor a, Tensor, Var i, Axis k) { return sum(a(i, clamp(k + 1, 0, 7)) * a(i, k), k); });
  says(shifted.refused(squares()), {"A at indices that move evenly with k"});
  OverRows still([](Tensor a, Tensor, Var, Axis k) { return sum(a(0, k) * a(0, k), k); });
  says(still.refused(squares()), {"A at indices that move with i"});
  const auto squares_of = [](bool freely) {
    return intrinsic(freely ? "free_squares" : "squares_in_order", [&](Meaning& m) {
      Tensor A = m.read("A", f32, {8, 8}), Y = m.write("Y", f32, {8});
      Axis k{"k", 8};
      m.means(Y, [&](Var i) { return sum(A(i, k) * A(i, k), k); });
      if (freely) m.rounds_freely();
      m.emit(Backend::llvm, "call void @squares(ptr {Y.ptr}, ptr {A.ptr}, i64 {A.stride0})");
    });
  };
  OverRows strict([](Tensor a, Tensor, Var i, Axis k) { return strict_sum(a(i, k) * a(i, k), k); });
  says(strict.refused(squares_of(true)),
       {"a sum that may be rounded otherwise (sum, not strict_sum)", "found y, a strict_sum"});
  const Stage in_order = (*strict.s)[strict.y];
  CHECK_FALSE(strict.s->attempt([&] { in_order.tensorize(in_order.nest()[0], squares_of(false)); }));
}

TEST_CASE("parameters have one value for the tile, and one everywhere") {
  const auto about = [](bool twice) {
    return intrinsic("centered", [&](Meaning& m) {
      Tensor A = m.read("A", f32, {8, 8}), Y = m.write("Y", f32, {8});
      Expr p = m.parameter("p", f32);
      Axis k{"k", 8};
      m.means(Y, [&](Var i) { return twice ? sum((A(i, k) - p) * (A(i, k) + p), k) : sum((A(i, k) - p) * A(i, k), k); });
      m.emit(Backend::llvm, "call void @centered(ptr {Y.ptr}, ptr {A.ptr}, i64 {A.stride0}, float {p})");
    });
  };
  OverRows moving([](Tensor a, Tensor b, Var i, Axis k) { return sum((a(i, k) - b(i, k)) * a(i, k), k); });
  says(moving.refused(about(false)), {"p, one value for the whole tile", "found b[i"});
  OverRows two([](Tensor a, Tensor b, Var i, Axis k) { return sum((a(i, k) - b(0, 0)) * (a(i, k) + b(0, 1)), k); });
  says(two.refused(about(true)), {"p = b[0, 0] everywhere", "found b[0, 1]"});
  OverRows number([](Tensor a, Tensor, Var i, Axis k) { return sum((a(i, k) - 2.0f) * (a(i, k) - 3.0f), k); });
  says(number.refused(about(true)), {"expected A[i0, k] + p", "found a["});
}

TEST_CASE("stages of several values, with a fill, in lanes") {
  Pair p;
  const Intrinsic copy = intrinsic("copy8", [](Meaning& m) {
    Tensor src = m.read("src", i32, {8}), dst = m.write("dst", i32, {8});
    m.means(dst, [&](Var r) { return src(r); });
    m.emit(Backend::llvm, "call void @copy(ptr {dst.ptr}, ptr {src.ptr})");
  });
  const Stage both = p.s[p.both[0]];
  says(refusal(p.s, [&] { both.tensorize(both.nest()[0], copy); }), {"a stage of one value", "found both of 2"});
  Chain c;
  const Stage filled = c.s.cache_read(c.x, {c.s[c.a]}, Scope::global, 0);
  says(refusal(c.s, [&] { filled.tensorize(filled.nest()[0], copy); }),
       {"a stage whose value is its definition", "which fills past its source"});
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", i32, {4, 8}), y = lang::make_output("y", i32, {4, 8});
  lang::bind(y, compute("y", {{"i", 4}, {"j", 8}}, [&](Var i, Var j) { return x(i, j); }));
  Schedule s = scheduled({x, y});
  s[y].unroll(s[y].nest()[0]);
  s[y].tensorize(s[y].nest()[1], copy);
  Schedule lanes = scheduled({x, y});
  lanes[y].vectorize(lanes[y].nest()[0]);
  says(refusal(lanes, [&] { lanes[y].tensorize(lanes[y].nest()[1], copy); }),
       {"a tensorized loop outside of vectorized and tensorized ones", "found j of y inside i of y, vectorized"});
  says(refusal(s, [&] { s[y].store_in(Scope::stack); }),
       {"store_in: expected a stage with storage of its own (cache_write gives an output one), found y, an output"});
}

namespace {
Intrinsic total_of_two() {
  return intrinsic("total_of_two", [](Meaning& m) {
    Tensor A = m.read("A", f32, {2}), W = m.write("W", f32, {1});
    Axis k{"k", 2};
    m.means(W, [&](Var) { return sum(A(k), k); });
    m.emit(Backend::llvm, "call void @total_of_two(ptr {W.ptr}, ptr {A.ptr}, i64 {A.stride0})");
  });
}
Intrinsic copy_of_four() {
  return intrinsic("copy_of_four", [](Meaning& m) {
    Tensor A = m.read("A", f32, {4}), W = m.write("W", f32, {4});
    m.means(W, [&](Var i) { return A(i); });
    m.emit(Backend::llvm, "call void @copy_of_four(ptr {W.ptr}, i64 {W.stride0}, ptr {A.ptr}, i64 {A.stride0})");
  });
}
}  // namespace

TEST_CASE("loops are reordered around a tensorized one, which stays what it is (seed 198)") {
  lang::DefinitionScope scope;
  Symbol N{"N"}, M{"M"};
  Tensor x = lang::make_input("x", f32, {N, M, 4}), y = lang::make_output("y", f32, {N, M, 4});
  lang::bind(y, compute("y", {{"i", N}, {"j", M}, {"l", 4}}, [&](Var i, Var j, Var l) { return x(i, j, l); }));
  Schedule s = scheduled({x, y});
  auto [i, j, l] = s[y].spatial<3>();
  s[y].tensorize(l, copy_of_four()).reorder(j, i);
  CHECK(s.text().find("by copy_of_four") != std::string::npos);
  says(refusal(s, [&] { s[y].reorder(l, i); }),
       {"reorder: expected loops of 4, for copy_of_four: W[i0] = A[i0] for i0 in 4, found l in 4, i in N, in l of y"});
}

TEST_CASE("terms that a condition keeps away keep no call away (seed 20727)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, 2}), y = lang::make_output("y", f32, {N}), z = lang::make_output("z", f32, {N});
  Axis k{"k", 2}, l{"l", 2};
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return sum(x(i, k), k.where((k + 1) % 2 == 0)); }));
  lang::bind(z, compute("z", {{"i", N}}, [&](Var i) { return sum(x(i, l), l.where(i % 2 == 0)); }));
  Schedule s = scheduled({x, y, z});
  says(refusal(s, [&] { s[y].tensorize(s[y].reduction(), total_of_two()); }),
       {"a tile without conditions", "(k + 1) % 2 == 0"});
  says(refusal(s, [&] { s[z].tensorize(s[z].reduction(), total_of_two()); }),
       {"sums of all terms, where they start from 0", "found z where i % 2 == 0"});
}

TEST_CASE("a call stores every element of its tile, so none of its dimensions is dropped (seed 950002781)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N, 4});
  Tensor wide = compute("wide", {{"i", N}, {"j", 4}}, [&](Var i, Var) { return x(i); });
  lang::bind(y, compute("y", {{"i", N}, {"j", 4}}, [&](Var i, Var j) { return wide(i, j); }));
  const Intrinsic spread = intrinsic("spread", [](Meaning& m) {
    Symbol n{"n"};
    Tensor A = m.read("A", f32, {n}), W = m.write("W", f32, {n, 4});
    m.means(W, [&](Var i, Var) { return A(i); });
    m.emit(Backend::llvm,
           "call void @spread(ptr {W.ptr}, i64 {W.stride0}, i64 {W.stride1}, ptr {A.ptr}, i64 {A.stride0}, i64 {n})");
  });
  Schedule dropped = scheduled({x, y}), called = scheduled({x, y});
  dropped[wide].drop_dim(0, 1);
  says(refusal(dropped, [&] { dropped[wide].tensorize(dropped[wide].spatial<2>()[0], spread); }),
       {"tensorize: expected a stage that stores each of its elements", "found wide, which lacks dimensions"});
  called[wide].tensorize(called[wide].spatial<2>()[0], spread);
  CHECK(refusal(called, [&] { called[wide].drop_dim(0, 1); }).find("drop_dim: expected") != std::string::npos);
}

}  // namespace ashlar::test
