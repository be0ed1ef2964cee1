// Every way in which rfactor refuses; and reads that leave what they read.
#include "tests/schedule/programs.h"

namespace ashlar::test {

TEST_CASE("rfactor is for a whole, loose reduction loop") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i] { t.s[t.product].rfactor(i); }), {"a reduction loop", "i of product, a spatial one"});
  auto [ko, ki] = t.s[t.product].split(t.s[t.product].reduction(), 4);
  t.s[t.product].tighten(ki);
  says(refusal(t.s, [&, ki = ki] { t.s[t.product].rfactor(ki); }),
       {"a loop that was not tightened (tighten the other ones), found ki of product"});
  t.s[t.product].peel(ki, Peel::first);
  says(
      refusal(t.s, [&, ki = ki] { t.s[t.product].rfactor(ki); }),
      {"rfactor: expected a whole loop, found ki of product, which was peeled or partitioned at refusals_reduction_test.cpp:"});
  says(refusal(t.s, [&, ko = ko] { t.s[t.product].rfactor(ko); }),
       {"a stage of whole loops (move this call before the peel), found ki of product, a part of one"});
  Product u;
  const Loop k = u.s[u.product].reduction();
  u.s.cache_read(u.A, {u.product}, Scope::global).compute_at(k);
  says(refusal(u.s, [&] { u.s[u.product].rfactor(k); }),
       {"a stage with nothing placed in it yet (move rfactor before compute_at of its producers)", "A_cache inside product"});
  Triangle v;
  says(refusal(v.s, [&] { v.s[v.y].rfactor(v.s[v.y].reduction()); }),
       {"a loop whose extent does not depend on i (split it, and take the inner one), found k of y, of k in [0, i + 1)"});
  auto [vo, vi] = v.s[v.y].split(v.s[v.y].reduction(), Parts{2});
  says(refusal(v.s, [&, vi = vi] { v.s[v.y].rfactor(vi); }),
       {"reduction loops that are split by factors alone, where bounds depend on i, found ki of y"});
  const Loop row = u.s[u.C].spatial<2>()[0];
  schedule::Step step;  // as a saved schedule may ask for it
  step.primitive = "rfactor";
  step.args = {schedule::Arg::stage(u.s[u.product].id()), schedule::Arg::loop(row.id())};
  const std::string json = schedule::json({step});
  says(refusal(u.s, [&] { u.s.replay(json); }), {"a loop of product, found i of C"});
  t.same(), u.same();
}

TEST_CASE("reads that leave what they read are refused at the line that reads") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const std::string here = "refusals_reduction_test.cpp:" + std::to_string(__LINE__ + 1);
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return x(i + 1); }));
  try {
    scheduled({x, y});
    FAIL("a read past the end was accepted");
  } catch (const RefusalError& e) {
    says(e.refusal.text(),
         {here.c_str(), "reads of x inside of it (clamp the index, use a boundary, or state a fact of the Symbols)",
          "y reads x at i + 1 in dimension 0, past its end N", "conflict: "});
  }
}

TEST_CASE("a condition beside another guards no read, a select does") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", i32, {N}), z = lang::make_output("z", i32, {N});
  lang::bind(y, compute("y", {N}, [&](Var i) { return select(i > 0 && x(i - 1) > 0, 1, 0); }));
  lang::bind(z, compute("z", {N}, [&](Var i) { return select(select(i > 0, x(i - 1) > 0, false), 1, 0); }));
  scheduled({x, z});
  try {
    scheduled({x, y});
    FAIL("a read past the end was accepted");
  } catch (const RefusalError& e) {
    says(e.refusal.text(), {"(&& and || read both sides, select(a, b, false) reads b where a holds; or clamp the index)"});
  }
}

}  // namespace ashlar::test
