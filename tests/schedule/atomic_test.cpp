// atomic(): steps that run at once combine in memory; what it makes of a program, and what it refuses.
#include "programs.h"

#include <ashlar/ir/print.h>

#include "tests/golden.h"
#include "tests/support/atomic_gpu_operators.h"

namespace ashlar::test {
namespace {

struct Histogram {  // out = counts of the values of an image, plus one
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u32, {256});
  Tensor counts = scatter("counts", {{"b", 256}}, Combine::add, u32(0), {{"y", H}, {"x", W}},
                          [&](Var y, Var x) { return put(u32(1), in(y, x)); });
  lang::Built built = build();
  Schedule s;
  explicit Histogram(const char* target = "x86-64-v3") : s(built, Target::parse(target)) {}

  void same() const {
    for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{33, 9}, {5, 70}, {1, 1}, {0, 3}})
      means_the_same(built.program, s, {{h, w}, {256}});
  }

 private:
  lang::Built build() {
    lang::bind(out, compute("out", {{"i", 256}}, [&](Var i) { return counts(i) + u32(1); }));
    return lang::build_program("histogram", {in, out});
  }
};

struct Rows : gpu_operators::ReducedRows {
  template <class F>
  Rows(Type of, F reduce, const char* target = "x86-64-v3") : ReducedRows(Target::parse(target), of, reduce, true) {}
  std::string refused(Where here = Where::current()) {
    return refusal(s, [&] { s[t].atomic(here); }, here);
  }
};

const auto sums = [](const Expr& e, const Axis& k) { return sum(e, k); };

}  // namespace

TEST_CASE("points of a scatter on several workers") {
  Histogram t;
  Stage counts = t.s[t.counts];
  counts.atomic().parallel(counts.reduction<2>()[0]);
  CHECK(golden("schedule/golden/atomic_scatter.txt", ir::text(t.s.scheduled().program)) == "");
  t.same();
  replays<Histogram>(t.s);
}

TEST_CASE("terms of a sum on several workers, its init before them") {
  Rows t(i32, sums);
  auto [ko, ki] = t.s[t.t].split(t.s[t.t].reduction(), 8);
  const Loop i = t.s[t.t].spatial<1>()[0];
  t.s[t.t].reorder(ko, i, ki).atomic().parallel(ko);
  CHECK(golden("schedule/golden/atomic_sum.txt", ir::text(t.s.scheduled().program)) == "");
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{5, 30}, {1, 1}, {3, 0}, {0, 4}})
    means_the_same(t.built.program, t.s, {{m, n}, {m}});
}

TEST_CASE("without atomic the refusal says that there is one") {
  Histogram t;
  says(refusal(t.s, [&, l = t.s[t.counts].reduction<2>()[0]] { t.s[t.counts].parallel(l); }),
       {"rfactor makes private results, atomic combines in memory"});
  Histogram gpu("cuda-sm_80");
  gpu.s[gpu.counts].atomic();
  Rows r(i32, sums, "cuda-sm_80");
  says(refusal(r.s, [&, l = r.s[r.t].reduction()] { r.s[r.t].bind(l, gpu::thread_x); }), {"atomic combines in memory"});
}

TEST_CASE("lanes of one vector are no steps that memory keeps apart") {
  Histogram t;
  t.s[t.counts].atomic();
  const Loop x = t.s[t.counts].reduction<2>()[1];
  says(refusal(t.s, [&] { t.s[t.counts].vectorize(x, 8); }), {"lanes that store to places of their own"});
  Rows r(i32, sums);
  r.s[r.t].atomic();
  auto [ko, ki] = r.s[r.t].split(r.s[r.t].reduction(), 8);
  says(refusal(r.s, [&, l = ki] { r.s[r.t].vectorize(l); }), {"rfactor makes lanes of a reduction"});
}

TEST_CASE("stages that memory cannot combine are refused") {
  Histogram t;
  says(refusal(t.s, [&] { t.s[t.out].atomic(); }),
       {"atomic: expected a reduction or scatter, whose steps combine in memory, found out, which stores each element once"});
  t.s[t.counts].atomic();
  says(refusal(t.s, [&] { t.s[t.counts].atomic(); }), {"a stage that is not atomic yet, found counts"});

  says(Rows(f32, [](const Expr& e, const Axis& k) { return sum(e * e, k); }).refused(),
       {"terms that are not products when they are added", "fused multiply-adds"});
  says(Rows(i32, [](const Expr& e, const Axis& k) { return product(e, k); }).refused(),
       {"a combiner that memory has: a sum, minimum or maximum", "found t, reduced by a product"});
  says(Rows(f32, [](const Expr& e, const Axis& k) { return strict_sum(e, k); }).refused(),
       {"a reduction that may be regrouped (sum, not strict_sum)"});
  says(Rows(f32, [](const Expr& e, const Axis& k) { return maximum(e, k); }).refused(),
       {"integers of 8 to 64 bits, and sums of f32 and f64, found t, max of f32"});
  says(Rows(f16, sums).refused(), {"found t, add of f16"});
  Rows ordered(i32, [](const Expr& e, const Axis& k) {
    const auto first = reducer(
        "first", {i32}, {0}, [](Values<1> l, Values<1> r) { return values(select(l[0] != 0, l[0], r[0])); }, Order::regroup);
    return first(e, k);
  });
  says(ordered.refused(), {"one of the user's own that is &, | or ^, found t, reduced by first"});
}

