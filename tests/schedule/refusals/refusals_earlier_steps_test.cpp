// Steps that earlier steps stand in the way of: each says which, and what to move.
#include <optional>

#include "tests/schedule/programs.h"

namespace ashlar::test {

namespace {

struct OnDevice : Product {
  explicit OnDevice(const char* target = "cuda-sm_80") { s = Schedule(built, Target::parse(target)); }
};

}  // namespace

TEST_CASE("cache_write and rfactor come before the kinds of loops") {
  OnDevice p;
  p.s[p.product].cross_thread_reduce(p.s[p.product].reduction());
  says(refusal(p.s, [&] { p.s.cache_write(p.product, Scope::registers); }),
       {"a stage whose loops were not scheduled yet", "k of product, whose threads are combined"});
  OnDevice r;
  auto [ko, ki] = r.s[r.product].split(r.s[r.product].reduction(), 8);
  r.s[r.product].cross_thread_reduce(ki);
  says(refusal(r.s, [&, ko = ko] { r.s[r.product].rfactor(ko); }),
       {"loops without a kind yet (move this call before cross_thread_reduce)", "found ki of product"});
  OnDevice q;
  auto [qo, qi] = q.s[q.product].split(q.s[q.product].reduction(), 8);
  Stage a = q.s.cache_read(q.A, {q.product}, Scope::shared);
  a.compute_at(qo);
  q.s[q.product].pipeline(qo, {.stages = 2, .loads = {a}});
  says(refusal(q.s, [&, qi = qi] { q.s[q.product].rfactor(qi); }),
       {"loops without a kind yet (move this call before pipeline)", "found ko of product"});
  says(refusal(q.s, [&] { a.inline_(); }), {"inline_: expected a stage that no pipeline loads", "found"});
}

TEST_CASE("nothing is computed inside vectorized loops") {
  Product p;
  auto [i, j] = p.s[p.C].spatial<2>();
  auto [jo, ji] = p.s[p.C].split(j, 8);
  p.s[p.C].reorder(jo, ji, i).vectorize(ji);
  says(refusal(p.s, [&, ji = ji] { p.s[p.product].compute_at(ji); }),
       {"a loop outside of vectorized ones, found ji of C, which is vectorized"});
  says(refusal(p.s, [&, i = i] { p.s[p.product].compute_at(i); }),
       {"a loop outside of vectorized ones, found i of C inside ji of C"});
}

TEST_CASE("a stage is taken inline before it is laid out or holds others") {
  Chain t;
  t.s[t.a].align(0, 64);
  says(refusal(t.s, [&] { t.s[t.a].inline_(); }), {"a stage without storage choices, found a, which was aligned"});
  Chain u;
  u.s[u.a].transform_layout([](Var i) { return at(i % 4, i / 4); });
  says(refusal(u.s, [&] { u.s[u.a].inline_(); }), {"a stage without storage choices, found a, whose layout was set"});
  Chain v;
  v.s[v.a].compute_at(v.s[v.b].spatial<1>()[0]);
  says(refusal(v.s, [&] { v.s[v.b].inline_(); }),
       {"a stage with nothing computed inside it (move this call before the compute_at), found a inside b"});
  says(refusal(v.s, [&] { v.s[v.y].inline_(); }), {"a stage that is not an output, found y, which the caller reads"});
}

TEST_CASE("loops are reordered before something stands between them") {
  Product p;
  auto [i, j] = p.s[p.C].spatial<2>();
  p.s[p.product].compute_at(i);
  says(refusal(p.s, [&, i = i, j = j] { p.s[p.C].reorder(j, i); }),
       {"loops with nothing between them", "product is computed inside i of C (move this call before its compute_at)"});
}

TEST_CASE("a window that moves in two dimensions does not slide") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", i32, {N + 2, N + 2}), y = lang::make_output("y", i32, {N});
  Tensor a = compute("a", {N + 2, N + 2}, [&](Var i, Var j) { return x(i, j) * 2; });
  lang::bind(y, compute("y", {N}, [&](Var i) { return a(i, i) + a(i + 1, i + 1); }));
  Schedule s(lang::build_program("diagonal", {x, y}), Target::parse("x86-64"));
  const Loop i = s[y].spatial<1>()[0];
  s[a].compute_at(i);
  s[a].store_at(i);
  says(refusal(s, [&] { s[a].slide(i); }), {"slide: expected"});
}

TEST_CASE("virtual threads stand outside of vectors, cores belong to processors, overlapping tiles to one thread") {
  OnDevice p;
  auto [i, j] = p.s[p.product].spatial<2>();
  auto [jo, ji] = p.s[p.product].split(j, 4);
  auto [jm, jv] = p.s[p.product].split(jo, 2);
  p.s[p.product].vthread(ji);
  says(refusal(p.s, [&, jv = jv] { p.s[p.product].vectorize(jv); }),
       {"virtual threads outside of parallel and vectorized loops"});
  says(refusal(p.s, [&, i = i] { p.s[p.product].parallel(i); }),
       {"parallel: expected a target with a pool of threads", "found cuda-sm_80"});
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {30}), y = lang::make_output("y", f32, {30});
  lang::bind(y, compute("y", {30}, [&](Var k) { return x(k) + 1.0f; }));
  Schedule s(lang::build_program("shifted", {x, y}), Target::parse("vulkan"));
  auto [ko, ki] = s[y].split(s[y].spatial<1>()[0], 8, Tail::shift);
  says(refusal(s, [&, ko = ko] { s[y].bind(ko, gpu::block_x); }),
       {"bind: expected a loop whose iterations write different elements", "is shifted over the one before it"});
}

TEST_CASE("memory, tiles and loops that are not there") {
  Product p;
  says(refusal(p.s, [&] { p.s[p.product].store_in(Scope::fragment); }),
       {"store_in: expected a scope of this target: global, stack, registers, found fragment", "which promises no warps"});
  says(refusal(p.s, [&] { p.s[p.product].store_in(Scope::tile); }), {"expected a scope of this target", "found tile"});
  says(refusal(p.s, [&] { (void)p.s[p.product].init(); }),
       {"init: expected a stage whose init was taken out (decompose_init), found product"});
  std::optional<Stage> start;  // of steps that are taken back
  const auto taken_back = p.s.attempt([&] {
    p.s[p.product].decompose_init(p.s[p.product].reduction());
    start = p.s[p.product].init();
    p.s[p.product].split(p.s[p.product].reduction(), 0);
  });
  REQUIRE(taken_back);
  says(taken_back->text(), {"split: expected a factor of at least 1, found 0"});
  says(refusal(p.s, [&] { (void)start->nest(); }),
       {"nest: expected a stage whose init was taken out (decompose_init), found product"});
  auto [i, j] = p.s[p.product].spatial<2>();
  const Loop fused = p.s[p.product].fuse(i, j);
  says(refusal(p.s, [&] { p.s[p.product].split(fused, 8, Tail::pad); }),
       {"Tail::pad on a loop that runs over a whole dimension", "i_j of product, a fused loop"});
}

}  // namespace ashlar::test
