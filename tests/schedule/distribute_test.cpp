// distribute: a sum of products with zero points, multiplied out; what it means, what it leaves, what it refuses.
#include "programs.h"

#include <ashlar/ir/print.h>

#include "tests/golden.h"

namespace ashlar::test {

namespace {

// C(i, j) = sum of (x(i, k) - zx) (w(k, j) - zw), started at 3; zx and zw are scalars.
struct Quantized {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor x = lang::make_input("x", u8, {M, K}), w = lang::make_input("w", i8, {K, N}), z = lang::make_input("z", i32, {2}),
         C = lang::make_output("C", i32, {M, N});
  Axis k{"k", K};
  Tensor product = compute("product", {M, N},
                           [&](Var i, Var j) { return sum((i32(x(i, k)) - z(0)) * (i32(w(k, j)) - z(1)), k).from(i32(3)); });
  lang::Built built = (lang::bind(C, product), lang::build_program("quantized", {x, w, z, C}));
  Schedule s{built, Target::parse("x86-64-v3")};
  void same(std::int64_t m = 5, std::int64_t n = 6, std::int64_t depth = 7) const {
    means_the_same(built.program, s, {{m, depth}, {depth, n}, {2}, {m, n}});
  }
};

// One sum of this term over k (and l) below N, for each i: of x, y [N, N] and i.
struct Sum {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N, N}), y = lang::make_input("y", i32, {N, N}),
         out = lang::make_output("out", i32, {N});
  Tensor total;
  lang::Built built;
  Schedule s;
  template <class F>
  explicit Sum(F&& term)
      : total(compute("total", {N}, [&](Var i) { return term(*this, i); })),
        built((lang::bind(out, total), lang::build_program("sums", {x, y, out}))),
        s(built, Target::parse("x86-64-v3")) {}
  void same(std::int64_t n = 5) const { means_the_same(built.program, s, {{n, n}, {n, n}, {n}}); }
};

}  // namespace

TEST_CASE("zero points leave the product") {
  Quantized t;
  says(refusal(t.s, [&] { t.s[t.product].distribute<2>(); }),
       {"distribute: expected 3 sums, which the term has multiplied out, found 2 asked for"});
  auto [product, of_w, of_x] = t.s[t.product].distribute<3>();
  CHECK(std::string(of_w.name()) == "product_1");
  CHECK(golden("schedule/golden/distribute.txt", ir::text(t.s.scheduled().program)) == "");
  t.same();
  t.same(1, 1, 1);
  t.same(3, 2, 0);
  // the parts are placed and scheduled like any other stage
  auto [i, j] = t.s[t.product].spatial<2>();
  auto [jo, ji] = t.s[t.product].split(j, 4);
  product.compute_at(jo);
  of_x.compute_at(i);
  t.s[t.product].vectorize(ji);
  product.split(product.spatial<2>()[1], 2);
  t.same();
  replays<Quantized>(t.s);
}

TEST_CASE("conditions, triangles, factors that leave and terms that meet") {
  {
    Sum t([](Sum& o, Var i) {
      Axis k{"k", i + 1}, l{"l", 3};
      return sum((o.x(i, k) + o.y(k, i)) * (o.x(k, k) - 2) * i32(i), AxisList{k, l}.where(k != l));
    });
    t.s[t.total].distribute<4>();
    t.same();
    t.same(1);
  }
  {
    Sum t([](Sum& o, Var i) {
      Axis k{"k", o.N};
      return sum((o.x(i, k) + 1) * (o.x(i, k) - 1) + 5, k);  // x x + x - x - 1 + 5
    });
    t.s[t.total].distribute<1>();  // x x; the rest is counted
    t.same();
    t.same(0);
  }
  {
    Sum t([](Sum& o, Var i) {
      Axis k{"k", o.N};
      return sum(o.y(0, i) * o.x(i, k), k);  // a factor that does not depend on k
    });
    t.s[t.total].distribute<1>();
    t.same();
  }
}

TEST_CASE("what distribute refuses") {
  Product f;
  says(refusal(f.s, [&] { f.s[f.product].distribute<1>(); }),
       {"distribute: expected a sum of integers, for which the distributive law is exact, found product of f32"});
  Sum plain([](Sum& o, Var i) {
    Axis k{"k", o.N};
    return sum(o.x(i, k) * o.y(k, i), k);
  });
  says(refusal(plain.s, [&] { plain.s[plain.total].distribute<1>(); }),
       {"distribute: expected a term with a sum in a product, or a factor that does not depend on the reduction"});
  Sum least([](Sum& o, Var i) {
    Axis k{"k", o.N};
    return minimum(o.x(i, k) * (o.y(k, i) + 1), k);
  });
  says(refusal(least.s, [&] { least.s[least.total].distribute<1>(); }), {"distribute: expected a sum, found total"});
  Quantized t;
  t.s[t.product].split(t.s[t.product].reduction(), 4);
  says(refusal(t.s, [&] { t.s[t.product].distribute<1>(); }),
       {"distribute: expected reduction loops as they were defined (move this call before the split), found k of product"});
  Quantized apart;
  apart.s[apart.product].decompose_init(apart.s[apart.product].reduction());
  says(refusal(apart.s, [&] { apart.s[apart.product].distribute<1>(); }), {"move this call before decompose_init"});
  Sum many([](Sum& o, Var i) {
    Axis k{"k", o.N};
    const Expr a = o.x(i, k) + o.y(k, i), b = a + o.x(k, k);
    return sum(b * b * b, k);
  });
  says(refusal(many.s, [&] { many.s[many.total].distribute<1>(); }), {"distribute: expected a term of at most 16 products"});
}

TEST_CASE("what a step of a recurrence computes stays whole (fuzz seed 900013958)") {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1});
  const Tensor x = lang::make_input("x", i32, {2, N}), y = lang::make_output("y", i32, {2, N});
  Tensor inside;
  lang::bind(y, recur(
                    "y", {2, N}, Along{0}, Lag{1}, [&](Var i, Var j) { return x(i, j); },
                    [&](Prior before, Var i, Var j) {
                      const Axis k("k", N);
                      inside = compute("inside", {Range{Expr(1), Expr(2)}, N},
                                       [&](Var p, Var q) { return sum(before(p - 1, k) * x(p, q), k); });
                      return inside(i, j);
                    }));
  Schedule s = scheduled({x, y});
  says(refusal(s, [&] { s[inside].distribute<1>(); }), {"distribute: expected a stage outside of recurrences, found inside"});
}

}  // namespace ashlar::test