TEST_CASE("each target has types of its own") {
  for (const auto& [type, target, ok] : {std::tuple<Type, const char*, bool>{u8, "x86-64-v3", true},
                                         {i64, "x86-64", true},
                                         {f64, "x86-64-v4", true},
                                         {u8, "cuda-sm_80", false},
                                         {i64, "cuda-sm_80", true},
                                         {f32, "cuda-sm_90a", true},
                                         {i32, "vulkan", true},
                                         {i64, "vulkan", false},
                                         {f32, "vulkan", false}}) {
    Rows t(type, sums, target);
    if (ok)
      CHECK_NOTHROW(t.s[t.t].atomic());
    else
      says(t.refused(), {"values that the memory of", "combines"});
  }
}

TEST_CASE("a bitwise reducer of the user's own") {
  Rows t(u32, [](const Expr& e, const Axis& k) {
    const auto any = reducer("any", {u32}, {0}, [](Values<1> l, Values<1> r) { return values(l[0] | r[0]); }, Order::any);
    return any(e, k);
  });
  t.s[t.t].atomic();
  t.s[t.t].reorder(t.s[t.t].reduction(), t.s[t.t].spatial<1>()[0]).parallel(t.s[t.t].reduction());
  means_the_same(t.built.program, t.s, {{4, 9}, {4}});
}

TEST_CASE("the init is stored in a launch before blocks that share elements") {
  Rows t(i32, sums, "cuda-sm_80");
  const Loop i = t.s[t.t].spatial<1>()[0], k = t.s[t.t].reduction();
  t.s[t.t].atomic().bind(i, gpu::block_x);
  says(refusal(t.s, [&] { t.s[t.t].bind(k, gpu::block_y); }),
       {"the init of t in a launch before the blocks that share its elements (reorder k outside of the other blocks, or "
        "decompose_init before these)",
        "i of t, bound to block_x, around the init and k, bound to block_y",
        "block k = 1 may update an element before block k = 0 has stored its init"});
  t.s[t.t].decompose_init(i).bind(k, gpu::block_y);
  Rows u(i32, sums, "cuda-sm_80");
  const Loop ui = u.s[u.t].spatial<1>()[0], uk = u.s[u.t].reduction();
  u.s[u.t].atomic().reorder(uk, ui).bind(uk, gpu::block_y).bind(ui, gpu::block_x);
}

TEST_CASE("steps that other steps of a schedule take over are not atomic") {
  Rows t(i32, sums, "cuda-sm_80");
  t.s[t.t].atomic();
  says(refusal(t.s, [&] { t.s[t.t].cross_thread_reduce(t.s[t.t].reduction()); }),
       {"a reduction that is either atomic or combined over threads, found k of t"});
  says(refusal(t.s, [&] { t.s[t.t].store_in(Scope::registers); }),
       {"memory that steps which run at once share: Scope::global or shared, found t in Scope::registers"});
  says(refusal(t.s, [&] { t.s[t.t].drop_dim(0, 0); }),
       {"drop_dim: expected storage of all dimensions for atomic steps, found t, which lacks dimensions"});
}

TEST_CASE("a reader is not put into the last of steps that run at once") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", i32, {M, N}), y = lang::make_output("y", i32, {M});
  Axis k{"k", N};
  Tensor t = compute("t", {{"i", M}}, [&](Var i) { return sum(x(i, k), k); });
  lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return t(i) * 2; }));
  Schedule s = scheduled({x, y});
  s[t].atomic().reorder(s[t].reduction(), s[t].spatial<1>()[0]);
  s[y].fuse_into(s[t].spatial<1>()[0]);
  says(refusal(s, [&] { s[t].parallel(s[t].reduction()); }),
       {"readers behind all loops whose steps run at once (move their fuse_into to a loop outside), found y inside k of t",
        "the last iteration of k may come before the first"});
}

}  // namespace ashlar::test
